"""Runs a learner's kernel without a GPU: right or wrong, it can neither hang nor end the notebook.

    run, = runs(kernel, [Launch((2,), (8,), {"out": np.zeros(10, np.float32), "a": a, "n": 10})])
    run.arrays["out"]           what it wrote
    run.loads(), run.log        how often it read the GPU's memory, and each access
    run.trouble                 what it must not do: a sentence, and where; None where all is well

It is compiled without optimization, so that each access of the text is one: what is counted is
what is written, whichever compiler this machine has.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from classroom.cuda.source import Kernel
from tinyframe.device import CompileError, NoCompiler
from tinyframe.gpu.drivers.cuda_emulator import KERNEL_FLAGS, EmulatorCompiler
from tinyframe.runtime.clang import find_compiler
from tinyframe.settings import settings
from tinyframe.tools.warps import ACCESS

CHILD = Path(__file__).with_name("child.py")
SECONDS = 3  # that a kernel may run
ROOM = 200_000  # accesses that are kept
BOUNDS, RACE, BARRIER, VECTOR, TOO_MANY = 1, 2, 3, 4, 5  # kinds of the emulator's faults

Size = tuple[int, ...]
Argument = np.ndarray | int


class NotCompiled(Exception):
    """The compiler's first complaint, and the learner's line that it is about (0 if unknown)."""

    def __init__(self, words: str, line: int = 0):
        super().__init__(words)
        self.line = line


@dataclass(frozen=True)
class Launch:
    """How a kernel is started: blocks, threads of each, and arguments by name, in order."""

    grid: Size
    block: Size
    arguments: Mapping[str, Argument]

    def place(self, number: int, is_block: bool = False) -> Size:
        """Where a thread is in its block, or a block in the grid: (x,), or (x, y)."""
        sizes = self.grid if is_block else self.block
        x, y = (*sizes, 1)[:2]
        return (number % x, number // x % y)[: len(sizes)]

    def called(self, thread: int, block: int) -> str:
        """`thread 3`, `thread (1, 2) of block (0, 1)`."""
        name = f"thread {as_index(self.place(thread))}"
        if math.prod(self.grid) == 1:
            return name
        return f"{name} of block {as_index(self.place(block, is_block=True))}"


@dataclass(frozen=True)
class Trouble:
    """What a kernel must not do. lines: the learner's, if known. cell: the array and the element.
    thread, block: whose access it was."""

    kind: str
    text: str
    lines: tuple[int, ...] = ()
    cell: tuple[str, int] | None = None
    thread: int = 0
    block: int = 0


@dataclass(frozen=True)
class Run:
    """What a launch did.

    arrays: the buffers after it. regions: the name and size of each array that log["region"]
    numbers, buffers first, and how often it was read. log: every access in order, as many as there
    is room for; log["phase"] counts barriers in a block.
    """

    kernel: Kernel
    launch: Launch
    arrays: dict[str, np.ndarray]
    regions: tuple[tuple[str, int, int], ...] = ()
    log: np.ndarray = field(default_factory=lambda: np.empty(0, ACCESS))
    trouble: Trouble | None = None

    @property
    def is_global(self) -> np.ndarray:
        """Which accesses are to the GPU's memory, and not to a shared array."""
        return np.asarray(self.log["region"] < len(self.arrays))

    def loads(self) -> int:
        """How often the GPU's memory was read."""
        return sum(reads for _, _, reads in self.regions[: len(self.arrays)])

    def most_shared_loads(self) -> int:
        """How often the busiest thread read shared memory."""
        reads = self.log[~self.is_global & (self.log["is_write"] == 0)]
        who = reads["block"].astype(np.int64) * math.prod(self.launch.block) + reads["thread"]
        return int(np.bincount(who).max()) if len(who) else 0

    def most_stores(self) -> int:
        """How many elements of the GPU's memory the busiest thread wrote."""
        writes = self.log[self.is_global & (self.log["is_write"] == 1)]
        who = writes["block"].astype(np.int64) * math.prod(self.launch.block) + writes["thread"]
        return int(np.bincount(who).max()) if len(who) else 0

    def most_writers(self) -> tuple[int, int]:
        """How many threads wrote the busiest element of `out`, and which element that is."""
        writes = self.accesses_of("out")
        pairs = np.unique(writes[writes["is_write"] == 1][["block", "thread", "index"]])
        cells, writers = np.unique(pairs["index"], return_counts=True)
        most = writers.argmax() if len(writers) else 0
        return (int(writers[most]), int(cells[most])) if len(writers) else (0, 0)

    def accesses_of(self, name: str) -> np.ndarray:
        numbers = [n for n, (called, *_) in enumerate(self.regions) if called == name]
        return self.log[np.isin(self.log["region"], numbers)]


