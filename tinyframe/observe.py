"""Observing tinyframe at work: a list of observers that are notified of each event.

    class Timer(Observer):
        def ran(self, work): print(f"{work.seconds * 1e6:.0f} us")

    with observing(Timer()):
        (a + b).realize()

The scheduler, the compiler and the code that runs kernels send events with `tell`; pictures and the
explorer (`viz/`) receive them. Nothing below depends on these: `viz/` puts the observer for VIZ=1
into `explorer`. Without observers, an event costs one look at an empty list and one at a setting.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tinyframe.settings import settings

if TYPE_CHECKING:
    from tinyframe.codegen.program import ProgramSpec
    from tinyframe.rewrite.matcher import Rewrite
    from tinyframe.schedule.kernels import ScheduleItem
    from tinyframe.uop.node import UOp


@dataclass(frozen=True)
class Ran:
    """A kernel or a copy that has run.

    begin, end: time.perf_counter(), in seconds. seconds: the time on the device, without the
    overhead of the launch. in_use: bytes that buffers held then.
    """

    item: ScheduleItem
    spec: ProgramSpec | None  # None for a copy
    begin: float
    end: float
    seconds: float
    in_use: int


class Observer:
    """A method for each event. A subclass overrides those it needs; by default they do nothing."""

    def wants(self, work: Any) -> bool:
        """Whether to process a cached graph or kernel again, so that its events are sent; asked
        once for each."""
        return False

    def made(self, graph: UOp) -> None:
        """A Tensor with this graph was created."""

    def became(self, became: list[tuple[UOp, UOp]]) -> None:
        """A pass, or the lowering of a tensor graph, replaced each of these nodes with a new
        one."""

    def scheduling(self, sink: UOp) -> None:
        """A SINK of tensor graphs is about to be scheduled."""

    def lowering(self) -> None:
        """A group of values is about to be lowered to a loop nest."""

    def lowered(self, ast: UOp) -> None:
        """The group has been lowered to this loop nest."""

    def kernel(self, ast: UOp, values: Sequence[UOp], arguments: Sequence[UOp]) -> None:
        """A kernel was scheduled; they come in running order. values: the nodes of the prepared
        graph that it stores. arguments: these, and the nodes that it reads from memory."""

    def scheduled(self, sink: UOp, becomes: dict[UOp, UOp], items: Sequence[ScheduleItem]) -> None:
        """Scheduling is done. becomes: node of the graph -> its value once the items have run."""

    def stage(
        self, name: str, before: UOp | None, after: UOp | list[UOp], passes: list[Rewrite]
    ) -> None:
        """A stage of the compiler is done; passes: its rewrites."""

    def compiling(self, ast: UOp, device: str) -> None:
        """A kernel is about to be compiled."""

    def programmed(self, spec: ProgramSpec, begin: float, end: float) -> None:
        """The kernel's source is written. begin, end: time.perf_counter(), in seconds."""

    def compiled(self, spec: ProgramSpec, binary: bytes, begin: float, end: float) -> None:
        """The kernel is compiled; this may come from a different thread."""

    def running(self, items: Sequence[ScheduleItem]) -> None:
        """A schedule is about to run."""

    def ran(self, work: Ran) -> None:
        """An item of it has run; they come in order."""

    def finished(self) -> None:
        """All of its items have run."""


_added: list[Observer] = []

# gives the observer for VIZ=1
explorer: Callable[[], Observer] | None = None

# the observers of each Tensor that is created: a separate list, since reading a setting each time
# would be too slow
of_tensors: list[Observer] = []


def observers() -> list[Observer]:
    """The current observers."""
    return [*_added, explorer()] if settings.VIZ and explorer is not None else _added


class _Broadcast:
    """Passes each event on to several observers, and returns a list of their answers."""

    def __init__(self, watching: Callable[[], list[Observer]]) -> None:
        self.watching = watching

    def __getattr__(self, event: str) -> Callable[..., list[Any]]:
        return lambda *what: [getattr(observer, event)(*what) for observer in self.watching()]


# `tell.ran(work)` notifies all current observers, `tell_of_tensors` those of Tensors and nodes
tell = _Broadcast(observers)
tell_of_tensors = _Broadcast(lambda: of_tensors)


def tell_became(became: Iterable[tuple[UOp, UOp]]) -> None:
    """Tells observers of Tensors what nodes became, so that they know which Tensor each is for."""
    if of_tensors:
        tell_of_tensors.became(list(became))


def is_watched() -> bool:
    """Whether this is inside `observing`. (VIZ is not checked here: it is among the settings.)"""
    return bool(_added)


Watching = TypeVar("Watching", bound=Observer)


@contextlib.contextmanager
def observing(observer: Watching) -> Iterator[Watching]:
    """Inside the block, sends all events to this observer, which is also the `as` target."""
    _added.append(observer)
    of_tensors.append(observer)
    try:
        yield observer
    finally:
        for listed in (_added, of_tensors):
            listed.pop(next(n for n, o in enumerate(listed) if o is observer))
