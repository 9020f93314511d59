"""`memory(x)`: how long each value lives while x is computed, and the memory that it lives in.

    memory(model(images))

On the left every value has memory of its own; on the right, as it really is, a value takes over
memory whose value nobody needs any more (`schedule/__init__.py`). A row is memory, a bar a value,
from the kernel that makes it to the last that reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tinyframe.device import human_bytes
from tinyframe.schedule import memory_use, share_memory
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.laziness import Placed, unrealized
from tinyframe.uop.node import UOp
from tinyframe.viz.cells import colour_of
from tinyframe.viz.drawing import MUTED, PAGE, Drawing, width_of
from tinyframe.viz.kernels import NOTHING
from tinyframe.viz.kinds import ARROW, KINDS
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import DrawnPicture

HALF, LABEL, ROW, CHART = (PAGE - 20) / 2, 62.0, 17.0, 90.0  # points
MOST_ROWS = 24  # of memory; the largest are drawn
AREA = "#8fb8de"  # of the memory that is held
RESULT = KINDS["kernel"].line


@dataclass(frozen=True)
class Value:
    """first, last: the kernels that make it and that use it last, from 0 on; a result lives to the
    end. memory: the number of the value whose memory it has after reuse, its own or an earlier
    one's."""

    nbytes: int
    first: int
    last: int
    is_result: bool
    memory: int


def memory(x: Any) -> DrawnPicture:
    """A picture of the memory that realizing x (a Tensor, or several in a list) takes beside what
    there is already: value by value, before and after reuse.

    In bytes. The peak is what is held when the last kernel runs: memory that was taken is given
    back only then. Nothing runs. TypeError for what is no Tensor.
    """
    tensors = list(x) if isinstance(x, (list, tuple)) else [x]
    if wrong := [type(t).__name__ for t in tensors if not isinstance(t, Tensor)]:
        raise TypeError(f"memory() draws a Tensor or a list of them, not {wrong[0]}")
    kernels, values = lifetimes_of(tensors)
    return _drawn(kernels, values)


def lifetimes_of(tensors: Sequence[Tensor]) -> tuple[int, list[Value]]:
    """How many kernels there are, and the values that they make, in that order."""
    if not (roots := unrealized(*tensors)):
        return 0, []
    use = memory_use(UOp.sink(*Placed(roots).roots))
    place = share_memory(use.uses, use.temporary)
    spans: dict[UOp, list[int]] = {}
    for number, buffers in enumerate(use.uses):
        for b in buffers:
            spans.setdefault(b, [number, number])[1] = number
    made = set(use.made)
    order = [b for b in spans if b in made]
    numbers = {b: n for n, b in enumerate(order)}
    end = len(use.asts) - 1
    values = [
        Value(
            b.arg * b.dtype.itemsize,
            spans[b][0],
            spans[b][1] if b in use.temporary else end,
            b not in use.temporary,
            numbers[place.get(b, b)],
        )
        for b in order
    ]
    return end + 1, values


def held(kernels: int, values: Sequence[Value], reused: bool) -> list[int]:
    """The bytes that are held while each kernel runs. reused: whether a value may take over the
    memory of another."""
    taken = [0] * kernels
    for number, value in enumerate(values):
        if not reused or value.memory == number:
            taken[value.first] += value.nbytes
    return [sum(taken[: n + 1]) for n in range(kernels)]


# ---- the picture ---------------------------------------------------------------------------------


