"""Every kernel that some tests compile, for whichever device, goes to NVIDIA's compiler as well.

`asked_for()` notes the graphs of kernels while tests run. `compile_all` writes each as a learner's
GPU would get it, with its plan, and has NVRTC make PTX of it for two architectures. One program has
many kernels, each in a namespace: most of a short compilation is starting it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import pytest

from tinyframe import Context, Device
from tinyframe.codegen import get_program
from tinyframe.codegen.program import ProgramSpec
from tinyframe.device import CompileError
from tinyframe.errors import DTypeError, LimitError
from tinyframe.gpu.drivers.nvrtc import NVRTC
from tinyframe.gpu.languages.cuda import HALF_HEADER
from tinyframe.run import realize
from tinyframe.uop.node import UOp

ARCHITECTURES = ("compute_80", "compute_90")
MOST_KERNELS = 100  # of one program

_compiled: set[str] = set()  # forms: what several files of tests ask for is compiled once


class Refused(AssertionError):
    """NVIDIA's compiler does not take a kernel."""


class Counted(NamedTuple):
    """Kernels that were compiled here, that had been before, and that CUDA has no dtype or no room
    for."""

    compiled: int
    known: int
    left_out: int

    def __str__(self) -> str:
        return (f"{self.compiled} kernels, {self.known} more that are known already, and "
                f"{self.left_out} left out, which CUDA lacks a dtype or room for")  # fmt: skip


@contextmanager
def asked_for() -> Iterator[dict[UOp, None]]:
    """The graphs of the kernels that the engine is asked for inside, each once, in order.

    An Observer is told of them too, but who is watched runs what TinyJit captured one by one.
    """
    found: dict[UOp, None] = {}
    compile_all = realize.compile_all

    def noted(wanted: Sequence[tuple[UOp, str]]) -> list[realize.CompiledKernel]:
        found.update((ast, None) for ast, _ in wanted)
        return compile_all(wanted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(realize, "compile_all", noted)
        yield found


def compile_all(asts: Sequence[UOp], asked_by: str) -> Counted:
    """PTX of each kernel for each of the ARCHITECTURES. Refused names the kernel, who asked for it,
    and what NVRTC says of it."""
    programs, left_out = _programs(asts, asked_by)
    new = {form(p): p for p in programs if form(p) not in _compiled}
    counted = Counted(len(new), len(programs) - len(new), left_out)
    for header in ("", HALF_HEADER):  # apart, so that no kernel has it from another one
        alike = [p for p in new.values() if (HALF_HEADER in p.src) == bool(header)]
        # A text means the same on every architecture, but for instructions that it names itself.
        own = [p for p in alike if "asm" in p.src]
        for architecture in ARCHITECTURES:
            those = alike if architecture == ARCHITECTURES[0] else own
            for start in range(0, len(those), MOST_KERNELS):
                part = those[start : start + MOST_KERNELS]
                _compile(part, header, architecture, f"{asked_by} ({counted})")
    _compiled.update(new)
    return counted


def form(program: ProgramSpec) -> str:
    """The source without its own name and its numbers, which no compiler refuses it for."""
    text = re.sub(rf"\b{program.function}\b", "k", program.src)
    return re.sub(r"(?<![\w.])\d+(\.\d*)?(e[+-]?\d+)?", "0", text)


def _programs(asts: Sequence[UOp], asked_by: str) -> tuple[list[ProgramSpec], int]:
    """The kernels in CUDA C++, and how many there cannot be."""
    renderer, written, left_out = Device["NULL:CUDA"].renderer, [], 0
    with Context(NOOPT=0, SPEC=0):  # what SPEC checks was checked for the device of the test
        for ast in asts:
            try:
                written.append(get_program(ast, renderer))
            except (DTypeError, LimitError):
                left_out += 1
            except Exception as error:
                error.add_note(f"while a kernel of {asked_by} was written in CUDA C++")
                raise
    return written, left_out


def _compile(
    programs: Sequence[ProgramSpec], header: str, architecture: str, asked_by: str
) -> None:
    try:
        made = NVRTC(architecture).compile_cached(joined(programs, header)).decode()
    except CompileError as error:
        raise _refused(programs, architecture, asked_by, error) from None
    assert f".target {architecture.replace('compute', 'sm')}" in made
    entries = re.findall(r"^\.visible \.entry (\w+)\(", made, re.MULTILINE)
    assert entries == [_name(n, p) for n, p in enumerate(programs)]


def joined(programs: Sequence[ProgramSpec], header: str) -> str:
    """One program of many kernels: their functions have other names, since a name that C knows is
    no namespace's."""
    texts = [
        re.sub(rf"\b{p.function}\b", _name(n, p), p.src.replace(HALF_HEADER, ""))
        for n, p in enumerate(programs)
    ]
    return "\n".join([header, *(f"namespace n{n} {{\n{t}}}" for n, t in enumerate(texts))])


def _name(number: int, program: ProgramSpec) -> str:
    return f"k{number}_{program.function}"


def _refused(
    programs: Sequence[ProgramSpec], architecture: str, asked_by: str, error: CompileError
) -> Refused:
    """What is said of the first kernel that fails when it is alone."""
    for program in programs:
        try:
            NVRTC(architecture).compile(program.src)
        except CompileError as alone:
            name, error = program.name, alone
            break
    else:
        name = f"one of {', '.join(p.name for p in programs)} beside the others, and none alone"
    return Refused(f"{asked_by}: NVRTC refuses {name} for {architecture}.\n{error}")