class _Compiler(EmulatorCompiler):
    """Each access as it is written: nothing is kept in a register, or left out.

    Of `s[i] += x`, clang announces the store alone unless it is told otherwise; and without
    optimization, zig has a program end itself where an index is out of bounds.
    """

    @property
    def flags(self) -> tuple[str, ...]:
        is_clang = "__clang__" in self.cc.macros
        all_of_them = ("-mllvm", "-tsan-instrument-read-before-write=1") if is_clang else ()
        return (*KERNEL_FLAGS, "-O0", "-fno-sanitize=undefined", *all_of_them)


@functools.cache
def _compiler(cc: str) -> _Compiler:
    return _Compiler(find_compiler(cc, needed_by="a kernel without a GPU"))


def compiled(kernel: Kernel) -> bytes:
    """The kernel as a library of the emulator. NotCompiled; NoCompiler where there is none for C++.

    A machine may have gcc without its C++: then zig is asked, if it is installed.
    """
    try:
        return _compiler(settings.CC).compile_cached(kernel.watched)
    except CompileError as error:
        if "needs a C++ compiler" not in error.words:
            raise complaint(error.words) from error
        if (zig := _zig()) is None:
            raise NoCompiler(error.words) from error
    try:
        return _Compiler(zig).compile_cached(kernel.watched)
    except CompileError as error:
        raise complaint(error.words) from error


def _zig() -> tuple[str, ...] | None:
    """The compiler that `start.py` brings, if it is there."""
    wheel = importlib.util.find_spec("ziglang")
    if wheel is None or wheel.origin is None:
        return None
    return (str(Path(wheel.origin).parent / "zig"), "cc")


def complaint(words: str) -> NotCompiled:
    """The first error of a compiler's many words, without the marks of source.py."""
    found = re.search(r"^kernel:(\d+):(?:\d+:)? (?:fatal )?error: (.*)$", words, re.M)
    if found:
        return NotCompiled(_plain(found[2]), int(found[1]))
    other = re.search(r"error: (.*)$", words, re.M)
    return NotCompiled(_plain(other[1] if other else words[:300]))


def _plain(words: str) -> str:
    words = re.sub(r"\(emulated_line\(\d+\), (\w+)\)", r"\1", words).strip()
    words = re.sub(r"\*\(emulated_line\(\d+\), \((\w+) \+ [^’']*", r"\1[…]", words)
    unknown = re.search(r"[‘'](__\w+)[’']", words)
    if unknown and "declared" in words:
        return f"the emulator doesn't know `{unknown[1]}`, which CUDA may have"
    return words


def runs(
    kernel: Kernel, launches: Sequence[Launch], seconds: int = SECONDS, races: bool = True
) -> list[Run]:
    """What each launch does, up to the first that has trouble. NotCompiled.

    races: whether a race is trouble; if not, threads take turns as they happen to.
    """
    job, data = {"room": ROOM, "launches": list[Any]()}, bytearray()
    for launch in launches:
        arguments: list[tuple[str, int]] = []
        for value in launch.arguments.values():
            if isinstance(value, np.ndarray):
                arguments.append(("buffer", value.nbytes))
                data += np.ascontiguousarray(value).tobytes()
            else:
                arguments.append(("number", int(value)))
        grid, block = ((*size, 1, 1)[:3] for size in (launch.grid, launch.block))
        told = {"grid": grid, "block": block, "arguments": arguments, "races": races}
        job["launches"].append(told)  # type: ignore[attr-defined]
    given = json.dumps(job).encode() + b"\n" + data
    output, end = _in_a_child(compiled(kernel), given, seconds)
    found, stream = list[Run](), io.BytesIO(output)
    for launch in launches:
        run = _read(kernel, launch, stream) if not found or not found[-1].trouble else None
        if run is None:
            break
        found.append(run)
    if len(found) < len(launches) and not (found and found[-1].trouble):
        launch = launches[len(found)]
        arrays = {n: a for n, a in launch.arguments.items() if isinstance(a, np.ndarray)}
        found.append(Run(kernel, launch, arrays, trouble=end))
    return found


def _in_a_child(library: bytes, given: bytes, seconds: int) -> tuple[bytes, Trouble]:
    """What it said, and the trouble with what it did not say."""
    slow = Trouble(
        "slow",
        f"I stopped it after {seconds} seconds. Is there a loop that never ends? Look for one "
        "whose counter doesn't change, or changes in the wrong direction.",
    )
    with tempfile.TemporaryDirectory(prefix="tinyframe-") as folder:
        (path := Path(folder) / "kernel.so").write_bytes(library)
        command = [sys.executable, "-I", "-S", str(CHILD), str(path), str(seconds)]
        try:
            done = subprocess.run(
                command, input=given, capture_output=True, timeout=4 * seconds, check=False
            )
        except subprocess.TimeoutExpired as stopped:
            return stopped.output or b"", slow
    if -done.returncode in (24, 9):  # SIGXCPU, or what comes after it
        return done.stdout, slow
    return done.stdout, Trouble(
        "crash",
        "It crashed, as a program in C does that writes where it shouldn't: beyond the end of an "
        "array of its own, perhaps, or it divided by 0. Nothing of this notebook was harmed.",
    )


