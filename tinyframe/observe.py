"""Who watches tinyframe at work: one list of observers, told of each thing when it is done.

    class Count(Observer):
        def ran(self, work): print(work.name, work.seconds)

    with observing(Count()):
        (a + b).realize()

The compiler, the scheduler and the part that runs kernels tell; the pictures and the explorer
(`viz/`) listen.
Nothing below knows who that is: what VIZ=1 starts is put in `explorer` by the package that has it.
While nobody watches, all of it is one look at an empty list and one at a setting.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tinyframe.settings import settings

if TYPE_CHECKING:
    from tinyframe.codegen.program import ProgramSpec
    from tinyframe.rewrite.matcher import Pass
    from tinyframe.schedule.kernels import ScheduleItem
    from tinyframe.uop.node import UOp


@dataclass(frozen=True)
class Ran:
    """A kernel or a copy that was run.

    begin, end: by time.perf_counter(), in seconds. seconds: what the device took, without what
    starts it. in_use: bytes that buffers took then.
    """

    item: ScheduleItem
    spec: ProgramSpec | None  # None: a copy
    begin: float
    end: float
    seconds: float
    in_use: int


class Observer:
    """What can be watched. A subclass says what it does with that; nothing, by default."""

    def wants(self, work: Any) -> bool:
        """Whether to go all the way down again for this graph's structure or kernel, which would
        else come out of a cache; asked once for each, and what follows is told."""
        return False

    def made(self, graph: UOp) -> None:
        """A Tensor was made, which means this graph."""

    def became(self, became: list[tuple[UOp, UOp]]) -> None:
        """A pass, or the lowering of a tensor graph, made each of these nodes into another."""

    def scheduling(self, sink: UOp) -> None:
        """Kernels are about to be found for a SINK of tensor graphs."""

    def lowering(self) -> None:
        """A group of values is about to become a loop nest."""

    def lowered(self, ast: UOp) -> None:
        """It is one."""

    def kernel(self, ast: UOp, values: Sequence[UOp], arguments: Sequence[UOp]) -> None:
        """A kernel was found, in running order. values: the nodes of the prepared graph that it
        stores. arguments: these, and what it finds in memory."""

    def scheduled(self, sink: UOp, becomes: dict[UOp, UOp], items: Sequence[ScheduleItem]) -> None:
        """They were found. becomes: what nodes of the graph are once these have run."""

    def stage(
        self, name: str, before: UOp | None, after: UOp | list[UOp], passes: list[Pass]
    ) -> None:
        """A stage of the compiler is done, by these rewrites."""

    def compiling(self, ast: UOp, device: str) -> None:
        """A kernel is about to be compiled."""

    def programmed(self, spec: ProgramSpec, begin: float, end: float) -> None:
        """It is source text now. begin, end: by time.perf_counter(), in seconds."""

    def compiled(self, spec: ProgramSpec, binary: bytes, begin: float, end: float) -> None:
        """It is machine code now, in a thread of its own."""

    def running(self, items: Sequence[ScheduleItem]) -> None:
        """A schedule is about to be run."""

    def ran(self, work: Ran) -> None:
        """One item of it was run; in order."""

    def finished(self) -> None:
        """All of it was run."""


_added: list[Observer] = []

# Gives the observer behind VIZ=1.
explorer: Callable[[], Observer] | None = None

# Those told of each Tensor that is made: a list of its own, since a setting is too slow to read
# for each.
of_tensors: list[Observer] = []


def observers() -> list[Observer]:
    """Who watches now."""
    return [*_added, explorer()] if settings.VIZ and explorer is not None else _added


class _Everyone:
    """Passes what it is told on to each of some observers; gives all that they answer."""

    def __init__(self, watching: Callable[[], list[Observer]]) -> None:
        self.watching = watching

    def __getattr__(self, event: str) -> Callable[..., list[Any]]:
        return lambda *what: [getattr(observer, event)(*what) for observer in self.watching()]


# `tell.ran(work)` tells all that watch now; the second those who are told of Tensors and nodes.
tell = _Everyone(observers)
tell_of_tensors = _Everyone(lambda: of_tensors)


def tell_became(became: Iterable[tuple[UOp, UOp]]) -> None:
    """Tells who is told of Tensors what nodes became, so that it can be followed whose they are."""
    if of_tensors:
        tell_of_tensors.became(list(became))


def is_watched() -> bool:
    """Whether this is inside of `observing`. (What VIZ says is seen by who looks at settings.)"""
    return bool(_added)


Watching = TypeVar("Watching", bound=Observer)


@contextlib.contextmanager
def observing(observer: Watching) -> Iterator[Watching]:
    """Inside, this observer is told of everything; `as` gives it a name."""
    _added.append(observer)
    of_tensors.append(observer)
    try:
        yield observer
    finally:
        for listed in (_added, of_tensors):
            listed.pop(next(n for n, o in enumerate(listed) if o is observer))
