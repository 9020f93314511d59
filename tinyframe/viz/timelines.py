"""`timeline(x)`: what happened when x was computed, on every thread and device.

    timeline(model(x))        # computes it, and draws what that took
    timeline(train_step)      # calls the function once
    timeline()                # what was recorded last, once more

The picture has measured times in it. `draw_spans` makes it of a list of spans, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tinyframe.tensor.core import Tensor
from tinyframe.viz.drawing import HIGH, MUTED, PAGE, Drawing, width_of
from tinyframe.viz.kinds import ARROW
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import DrawnPicture
from tinyframe.viz.table import LINE, draw_table
from tinyframe.viz.watched import Span, record_of, seconds_text

LABEL, BAR, LANE = 84.0, 18.0, 24.0  # points: lanes' names; the height of a bar and of its lane
CLOSER = 0.25  # kernels that run for a smaller part of all the time are drawn a second time
MOST_BARS = 2000  # of a row; those that took longest
MOST_SIDE_BY_SIDE = 3  # rows of a lane, where spans overlap

# What a span is: its colour, its letter on the bar, and its meaning.
WHATS = {
    "schedule": ("#e4d8f5", "s", "finds the kernels (Python)"),
    "source": ("#cfe6fa", "p", "writes the source of a kernel (Python)"),
    "compile": ("#ffdf9e", "c", "compiles the source"),
    "run": ("#c9efea", "", "runs a kernel"),
    "copy": ("#fbb9a0", "copy", "copies between devices"),
}


def timeline(x: Tensor | Callable[[], Any] | None = None) -> DrawnPicture:
    """A picture of what ran when: the scheduler and the code generator in Python, the compiler's
    threads, the kernels on their device.

    x: a Tensor, which is computed now, or a function without arguments, which is called once.
    Without x it is the last one that was recorded, by this function or `roofline`. What is compiled
    already is not compiled again. ValueError where nothing runs or was recorded, TypeError for
    anything else.
    """
    return draw_spans(record_of(x, "timeline").spans)


def draw_spans(spans: Sequence[Span]) -> DrawnPicture:
    """The picture of these spans: the same for the same spans. ValueError where there are none."""
    if not spans:
        raise ValueError("a timeline needs a span")
    begin, end = min(s.begin for s in spans), max(s.end for s in spans)
    numbers: dict[str, int] = {}
    for span in sorted(spans, key=lambda s: (s.what != "run", s.begin)):
        if span.name and span.what != "copy":
            numbers.setdefault(span.name, len(numbers) + 1)
    runs = [s for s in spans if s.what in ("run", "copy")]
    headline = (
        f"timeline: {seconds_text(end - begin)}, of which kernels ran "
        f"{seconds_text(sum(s.end - s.begin for s in runs))}"
    )
    sheet = Drawing()
    top = _legend(sheet, spans)
    top = _lanes(sheet, top, "all of it", spans, begin, end, numbers)
    if runs:
        first, last = min(s.begin for s in runs), max(s.end for s in runs)
        if len(runs) < len(spans) and last - first < CLOSER * (end - begin):
            title = f"from {seconds_text(first - begin)} on, the kernels"
            top = _lanes(sheet, top + 14, title, runs, first, last, numbers)
    header, rows = table_of(spans, numbers)
    most = max(3, int((HIGH - top) / (LINE + 4)) - 2)
    sheet.put(draw_table(header, rows[:most], PAGE, left=(1,)), 0, top + 14)
    if len(rows) > most:
        more = f"and {plural(len(rows) - most, 'kernel')} more: print() lists them all"
        sheet.words(0, sheet.height + 12, more, colour=MUTED)
    text = [headline, " | ".join(header), *[" | ".join(row) for row in rows]]
    return DrawnPicture(headline, "\n".join(text), sheet)


def table_of(spans: Sequence[Span], numbers: dict[str, int]) -> tuple[list[str], list[list[str]]]:
    """A header, and a row for each kernel, those that took longest first."""
    totals = {name: dict.fromkeys(WHATS, 0.0) for name in numbers}
    times = dict.fromkeys(numbers, 0)
    for span in spans:
        if span.name in totals:
            totals[span.name][span.what] += span.end - span.begin
            times[span.name] += span.what == "run"
    order = sorted(numbers, key=lambda name: (-totals[name]["run"], numbers[name]))
    rows = []
    for name in order:
        found = totals[name]
        took = [seconds_text(found[what]) if found[what] else "" for what in ("source", "compile")]
        ran = f"{seconds_text(found['run'])} in {plural(times[name], 'run')}" if times[name] else ""
        rows.append([str(numbers[name]), name, *took, ran])
    return ["", "kernel", "source", "compiled", "ran"], rows


# ---- the picture ---------------------------------------------------------------------------------


def _legend(sheet: Drawing, spans: Sequence[Span]) -> float:
    """What the colours and letters mean; gives where it ends."""
    left = top = 0.0
    for what in (w for w in WHATS if any(s.what == w for s in spans)):
        fill, letter, meaning = WHATS[what]
        word = letter or "1"
        wide = max(18.0, width_of(word, 9.5) + 8)
        if left and left + wide + 6 + width_of(meaning) > PAGE:
            left, top = 0.0, top + 20
        sheet.box(left, top, wide, 15, fill, words=[word], size=9.5)
        sheet.words(left + wide + 6, top + 11, meaning, colour=MUTED)
        left += wide + 6 + width_of(meaning) + 16
    return top + 26


def _lanes(
    sheet: Drawing,
    top: float,
    title: str,
    spans: Sequence[Span],
    begin: float,
    end: float,
    numbers: dict[str, int],
) -> float:
    """One lane below the other, over one axis of time; gives where they end."""
    scale = (PAGE - LABEL - 24) / max(end - begin, 1e-9)
    names = list(dict.fromkeys(s.lane for s in sorted(spans, key=lambda s: (_rank(s), s.lane))))
    rows = [(name, row) for name in names for row in side_by_side(spans, name)]
    sheet.words(0, top + 12, title, bold=True, colour=MUTED)
    axis = top + 34
    for tick in ticks(end - begin):
        x = LABEL + tick * scale
        sheet.words(x, axis - 4, seconds_text(tick), 9.5, anchor="middle", colour=MUTED)
        sheet.line([(x, axis), (x, axis + LANE * len(rows))], ARROW, 0.5)
    for row, (name, found) in enumerate(rows):
        y = axis + row * LANE + (LANE - BAR) / 2
        if row == 0 or rows[row - 1][0] != name:
            sheet.words(LABEL - 8, y + 13, name, anchor="end", colour=MUTED)
        longest = sorted(found, key=lambda s: s.begin - s.end)[:MOST_BARS]
        for span in sorted(longest, key=lambda s: s.begin):
            x, width = LABEL + (span.begin - begin) * scale, (span.end - span.begin) * scale
            fill, letter, meaning = WHATS[span.what]
            number = "" if span.what == "copy" else str(numbers.get(span.name, ""))
            word = letter + number
            words = [word] if word and width_of(word, 9.5) + 3 < width else []
            said = f"{meaning}: {span.name}, {seconds_text(span.end - span.begin)}"
            line = ARROW if width > 3 else fill
            sheet.box(x, y, max(width, 0.75), BAR, fill, line, words, said, 0, 0.5, size=9.5)
    return axis + LANE * len(rows)


def side_by_side(spans: Sequence[Span], lane: str) -> list[list[Span]]:
    """The spans of a lane in rows in which none overlaps another; of those for which there is no
    room in so many rows, nothing is drawn."""
    rows: list[list[Span]] = []
    for span in sorted((s for s in spans if s.lane == lane), key=lambda s: (s.begin, s.end)):
        row = next((row for row in rows if row[-1].end <= span.begin), None)
        if row is not None:
            row.append(span)
        elif len(rows) < MOST_SIDE_BY_SIDE:
            rows.append([span])
    return rows


def _rank(span: Span) -> int:
    """Python above the compilers, these above the devices."""
    return ("schedule", "source", "compile", "run", "copy").index(span.what)


def ticks(seconds: float) -> list[float]:
    """Some five round times from 0 on."""
    if seconds <= 0:
        return [0.0]
    unit = 10.0 ** math.floor(math.log10(seconds / 5))
    step = next(s * unit for s in (1, 2, 5, 10) if s * unit * 6 >= seconds)
    return [n * step for n in range(int(seconds / step + 1e-9) + 1)]
