"""What ran, and when: one look at tinyframe at work, for a timeline and for a roofline.

    record = record_of(lambda: model(x).realize(), "timeline")
    record.spans, record.runs
    record_of(None, "roofline")       # the one made last

Times are in seconds, by time.perf_counter().
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from tinyframe.codegen.program import ProgramSpec
from tinyframe.observe import Observer, Ran, observing
from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import UOp


@dataclass(frozen=True)
class Span:
    """Something that took from `begin` to `end`. lane: who did it. what: a key of WHATS in
    timelines.py. name: of the kernel."""

    lane: str
    what: str
    name: str
    begin: float
    end: float


@dataclass(frozen=True)
class Run:
    """A kernel that ran once, in so many seconds on its device."""

    spec: ProgramSpec
    seconds: float


@dataclass
class Record(Observer):
    """An observer that keeps what it is told."""

    spans: list[Span] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    _compilers: dict[int, str] = field(default_factory=dict)  # thread -> its lane
    _lock: threading.Lock = field(default_factory=threading.Lock)  # compilers run side by side
    _scheduling: float = 0.0

    def scheduling(self, sink: UOp) -> None:
        self._scheduling = perf_counter()

    def scheduled(self, sink: UOp, becomes: Any, items: Any) -> None:
        self.spans.append(Span("Python", "schedule", "", self._scheduling, perf_counter()))

    def programmed(self, spec: ProgramSpec, begin: float, end: float) -> None:
        self.spans.append(Span("Python", "source", spec.name, begin, end))

    def compiled(self, spec: ProgramSpec, binary: bytes, begin: float, end: float) -> None:
        with self._lock:
            thread = threading.get_ident()
            lane = self._compilers.setdefault(thread, f"compiler {len(self._compilers) + 1}")
            self.spans.append(Span(lane, "compile", spec.name, begin, end))

    def ran(self, work: Ran) -> None:
        what, name = ("copy", "copy") if work.spec is None else ("run", work.spec.name)
        self.spans.append(Span(work.item.bufs[0].device, what, name, work.begin, work.end))
        if work.spec is not None:
            self.runs.append(Run(work.spec, work.seconds))


_last: Record | None = None


def record_of(x: Tensor | Callable[[], Any] | None, caller: str) -> Record:
    """What happens while a Tensor is computed, or a function is called; of None, the last record.

    ValueError where nothing runs, or there is no record yet; TypeError for anything else.
    """
    global _last
    if x is None:
        if _last is None:
            raise ValueError(
                f"{caller}() shows what was recorded last, and nothing was yet: give it a Tensor, "
                "or a function to call"
            )
        return _last
    record = Record()
    if isinstance(x, Tensor):
        work: Callable[[], Any] = x.realize
    elif callable(x):
        work = x
    else:
        raise TypeError(
            f"{caller}() takes a Tensor, which is computed, or a function without arguments, which "
            f"is called; not {type(x).__name__}"
        )
    with observing(record):
        work()
    if not any(span.what in ("run", "copy") for span in record.spans):
        was = "its values are in memory already" if isinstance(x, Tensor) else "it computed nothing"
        raise ValueError(f"{caller}() saw no kernel run: {was} (a Tensor needs `.realize()`)")
    _last = record
    return record


def seconds_text(seconds: float) -> str:
    """A time in the unit that suits it: `12.5 µs`."""
    if not seconds:
        return "0 s"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds:.0f} s"
    return f"{seconds * 1e9:.0f} ns"
