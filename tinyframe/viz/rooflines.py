"""`roofline(x)`: the kernels of x under this machine's roof: how fast they could be, and are.

    roofline(a @ b)           # computes it, and places its kernels
    roofline(train_step)      # calls the function once
    roofline()                # what was recorded last, once more

Across: operations for each byte that a kernel moves. Up: operations in a second. Memory limits what
is on the left, where the roof slopes, and arithmetic what is on the right. See `roof.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tinyframe.tensor.core import Tensor
from tinyframe.viz.drawing import MUTED, PAGE, Drawing
from tinyframe.viz.kinds import ARROW, TEXT
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import DrawnPicture
from tinyframe.viz.roof import Roof, measured_roof
from tinyframe.viz.table import draw_table
from tinyframe.viz.verdict import verdict
from tinyframe.viz.watched import Record, record_of, seconds_text

LEFT = 50.0  # points, for the words beside the plot
WIDTH, HEIGHT = PAGE - LEFT - 20, 270.0  # points, of the plot
MOST_POINTS = 6  # kernels that are told about; others are dots
POINT, OTHER, GRID = "#ffd8a8", "#b0b0b0", "#dcdcdc"


@dataclass(frozen=True)
class Point:
    """A kernel: operations and bytes of one run, and the seconds of its best run. plan: what shaped
    its loops."""

    name: str
    operations: int
    nbytes: int
    seconds: float
    plan: str | None = None

    @property
    def flops(self) -> float:
        return self.operations / self.seconds

    @property
    def bandwidth(self) -> float:
        return self.nbytes / self.seconds

    @property
    def intensity(self) -> float:
        """Operations for each byte."""
        return self.operations / self.nbytes


def roofline(x: Tensor | Callable[[], Any] | None = None) -> DrawnPicture:
    """A picture of this machine's roof, as measured, with the kernels of x under it.

    x: as for `timeline`, and the same errors. A kernel that runs several times counts with its best
    time; the first run of one is often slow, so a function that computes something a few times
    shows more. Operations are of any dtype; the roof is that of float32.
    """
    return draw_points(points_of(record_of(x, "roofline")), measured_roof())


def points_of(record: Record) -> list[Point]:
    """The kernels that ran, the one that took most time in all first."""
    runs: dict[str, list[float]] = {}
    specs = {}
    for run in record.runs:
        specs[run.spec.name] = run.spec
        runs.setdefault(run.spec.name, []).append(max(run.seconds, 1e-9))
    order = sorted(runs, key=lambda name: -sum(runs[name]))
    return [
        Point(
            name,
            specs[name].ops_estimate,
            max(specs[name].mem_estimate, 1),
            min(runs[name]),
            plan.name if (plan := specs[name].plan) else None,
        )
        for name in order
    ]


def draw_points(points: Sequence[Point], roof: Roof) -> DrawnPicture:
    """The picture of these kernels: the same for the same numbers."""
    headline = (
        f"roofline: {plural(len(points), 'kernel')} under {rate_text(roof.flops)} GFLOP/s and "
        f"{rate_text(roof.bandwidth)} GB/s"
    )
    header = ["", "kernel", "time", "GFLOP/s", "GB/s", "what limits it"]
    rows = [
        [str(n), p.name, seconds_text(p.seconds), rate_text(p.flops), rate_text(p.bandwidth),
         verdict(p.operations, p.nbytes, p.seconds, roof, p.plan)]
        for n, p in enumerate(points, 1)
    ]  # fmt: skip
    sheet = Drawing()
    sheet.put(Plot(points, roof).drawn(), 0, 0)
    sheet.put(draw_table(header, rows[:MOST_POINTS], PAGE, left=(1,)), 0, sheet.height + 12)
    if len(points) > MOST_POINTS:
        rest = len(points) - MOST_POINTS
        more = f"and {plural(rest, 'kernel')} more that took less time: print() tells of all"
        sheet.words(0, sheet.height + 12, more, colour=MUTED)
    text = [headline, " | ".join(header), *[" | ".join(row) for row in rows]]
    return DrawnPicture(headline, "\n".join(text), sheet)


def rate_text(rate: float) -> str:
    """Thousand millions (of operations, of bytes) in a second, to three digits."""
    return f"{rate / 1e9:,.0f}" if rate >= 999.5e9 else f"{rate / 1e9:.3g}"


class Plot:
    """The axes, both logarithmic, the roof, and the points."""

    def __init__(self, points: Sequence[Point], roof: Roof) -> None:
        self.points, self.roof = points, roof
        shown = [p for p in points if p.operations]
        ridge = roof.flops / roof.bandwidth
        across = [p.intensity for p in shown]
        self.least_x = 10 ** math.floor(math.log10(min([0.1, ridge / 20, *across]) * 0.8))
        self.most_x = 10 ** math.ceil(math.log10(max([ridge * 4, *across]) * 1.3))
        heights = [p.flops for p in shown]
        lowest = min([roof.bandwidth * self.least_x, *heights]) * 0.6
        self.least_y = 10 ** math.floor(math.log10(lowest))
        self.most_y = 10 ** math.ceil(math.log10(max([roof.flops, *heights]) * 1.3))
        self.sheet = Drawing()
        self.labels: list[tuple[float, float]] = []

    def x(self, intensity: float) -> float:
        part = math.log(intensity / self.least_x) / math.log(self.most_x / self.least_x)
        return LEFT + WIDTH * part

    def y(self, flops: float) -> float:
        part = math.log(flops / self.least_y) / math.log(self.most_y / self.least_y)
        return 18 + HEIGHT * (1 - part)

    def drawn(self) -> Drawing:
        sheet = self.sheet
        sheet.words(0, 11, "GFLOP/s", colour=MUTED)
        sheet.box(LEFT, 18, WIDTH, HEIGHT, "#fafafa", ARROW, radius=0)
        self._grid()
        self._roof()
        for number, p in reversed(list(enumerate(self.points, 1))):
            if p.operations and number > MOST_POINTS:
                self._dot(p, OTHER)
        for number, p in enumerate(self.points[:MOST_POINTS], 1):
            if p.operations:
                self._dot(p, "#d9480f")
                self._label(number, p)
        middle = LEFT + WIDTH / 2
        sheet.words(middle, 18 + HEIGHT + 28, "operations for each byte that is read or written",
                    anchor="middle", colour=MUTED)  # fmt: skip
        return sheet

    def _grid(self) -> None:
        for tick in _powers(self.least_x, self.most_x):
            x = self.x(tick)
            self.sheet.line([(x, 18), (x, 18 + HEIGHT)], GRID)
            self.sheet.words(x, 18 + HEIGHT + 13, f"{tick:g}", anchor="middle", colour=MUTED)
        for tick in _powers(self.least_y, self.most_y):
            y = self.y(tick)
            self.sheet.line([(LEFT, y), (LEFT + WIDTH, y)], GRID)
            words = f"{tick / 1e9:g}"
            self.sheet.words(LEFT - 6, y + 4, words, anchor="end", colour=MUTED)

    def _roof(self) -> None:
        """The roof, and above the plot what it is."""
        flops, bandwidth = self.roof
        ridge = flops / bandwidth
        start = max(self.least_x, self.least_y / bandwidth)
        corners = [(self.x(start), self.y(start * bandwidth)), (self.x(ridge), self.y(flops)),
                   (self.x(self.most_x), self.y(flops))]  # fmt: skip
        self.sheet.line(corners, TEXT, 2.5)
        words = (
            f"the roof slopes up with memory, {rate_text(bandwidth)} GB/s, and is level with "
            f"arithmetic, {rate_text(flops)} GFLOP/s"
        )
        self.sheet.words(LEFT + WIDTH, 11, words, anchor="end", colour=MUTED)

    def _dot(self, p: Point, fill: str) -> None:
        x, y = self.x(p.intensity), self.y(p.flops)
        self.sheet.box(x - 3, y - 3, 6, 6, fill, TEXT, title=p.name, thick=0.75)

    def _label(self, number: int, p: Point) -> None:
        """The number of a point beside it, where no other one stands."""
        x, y = self.x(p.intensity), self.y(p.flops)
        others = [(self.x(q.intensity), self.y(q.flops)) for q in self.points if q.operations]
        for radius in (16, 30, 44, 58):
            for turn in (3, 1, 5, 7, 2, 6, 0, 4):  # eighths; below and to the right first
                angle = turn * math.pi / 4 - math.pi / 2
                place = x + radius * math.cos(angle), y + radius * math.sin(angle)
                free = all(math.dist(place, other) > 17 for other in self.labels)
                clear = all(math.dist(place, other) > 11 for other in others)
                inside = LEFT + 9 < place[0] < LEFT + WIDTH - 9 and 27 < place[1] < 9 + HEIGHT
                if free and clear and inside:
                    break
            else:
                continue
            break
        self.labels.append(place)
        self.sheet.line([(x, y), place], "#d9480f", 1)
        self.sheet.box(place[0] - 8, place[1] - 8, 16, 16, POINT, "#d9480f", [str(number)],
                       p.name, radius=8, size=10)  # fmt: skip


def _powers(least: float, most: float) -> list[float]:
    first, last = round(math.log10(least)), round(math.log10(most))
    return [10.0**n for n in range(first, last + 1)]