def _drawn(kernels: int, values: Sequence[Value]) -> DrawnPicture:
    if not values:
        sheet = Drawing()
        sheet.words(0, 12, NOTHING, colour=MUTED)
        return DrawnPicture("memory: none", f"memory: none. {NOTHING}", sheet)
    before, after = (held(kernels, values, reused) for reused in (False, True))
    headline = (
        f"memory for {plural(len(values), 'value')} of {plural(kernels, 'kernel')}: "
        f"{human_bytes(before[-1])}, with reuse {human_bytes(after[-1])}"
    )
    text = [headline]
    for number, v in enumerate(values):
        ends = "to the end: a result" if v.is_result else f"to {v.last + 1}"
        where = "" if v.memory == number else f", in the memory of value {v.memory}"
        text.append(
            f"  value {number}: {human_bytes(v.nbytes)}, kernel {v.first + 1} {ends}{where}"
        )
    for title, peaks in (("without reuse", before), ("with reuse", after)):
        text.append(f"{title}, held at each kernel: {', '.join(map(human_bytes, peaks))}")
    sheet = Drawing()
    own = [[number] for number in range(len(values))]
    shared: dict[int, list[int]] = {}
    for number, v in enumerate(values):
        shared.setdefault(v.memory, []).append(number)
    rows = min(len(own), MOST_ROWS)
    top_of_chart = 44 + rows * ROW + (14 if len(own) > MOST_ROWS else 0)
    for left, title, memories, peaks in (
        (0.0, "memory of its own for each value", own, before),
        (HALF + 20, "with reuse", list(shared.values()), after),
    ):
        panel = Drawing()
        _bars(panel, title, memories, values, kernels)
        _chart(panel, top_of_chart, peaks, max(before[-1], 1))
        sheet.put(panel, left, 0)
    return DrawnPicture(headline, "\n".join(text), sheet)


def _bars(
    sheet: Drawing,
    title: str,
    memories: Sequence[Sequence[int]],
    values: Sequence[Value],
    kernels: int,
) -> None:
    """A row for each memory, with the values that live in it one after another."""
    sheet.words(0, 13, title, 13, bold=True, colour=MUTED)
    wide = (HALF - LABEL) / kernels
    every = max(1, -(-22 * kernels // int(HALF - LABEL)))  # kernels whose numbers there is room for
    sheet.words(0, 31, "kernel", colour=MUTED)
    for number in range(0, kernels, every):
        x = LABEL + (number + 0.5) * wide
        sheet.words(x, 31, str(number + 1), 10, anchor="middle", colour=MUTED)
    largest = sorted(memories, key=lambda m: -values[m[0]].nbytes)[:MOST_ROWS]
    shown = [m for m in memories if m in largest]
    for row, numbers in enumerate(shown):
        top = 38 + row * ROW
        size = human_bytes(values[numbers[0]].nbytes)
        sheet.words(LABEL - 6, top + 11, size, 10, anchor="end", colour=MUTED)
        for number in numbers:
            _bar(sheet, top, number, values, wide)
    if rest := [m for m in memories if m not in shown]:
        total = sum(values[m[0]].nbytes for m in rest)
        more = f"and {plural(len(rest), 'row')} more, {human_bytes(total)}"
        sheet.words(LABEL, 38 + len(shown) * ROW + 11, more, colour=MUTED)


def _bar(sheet: Drawing, top: float, number: int, values: Sequence[Value], wide: float) -> None:
    v = values[number]
    x, width = LABEL + v.first * wide, (v.last + 1 - v.first) * wide - 1
    names = (f"{number} result", f"{number} R", str(number)) if v.is_result else (str(number),)
    words = [[name] for name in names if width_of(name, 9.5) < width - 2]
    title = f"value {number}, {human_bytes(v.nbytes)}"
    fill = colour_of(number, len(values))
    line, thick = (RESULT, 2) if v.is_result else (ARROW if width > 6 else fill, 0.75)
    sheet.box(
        x, top, width, ROW - 3, fill, line, words[0] if words else (), title, 2, thick, size=9.5
    )


def _chart(sheet: Drawing, top: float, peaks: Sequence[int], largest: int) -> None:
    """The bytes held while each kernel runs, as steps."""
    wide, end = (HALF - LABEL) / len(peaks), top + CHART
    corners = [(LABEL, end)]
    for number, size in enumerate(peaks):
        y = end - (CHART - 14) * size / largest
        corners += [(LABEL + number * wide, y), (LABEL + (number + 1) * wide, y)]
    sheet.area([*corners, (HALF, end)], AREA)
    sheet.line([(LABEL, end), (HALF, end)])
    y = end - (CHART - 14) * peaks[-1] / largest
    said = f"{human_bytes(peaks[-1])} at the peak"
    sheet.words(HALF, y - 4, said, bold=True, anchor="end", colour=MUTED)
    sheet.words(LABEL - 6, end, "held", 10, anchor="end", colour=MUTED)
