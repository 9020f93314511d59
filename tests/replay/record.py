"""Listens to the engine while tests run, and keeps every kernel that is made into a program.

Nothing here needs pytest: part 11 of the course records a few expressions with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.replay.recording import Kernel, Program, Recording
from tinyframe import Device
from tinyframe.codegen import get_program
from tinyframe.codegen.program import ProgramSpec
from tinyframe.observe import Observer
from tinyframe.run.realize import CompileKey
from tinyframe.settings import settings
from tinyframe.uop.node import UOp
from tinyframe.uop.show import listing

# settings that change what is generated
SHOWN = ("NOOPT", "RELAXED")


class Recorder(Observer):
    """Notes each kernel that the engine makes a program of. `file`: the test that runs now.

    What a search (BEAM) finds depends on how long things take, so it is not recorded.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.file = ""
        self.graphs: dict[str, UOp] = {}  # by key: to be written in the other languages too
        self._asked: set[Any] = set()

    def begin(self, file: str) -> None:
        """From here on, kernels are this file's: those that are ready count for it too."""
        if file != self.file:
            self.file = file
            self._asked.clear()

    def wants(self, work: Any) -> bool:
        if (
            not (isinstance(work, tuple) and isinstance(work[-1], CompileKey))
            or work in self._asked
        ):
            return False
        self._asked.add(work)
        return True

    def programmed(self, spec: ProgramSpec, begin: float, end: float) -> None:
        if settings.BEAM:
            return
        kernel = self._kernel(spec.ast)
        kernel.files.add(self.file)
        kernel.programs.add(program_of(spec, settings_now()))

    def _kernel(self, ast: UOp) -> Kernel:
        found = Kernel(listing(ast.toposort()))
        self.graphs.setdefault(found.key, ast)
        return self.recording.kernels.setdefault(found.key, found)

    def write_in(self, languages: Sequence[str]) -> None:
        """Each kernel in these languages too, by the NULL device's renderers. When all tests are
        done: the names that kernels are shown by count how many there have been."""
        for key, ast in self.graphs.items():
            for language in languages:
                self.recording.kernels[key].programs.add(written_in(language, ast))


def settings_now() -> str:
    """Those that are not at their defaults, of the ones that change what is generated."""
    return " ".join(f"{name}=1" for name in SHOWN if getattr(settings, name))


def program_of(spec: ProgramSpec, said: str = "", language: str = "") -> Program:
    plan = "" if spec.plan is None else spec.plan.name
    opts = tuple(map(str, spec.opts))
    return Program(language or spec.device, said, spec.function, opts, plan, spec.src)


def written_in(language: str, ast: UOp) -> Program:
    """A kernel in a language that no device here runs; why not, where that cannot be."""
    try:
        spec = get_program(ast, Device[f"NULL:{language}"].renderer)
    except Exception as error:
        return Program(language, "", "", (), "", f"{type(error).__name__}: {error}\n")
    return program_of(spec, language=language)
