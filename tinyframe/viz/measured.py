"""Two pictures of a run: both compute their argument and watch.

    timeline(model(x))        # what ran when, on every thread and device
    roofline(train_step)      # calls the function once: how fast its kernels are, and could be

Times are in seconds, from time.perf_counter(). The pictures depend on nothing but the spans or
points given to `draw_spans` and `draw_points`.
"""

from __future__ import annotations

import math
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter
from typing import Any, NamedTuple

from tinyframe.codegen.program import ProgramSpec
from tinyframe.observe import Observer, Ran, observing
from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import UOp
from tinyframe.viz.charts import chart, left_out, name_rows
from tinyframe.viz.kinds import ARROW, TEXT
from tinyframe.viz.nodes import grouped, plural
from tinyframe.viz.picture import Picture
from tinyframe.viz.roof import Roof, measured_roof, verdict


class Span(NamedTuple):
    """Work that took from `begin` to `end`. lane: who did it. what: a key of WHATS. name: the
    kernel's."""

    lane: str
    what: str
    name: str
    begin: float
    end: float


@dataclass
class Record(Observer):
    """An observer that remembers every event. runs: each run of a kernel, with its seconds."""

    spans: list[Span] = field(default_factory=list)
    runs: list[tuple[ProgramSpec, float]] = field(default_factory=list)
    # a number for each thread that compiles
    _compilers: dict[int, int] = field(default_factory=lambda: defaultdict(count(1).__next__))
    _scheduling: float = 0.0

    def scheduling(self, sink: UOp) -> None:
        self._scheduling = perf_counter()

    def scheduled(self, sink: UOp, becomes: Any, items: Any) -> None:
        self.spans.append(Span("Python", "schedule", "", self._scheduling, perf_counter()))

    def programmed(self, spec: ProgramSpec, begin: float, end: float) -> None:
        self.spans.append(Span("Python", "source", spec.name, begin, end))

    def compiled(self, spec: ProgramSpec, binary: bytes, begin: float, end: float) -> None:
        lane = f"compiler {self._compilers[threading.get_ident()]}"
        self.spans.append(Span(lane, "compile", spec.name, begin, end))

    def ran(self, work: Ran) -> None:
        what, name = ("copy", "copy") if work.spec is None else ("run", work.spec.name)
        self.spans.append(Span(work.item.bufs[0].device, what, name, work.begin, work.end))
        if work.spec is not None:
            self.runs.append((work.spec, work.seconds))


def record_of(x: Tensor | Callable[[], Any], caller: str) -> Record:
    """Watches while a Tensor is computed or a function is called. ValueError if no kernel runs;
    TypeError for anything else."""
    if not isinstance(x, Tensor) and not callable(x):
        known = "a Tensor, which is computed, or a function without arguments, which is called"
        raise TypeError(f"{caller}() takes {known}; not {type(x).__name__}")
    record = Record()
    with observing(record):
        x.realize() if isinstance(x, Tensor) else x()
    if not any(span.what in ("run", "copy") for span in record.spans):
        was = "its values are in memory already" if isinstance(x, Tensor) else "it computed nothing"
        raise ValueError(f"{caller}() saw no kernel run: {was} (a Tensor needs `.realize()`)")
    return record


def seconds_text(seconds: float) -> str:
    """A time in the unit that suits it: `12.5 µs`."""
    if not seconds or seconds >= 1000:
        return f"{seconds:.0f} s"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


# ---- the timeline --------------------------------------------------------------------------------

CLOSER = 0.25  # of the whole time: if the kernels take less, they are also drawn larger
NAMED = 0.03  # of the time in a chart: longer spans show the number of their kernel
MOST_TOLD = 12  # kernels with a bar in the picture

# The kinds of spans, in the order of the lanes: a colour, and the meaning.
WHATS = {
    "schedule": ("#e4d8f5", "finds the kernels (Python)"),
    "source": ("#cfe6fa", "writes the source of a kernel (Python)"),
    "compile": ("#ffdf9e", "compiles the source"),
    "run": ("#c9efea", "runs a kernel"),
    "copy": ("#fbb9a0", "copies between devices"),
}


def timeline(x: Tensor | Callable[[], Any]) -> Picture:
    """A picture of what ran when: the scheduler and the code generator in Python, the compiler's
    threads, the kernels on their device.

    x: a Tensor, which is computed now, or a function without arguments, which is called once.
    Kernels that are compiled already are not compiled again. ValueError if no kernel runs,
    TypeError for anything else.
    """
    return draw_spans(record_of(x, "timeline").spans)


