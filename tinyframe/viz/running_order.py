"""`schedule(x)`: the kernels in the order in which they run, and the buffers between them.

    schedule((a @ b).softmax() @ c)

A row is a kernel, and a line down the page a buffer, from the first kernel that touches it to the
last: `w2` stands where buffer 2 is written, `r2` where it is read. Where a line ends in dashes, a
kernel further down that is not drawn uses the buffer again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tinyframe.device import Buffer, human_bytes
from tinyframe.schedule.item import ScheduleItem
from tinyframe.uop.node import Ops
from tinyframe.viz.drawing import HIGH, MUTED, PAGE, Drawing, wrapped
from tinyframe.viz.kernels import NOTHING, kernels_of, loops_in, work_of
from tinyframe.viz.kinds import ARROW, KINDS
from tinyframe.viz.nodes import plural, slots
from tinyframe.viz.picture import DrawnPicture

BOX, LANE, LINE = 290.0, 26.0, 13.6  # points: a kernel; from buffer to buffer; from line to line
LANES = int((PAGE - BOX - 10) / LANE)
MOST_IN_FULL = 9  # kernels whose buffers are told in words too
READ_FILL, WRITTEN_FILL = "#ffdf9e", "#fbb9a0"


@dataclass(frozen=True)
class Row:
    """A kernel of a schedule. reads, writes: numbers of buffers; one may be in both."""

    work: str
    loops: str
    reads: tuple[int, ...]
    writes: tuple[int, ...]

    @property
    def touches(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((*self.reads, *self.writes)))


def schedule(x: Any) -> DrawnPicture:
    """A picture of the kernels that realizing x would run: a Tensor, or several in a list, or
    ScheduleItems.

    Buffers are numbered in the order in which they are first touched, sizes are in bytes. Nothing
    runs. TypeError for anything else.
    """
    items = kernels_of(x, "schedule")
    buffers: dict[Buffer, int] = {}
    rows = [_row(item, buffers) for item in items]
    sizes = [b.nbytes for b in buffers]
    headline = f"schedule of {plural(len(rows), 'kernel')}, {plural(len(sizes), 'buffer')}"
    if not rows:
        sheet = Drawing()
        sheet.words(0, 12, NOTHING, colour=MUTED)
        return DrawnPicture(headline, f"{headline}. {NOTHING}", sheet)
    text = [headline]
    for number, row in enumerate(rows, 1):
        text += [f"{number}. {row.work}", *[f"   {line}" for line in notes_of(row, sizes)]]
    return DrawnPicture(headline, "\n".join(text), _drawn(rows, sizes))


def _row(item: ScheduleItem, buffers: dict[Buffer, int]) -> Row:
    read = [item.bufs[slot] for slot in slots(item.ast, Ops.LOAD)]
    numbers = [
        tuple(dict.fromkeys(buffers.setdefault(b, len(buffers)) for b in found))
        for found in (read, item.written)
    ]
    return Row(work_of(item.ast), loops_in(item.ast), *numbers)


def notes_of(row: Row, sizes: Sequence[int]) -> list[str]:
    """The loops of a kernel, and the buffers it reads and writes, with their sizes."""
    lines = [f"loops: {row.loops}"] if row.loops else []
    for what, numbers in (("reads", row.reads), ("writes", row.writes)):
        if numbers:
            lines.append(f"{what} " + ", ".join(f"{n} ({human_bytes(sizes[n])})" for n in numbers))
    return lines


def lanes_of(rows: Sequence[Row], most: int) -> dict[int, int]:
    """Which line each buffer is drawn on: the first that is free from its first use to its last.
    Those for which none of so many is free have none."""
    spans: dict[int, list[int]] = {}
    for place, row in enumerate(rows):
        for b in row.touches:
            spans.setdefault(b, [place, place])[1] = place
    free_from = [0] * most
    lanes: dict[int, int] = {}
    for b, (first, last) in spans.items():
        lane = next((n for n in range(most) if free_from[n] <= first), None)
        if lane is not None:
            lanes[b], free_from[lane] = lane, last + 1
    return lanes


def _drawn(rows: Sequence[Row], sizes: Sequence[int]) -> Drawing:
    sheet, marks = Drawing(), Drawing()
    in_full = len(rows) <= MOST_IN_FULL
    shown = _fitting([_lines(n, row, sizes, in_full) for n, row in enumerate(rows, 1)])
    lanes = lanes_of(rows[: len(shown)], LANES)
    told = [in_full or not set(row.touches) <= lanes.keys() for row in rows[: len(shown)]]
    shown = _fitting([_lines(n, rows[n - 1], sizes, full) for n, full in enumerate(told, 1)])
    later = {b for row in rows[len(shown) :] for b in row.touches}
    last_seen: dict[int, float] = {}
    look, top = KINDS["kernel"], 20.0
    sheet.words(0, 12, "kernels, first to last", bold=True, colour=MUTED)
    sheet.words(BOX + 10, 12, "buffers: r is read, w is written", bold=True, colour=MUTED)
    for row, (heading, notes) in zip(rows, shown, strict=False):
        height = 8 + LINE * (len(heading) + len(notes))
        sheet.box(0, top, BOX, height, look.fill, look.line)
        for n, line in enumerate((*heading, *notes)):
            sheet.words(7, top + 15 + LINE * n, line, bold=n < len(heading))
        for b in row.touches:
            if b in lanes:
                x, y = BOX + 10 + lanes[b] * LANE, top + height / 2
                if b in last_seen:
                    sheet.line([(x + 12, last_seen[b] + 8), (x + 12, y - 8)], ARROW, 1.5)
                _mark(marks, x, y, b, row, f"buffer {b}, {human_bytes(sizes[b])}")
                last_seen[b] = y
        top += height + 8
    for b in later & last_seen.keys():  # what is used by kernels that have no room
        x, y = BOX + 22 + lanes[b] * LANE, last_seen[b] + 8
        marks.line([(x, y), (x, y + 8)], ARROW, 1.5, dashed=True)
    sheet.put(marks, 0, 0)
    if len(shown) < len(rows):
        more = f"and {plural(len(rows) - len(shown), 'kernel')} more: print() lists them all"
        sheet.words(0, top + 10, more, colour=MUTED)
    return sheet


def _lines(
    number: int, row: Row, sizes: Sequence[int], in_full: bool
) -> tuple[list[str], list[str]]:
    """The words in a kernel's box: what it does, and its loops and buffers where that is wanted."""
    notes = notes_of(row, sizes) if in_full else []
    return (
        wrapped(f"{number}. {row.work}", BOX - 14, bold=True),
        [line for note in notes for line in wrapped(note, BOX - 14)],
    )


def _fitting(boxes: Sequence[tuple[list[str], list[str]]]) -> list[tuple[list[str], list[str]]]:
    """The first of these boxes, as many as fit a screen."""
    shown, room = [], HIGH - 20
    for heading, notes in boxes:
        room -= 16 + LINE * (len(heading) + len(notes))
        if room < 0:
            break
        shown.append((heading, notes))
    return shown


def _mark(sheet: Drawing, x: float, y: float, b: int, row: Row, title: str) -> None:
    """Where a kernel touches a buffer: round where it only reads, with corners where it writes."""
    letters = ("r" if b in row.reads else "") + ("w" if b in row.writes else "")
    fill, radius = (WRITTEN_FILL, 0) if b in row.writes else (READ_FILL, 8)
    sheet.box(x, y - 8, 24, 16, fill, ARROW, [f"{letters}{b}"], title, radius, size=8.5)