def _read(kernel: Kernel, launch: Launch, stream: io.BytesIO) -> Run | None:
    """The next run of a child's output; None where it ended before."""
    try:
        said = json.loads(stream.readline())
    except ValueError:
        return None
    arrays = {}
    for name, value in launch.arguments.items():
        if isinstance(value, np.ndarray):
            data = stream.read(value.nbytes)
            arrays[name] = np.frombuffer(data, value.dtype).reshape(value.shape)
    kept = min(said["accesses"], ROOM)
    log = np.frombuffer(stream.read(ACCESS.itemsize * kept), ACCESS).copy()
    for block in np.unique(log["block"]):  # phases of a block, from 0 on
        its = log["block"] == block
        log["phase"][its] -= log["phase"][its].min()
    regions = tuple((name, size, reads) for name, size, reads in said["regions"])
    trouble = trouble_of(kernel, launch, said["fault"]) if said["fault"]["kind"] else None
    return Run(kernel, launch, arrays, regions, log, trouble)


# ---- trouble, in words ---------------------------------------------------------------------------


def trouble_of(kernel: Kernel, launch: Launch, fault: Mapping[str, Any]) -> Trouble:
    """A fault of the emulator, for somebody who wrote the kernel a minute ago."""
    told = _told(kernel, launch, fault)
    return replace(told, thread=fault["thread"], block=fault["block"])


def _told(kernel: Kernel, launch: Launch, fault: Mapping[str, Any]) -> Trouble:
    kind, line, other_line = fault["kind"], fault["line"], fault["other_line"]
    who = launch.called(fault["thread"], fault["block"])
    who = who[0].upper() + who[1:]
    other = launch.called(fault["other_thread"], fault["other_block"])
    name, index, size = fault["name"], fault["index"], fault["size"]
    cell = f"`{name}{''.join(f'[{n}]' for n in index_in(kernel, name, index))}`"
    far = 1024 + size  # farther than any index is off by mistake
    if kind == BOUNDS and not -far < index < size + far:
        text = (
            f"{who} uses memory that is far outside of every array. Is an index huge or negative, "
            "or does an array of your own end too early?"
        )
        return Trouble("bounds", text, (line,) * bool(line))
    if kind == BOUNDS:
        does = "writes" if fault["is_write"] else "reads"
        less = f"`{name}` has {size} element{'s' * (size != 1)}"
        less = "an array starts at 0" if index < 0 else less
        text = f"{who} {does} {cell}, and {less}."
        return Trouble("bounds", text, (line,) * bool(line), (name, index))
    if kind == RACE:
        return Trouble("race", race_in_words(who, other, cell, fault), (line, other_line),
                       (name, index))  # fmt: skip
    if kind == BARRIER:
        return Trouble("barrier", barrier_in_words(who, launch.called(0, fault["block"]), line,
                                                   other_line), (line or other_line,))  # fmt: skip
    if kind == VECTOR:
        text = f"{who} moves several numbers at once at {cell}: no multiple of {line} bytes."
        return Trouble("vector", text, (), (name, index))
    return Trouble("threads", f"A block has more than {index} threads.")


def race_in_words(who: str, other: str, cell: str, fault: Mapping[str, Any]) -> str:
    line, other_line = fault["line"], fault["other_line"]
    here = f" (line {line})" if line else ""
    there = f" (line {other_line})" if other_line else ""
    same_block = fault["block"] == fault["other_block"]
    between = (
        "No barrier stands between the two, so nobody knows who comes first."
        if same_block
        else "They're in different blocks, and no barrier reaches across blocks: nobody knows who "
        "comes first."
    )
    match bool(fault["is_write"]), bool(fault["other_is_write"]):
        case True, True:
            does = f"{who}{here} writes {cell}, and so does {other}{there}, with a different number"
        case True, False:
            does = f"{who}{here} writes {cell}, and {other}{there} reads it"
        case _:
            does = f"{who}{here} reads {cell}, and {other}{there} writes it"
    return f"A race. {does}. {between}"


def barrier_in_words(who: str, first: str, line: int, other_line: int) -> str:
    if line and other_line:
        return (
            f"{who} waits at the barrier in line {line}, and {first} at a different one, in line "
            f"{other_line}. A barrier opens when every thread of the block is there, so a GPU may "
            "wait forever, or go on with wrong numbers."
        )
    waits, gone, at = (who, first, line) if line else (first, who, other_line)
    waits = waits[0].upper() + waits[1:]
    return (
        f"{waits} waits at the barrier in line {at}, and {gone.lower()} never gets there: it has "
        "already finished. A GPU may wait forever, or go on with wrong numbers."
    )


def index_in(kernel: Kernel, name: str, index: int) -> Size:
    """The index as it is written: of a shared array of two axes, two numbers."""
    shape = kernel.shared_shapes.get(name, ())
    return divmod(index, shape[1]) if len(shape) == 2 else (index,)


def as_index(index: Size) -> str:
    return str(index[0]) if len(index) == 1 else str(tuple(index))