def draw_spans(spans: Sequence[Span]) -> Picture:
    """The picture of some spans; equal spans give equal pictures. ValueError if there are none."""
    if not spans:
        raise ValueError("a timeline needs a span")
    begin, end = min(s.begin for s in spans), max(s.end for s in spans)
    runs = [s for s in spans if s.what in ("run", "copy")]
    busy = seconds_text(sum(s.end - s.begin for s in runs))
    headline = f"timeline: {seconds_text(end - begin)}, of which kernels ran {busy}"
    header, rows = table_of(spans)
    numbers = {row[1]: row[0] for row in rows}
    parts = [("all of it", spans, begin, end)]
    first, last = min((s.begin for s in runs), default=0), max((s.end for s in runs), default=0)
    if 0 < len(runs) < len(spans) and last - first < CLOSER * (end - begin):
        parts.append((f"from {seconds_text(first - begin)} on, the kernels", runs, first, last))
    heights = [24 * len({s.lane for s in shown}) + 42 for _, shown, _, _ in parts]
    heights.append(16 * min(len(rows), MOST_TOLD) + 24)

    def draw(figure: Any) -> None:
        from matplotlib.ticker import EngFormatter

        *panels, bars = figure.subplots(len(heights), height_ratios=heights)
        for axes, (title, shown, first, last) in zip(panels, parts, strict=True):
            order = sorted(shown, key=lambda s: (list(WHATS).index(s.what), s.lane))
            lanes = list(dict.fromkeys(s.lane for s in order))  # Python, compilers, devices
            name_rows(axes, title, lanes, xlim=(0, last - first or 1e-9))
            axes.xaxis.set_major_formatter(EngFormatter(unit="s"))
            axes.grid(axis="x")
            for what, (fill, label) in WHATS.items():
                look = {"facecolors": fill, "edgecolors": ARROW, "linewidth": 0.5}
                for place, lane in enumerate(lanes):
                    found = [s for s in shown if (s.what, s.lane) == (what, lane)]
                    if found:
                        begun = [(s.begin - first, s.end - s.begin) for s in found]
                        axes.broken_barh(begun, (place - 0.38, 0.76), label=label, **look)
                        label = ""
            for span in shown:
                if span.name in numbers and span.end - span.begin > NAMED * (last - first):
                    middle = (span.begin + span.end) / 2 - first
                    row, number = lanes.index(span.lane), numbers[span.name]
                    axes.text(middle, row, number, color=TEXT, ha="center", va="center")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
        told = rows[:MOST_TOLD]
        took = [sum(s.end - s.begin for s in runs if s.name == row[1]) for row in told]
        bars.barh(range(len(told)), took, 0.6, color=WHATS["run"][0], edgecolor=ARROW)
        names = [f"{number}  {name}" for number, name, *_ in told]
        name_rows(bars, "seconds that each kernel ran, the longest first", names, xticks=[],
                  xlim=(0, 2.5 * max([1e-9, *took])))  # fmt: skip
        for n, (_, _, source, compiled, ran) in enumerate(told):
            said = [ran, f"source {source}" * bool(source), f"compiled {compiled}" * bool(compiled)]
            bars.annotate(", ".join(filter(None, said)), (took[n], n), (4, 0), va="center",
                          textcoords="offset points", fontsize=7.5)  # fmt: skip

    text = [headline, " | ".join(header), *[" | ".join(row) for row in rows]]
    notes = left_out(len(rows), MOST_TOLD, "kernel")
    return chart(headline, "\n".join(text), draw, sum(heights) + 40, notes)


def table_of(spans: Sequence[Span]) -> tuple[list[str], list[list[str]]]:
    """A header, and a row for each kernel, the slowest first. Kernels are numbered in the order of
    their first run."""
    order = sorted(spans, key=lambda s: (s.what != "run", s.begin))
    names = dict.fromkeys(s.name for s in order if s.name and s.what != "copy")
    totals = {name: dict.fromkeys(WHATS, 0.0) for name in names}
    times = Counter(span.name for span in spans if span.what == "run")
    for span in spans:
        if span.name in totals:
            totals[span.name][span.what] += span.end - span.begin
    rows = []
    for number, name in sorted(enumerate(names, 1), key=lambda pair: -totals[pair[1]]["run"]):
        found = totals[name]
        took = [seconds_text(found[what]) if found[what] else "" for what in ("source", "compile")]
        ran = f"{seconds_text(found['run'])} in {plural(times[name], 'run')}" if times[name] else ""
        rows.append([str(number), name, *took, ran])
    return ["", "kernel", "source", "compiled", "ran"], rows


# ---- the roofline --------------------------------------------------------------------------------

MOST_POINTS = 6  # kernels with a number and a sentence; all others are plain dots
POINT, OTHER = "#d9480f", "#b0b0b0"


class Point(NamedTuple):
    """A kernel: the operations and bytes of one run, and the seconds of the best. plan: the name of
    the plan that shaped its loops."""

    name: str
    operations: int
    nbytes: int
    seconds: float
    plan: str | None = None

    @property
    def flops(self) -> float:
        return self.operations / self.seconds

    @property
    def intensity(self) -> float:
        """Operations per byte."""
        return self.operations / self.nbytes


def roofline(x: Tensor | Callable[[], Any]) -> Picture:
    """A picture of this machine's roof, as measured, with the kernels of x under it. Across:
    operations per byte that a kernel moves. Up: operations per second. On the left, where the roof
    slopes, memory is the limit; on the right, arithmetic is. See `roof.py`.

    x: as for `timeline`, with the same errors. If a kernel runs several times, its best time
    counts. First runs are often slow, so a function that repeats the work shows more. Operations of
    all dtypes count; the roof is the one for float32.
    """
    return draw_points(points_of(record_of(x, "roofline")), measured_roof())


def points_of(record: Record) -> list[Point]:
    """The kernels that ran, those that took most of the time first."""
    specs = {spec.name: spec for spec, _ in record.runs}
    runs = grouped((spec.name, max(seconds, 1e-9)) for spec, seconds in record.runs)
    points = []
    for name in sorted(runs, key=lambda name: -sum(runs[name])):
        spec, best = specs[name], min(runs[name])
        plan = None if spec.plan is None else spec.plan.name
        points.append(Point(name, spec.ops_estimate, max(spec.mem_estimate, 1), best, plan))
    return points


def draw_points(points: Sequence[Point], roof: Roof) -> Picture:
    """The picture of some kernels; equal numbers give equal pictures."""
    flops, bandwidth = rate_text(roof.flops), rate_text(roof.bandwidth)
    under = f"{flops} GFLOP/s and {bandwidth} GB/s"
    headline = f"roofline: {plural(len(points), 'kernel')} under {under}"
    header = ["", "kernel", "time", "GFLOP/s", "GB/s", "what limits it"]
    rows = [
        [str(n), p.name, seconds_text(p.seconds), rate_text(p.flops),
         rate_text(p.nbytes / p.seconds), verdict(p.operations, p.nbytes, p.seconds, roof, p.plan)]
        for n, p in enumerate(points, 1)
    ]  # fmt: skip
    ridge = roof.flops / roof.bandwidth
    shown = [p for p in points if p.operations]
    across = [0.1, ridge / 20, ridge * 4, *[p.intensity for p in shown]]
    left, right = min(across) / 2, max(across) * 2
    up = [left * roof.bandwidth, roof.flops, *[p.flops for p in shown]]
    bottom, top = min(up) / 2e9, max(up) * 2e-9

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        axes.set_title(f"the roof: memory, {bandwidth} GB/s, and arithmetic, {flops} GFLOP/s")
        axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(bottom, top))
        axes.set(xlabel="operations for each byte that is read or written", ylabel="GFLOP/s")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.grid()
        corners = [left * roof.bandwidth, roof.flops, roof.flops]
        axes.plot([left, ridge, right], [y / 1e9 for y in corners], color=ARROW, linestyle="-")
        for number, p in enumerate(points, 1):
            if p.operations:
                told = number <= MOST_POINTS
                place = p.intensity, p.flops / 1e9
                axes.plot(*place, "o", color=POINT if told else OTHER, zorder=2 + told)
                if told:  # its number goes beside it, each in a different direction
                    turn = math.tau * (number - 1) / MOST_POINTS
                    beside = 16 * math.cos(turn), -16 * math.sin(turn)
                    line = {"arrowstyle": "-", "color": POINT}
                    axes.annotate(number, place, beside, textcoords="offset points",
                                  ha="center", va="center", arrowprops=line)  # fmt: skip

    notes = [f"{n}  {name}: {time}, {ops} GFLOP/s, {moved} GB/s. {words}"
             for n, name, time, ops, moved, words in rows[:MOST_POINTS]]  # fmt: skip
    notes += left_out(len(points), MOST_POINTS, "kernel")
    text = [headline, " | ".join(header), *[" | ".join(row) for row in rows]]
    return chart(headline, "\n".join(text), draw, 320, notes)


def rate_text(rate: float) -> str:
    """Billions (of operations, of bytes) per second, to three digits."""
    return f"{rate / 1e9:,.0f}" if rate >= 999.5e9 else f"{rate / 1e9:.3g}"
