"""Charts of what computing something would run: kernels in order, their memory, their traffic.

    schedule((a @ b).softmax() @ c)    # kernels in running order, and the buffers between them
    memory(model(images))              # how long values live, and the memory that they share
    traffic((a @ b + c).softmax())     # the bytes that each kernel reads and writes

Nothing runs, and no Tensor changes.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from heapq import nlargest
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

from tinyframe.algebra.access import Access, AccessTable
from tinyframe.device import Buffer, human_bytes
from tinyframe.schedule import kernels_in_slots, share_memory
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.laziness import InPlacePlan, unrealized
from tinyframe.uop.movement import base_of
from tinyframe.uop.node import GroupOp, Ops, UOp, upper
from tinyframe.viz.charts import chart, left_out, name_rows
from tinyframe.viz.drawing import HIGH, colour_of
from tinyframe.viz.kernels import NOTHING, kernels_of
from tinyframe.viz.kinds import ARROW, KINDS, TEXT
from tinyframe.viz.nodes import loops_text, plural, read_by
from tinyframe.viz.picture import Picture
from tinyframe.viz.touched import touch_of
from tinyframe.viz.words import sentence

LINE = 11.0  # points: the height of a line of text
MOST_ROWS, MOST_LANES = 20, 10  # in a picture
LABEL = 60  # characters per line of a kernel's description
READ, WRITTEN = "#e0a83a", "#d9480f"  # visible on a white page and on a dark one
READ_FILL, WRITTEN_FILL = "#ffdf9e", "#fbb9a0"
HELD = "#8fb8de"

Used = TypeVar("Used")  # a buffer, or a number for it


def nothing(headline: str) -> Picture:
    """The picture of an empty schedule."""
    return chart(headline, f"{headline}. {NOTHING}", lambda figure: None, LINE, [NOTHING])


def tensors_in(x: Any, caller: str) -> list[Tensor]:
    tensors = list(x) if isinstance(x, (list, tuple)) else [x]
    if wrong := [type(t).__name__ for t in tensors if not isinstance(t, Tensor)]:
        raise TypeError(f"{caller}() draws a Tensor or a list of them, not {wrong[0]}")
    return tensors


def wrapped(labels: Sequence[str]) -> tuple[list[str], float]:
    """Labels, wrapped, and the row height in points that fits each of them."""
    broken = [textwrap.wrap(label, LABEL) for label in labels]
    return ["\n".join(lines) for lines in broken], max(map(len, broken), default=1) * LINE + 8


def spans_of(uses: Iterable[Iterable[Used]]) -> dict[Used, list[int]]:
    """The numbers of the first and of the last kernel that uses each buffer."""
    spans: dict[Used, list[int]] = {}
    for number, buffers in enumerate(uses):
        for b in buffers:
            spans.setdefault(b, [number, number])[1] = number
    return spans


# ---- kernels in running order --------------------------------------------------------------------


class Row(NamedTuple):
    """A kernel of a schedule. reads, writes: buffer numbers; a buffer may be in both."""

    work: str
    loops: str
    reads: tuple[int, ...]
    writes: tuple[int, ...]

    @property
    def touches(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys((*self.reads, *self.writes)))


def schedule(x: Any) -> Picture:
    """A picture of the kernels that realizing x (a Tensor, a list of them, or ScheduleItems) would
    run. Each row is a kernel. Each vertical line is a buffer, from the first kernel that touches it
    to the last: `w2` where buffer 2 is written, `r2` where it is read.

    Buffers are numbered in the order of their first use; sizes are in bytes. Nothing runs.
    TypeError for anything else.
    """
    buffers: dict[Buffer, int] = {}

    def numbers(found: Iterable[Buffer]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(buffers.setdefault(b, len(buffers)) for b in found))

    rows = [Row(sentence(i.ast), loops_text(i.ast), numbers(read_by(i)), numbers(i.written))
            for i in kernels_of(x, "schedule")]  # fmt: skip
    sizes = [human_bytes(b.nbytes) for b in buffers]
    headline = f"schedule of {plural(len(rows), 'kernel')}, {plural(len(sizes), 'buffer')}"
    if not rows:
        return nothing(headline)
    text = [headline]
    for number, row in enumerate(rows, 1):
        text += [f"{number}. {row.work}", *([f"   loops: {row.loops}"] if row.loops else [])]
        for what, found in (("reads", row.reads), ("writes", row.writes)):
            if found:
                text.append(f"   {what} " + ", ".join(f"{n} ({sizes[n]})" for n in found))
    lanes = lanes_of(rows, MOST_LANES)
    labels, high = wrapped([f"{n}. {row.work}" for n, row in enumerate(rows[:MOST_ROWS], 1)])
    shown = rows[: min(MOST_ROWS, int((HIGH - 60) / high))]

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        title = "kernels, first to last; buffers: r is read, w is written"
        name_rows(axes, title, labels[: len(shown)], xticks=[], xlim=(-0.6, MOST_LANES - 0.4))
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        for b, lane in lanes.items():
            at = [n for n, row in enumerate(rows) if b in row.touches]
            axes.plot([lane, lane], [at[0], at[-1]], "-", color=ARROW, linewidth=1.5, zorder=1)
        for n, row in enumerate(shown):
            for b in row.touches:
                if b in lanes:
                    is_written = b in row.writes
                    letters = "r" * (b in row.reads) + "w" * is_written
                    fill, shape = (WRITTEN_FILL, "square") if is_written else (READ_FILL, "round")
                    look = {"boxstyle": shape, "facecolor": fill, "edgecolor": ARROW}
                    place = {"ha": "center", "va": "center", "clip_on": True}
                    axes.text(lanes[b], n, f"{letters}{b}", color=TEXT, bbox=look, **place)

    drawn = sorted({b for row in shown for b in row.touches if b in lanes})
    notes = [*left_out(len(rows), len(shown), "kernel"),
             "buffers: " + ", ".join(f"{b} ({sizes[b]})" for b in drawn)]  # fmt: skip
    return chart(headline, "\n".join(text), draw, 24 + high * len(shown), notes)


def lanes_of(rows: Sequence[Row], most: int) -> dict[int, int]:
    """The line for each buffer: the first of `most` that is free from its first use to its last. A
    buffer without a free line is left out."""
    free_from = [0] * most
    lanes: dict[int, int] = {}
    for b, (first, last) in spans_of(row.touches for row in rows).items():
        lane = next((n for n in range(most) if free_from[n] <= first), None)
        if lane is not None:
            lanes[b], free_from[lane] = lane, last + 1
    return lanes


# ---- memory --------------------------------------------------------------------------------------


class Value(NamedTuple):
    """first, last: the kernels that make it and that use it last, from 0 on; a result lives to the
    end. memory: the number of the value whose memory it gets with reuse, itself or an earlier
    one."""

    nbytes: int
    first: int
    last: int
    is_result: bool
    memory: int


def memory(x: Any) -> Picture:
    """A picture of the additional memory that realizing x (a Tensor, or a list of them) takes:
    without reuse, with separate memory for every value; and as it really is, where a value takes
    over the memory of one that is no longer needed (`schedule/__init__.py`).

    In bytes. The peak is at the last kernel, because no memory is freed before that. Nothing runs.
    TypeError for anything but Tensors.
    """
    kernels, values = lifetimes_of(tensors_in(x, "memory"))
    if not values:
        return nothing("memory: none")
    before, after = (held(kernels, values, reused) for reused in (False, True))
    what = f"memory for {plural(len(values), 'value')} of {plural(kernels, 'kernel')}"
    headline = f"{what}: {human_bytes(before[-1])}, with reuse {human_bytes(after[-1])}"
    text = [headline]
    for number, v in enumerate(values):
        lives = f"{v.first + 1} " + ("to the end: a result" if v.is_result else f"to {v.last + 1}")
        where = "" if v.memory == number else f", in the memory of value {v.memory}"
        text.append(f"  value {number}: {human_bytes(v.nbytes)}, kernel {lives}{where}")
    for title, peaks in (("without reuse", before), ("with reuse", after)):
        text.append(f"{title}, held at each kernel: {', '.join(map(human_bytes, peaks))}")
    own = list(range(len(values)))
    shown = sorted(nlargest(MOST_ROWS, own, key=lambda n: values[n].nbytes))

    def draw(figure: Any) -> None:
        panels = figure.subplots(2, 2, sharex=True, height_ratios=[15 * len(shown) + 20, 90])
        sides = [("memory of its own for each value", own, before),
                 ("with reuse", [v.memory for v in values], after)]  # fmt: skip
        for column, (title, memories, peaks) in zip(panels.T, sides, strict=True):
            _lifetimes(column[0], title, [(n, values[n], memories[n]) for n in shown], len(own))
            column[1].stairs(peaks, [n + 0.5 for n in range(kernels + 1)], fill=True, color=HELD)
            column[1].set(ylim=(0, 1.25 * max(before[-1], 1)), yticks=[], xlabel="kernel")
            said = f"{human_bytes(peaks[-1])} at the peak"
            column[1].set_title(said, loc="right", y=0.85)
            column[1].xaxis.get_major_locator().set_params(integer=True)

    return chart(headline, "\n".join(text), draw, 150 + 15 * len(shown),
                 left_out(len(own), len(shown), "value"))  # fmt: skip


def _lifetimes(axes: Any, title: str, found: Sequence[tuple[int, Value, int]], count: int) -> None:
    """A row for each piece of memory, with the values that it holds one after another."""
    rows = {memory: n for n, memory in enumerate(dict.fromkeys(m for _, _, m in found))}
    sizes = {m: human_bytes(value.nbytes) for _, value, m in reversed(found)}
    name_rows(axes, title, [sizes[memory] for memory in rows], ylim=(len(found) - 0.4, -0.6))
    for number, v, memory in found:
        edge, width = (KINDS["kernel"].line, 2.0) if v.is_result else (ARROW, 0.75)
        long, place = v.last + 1 - v.first, v.first + 0.5
        axes.barh(rows[memory], long, 0.8, place, color=colour_of(number, count), edgecolor=edge,
                  linewidth=width)  # fmt: skip
        words = f"{number} result" if v.is_result and long > 2 else str(number)
        axes.text(place + long / 2, rows[memory], words, color=TEXT, ha="center", va="center",
                  fontsize=7.5, clip_on=True)  # fmt: skip


def lifetimes_of(tensors: Sequence[Tensor]) -> tuple[int, list[Value]]:
    """The number of kernels, and the values that they make, in running order."""
    if not (roots := unrealized(*tensors)):
        return 0, []
    use = kernels_in_slots(UOp.sink(*InPlacePlan(roots).roots))
    place = share_memory(use.uses, use.temporary)
    spans, made = spans_of(use.uses), set(use.slots[use.given :])
    order = [b for b in spans if b in made]
    numbers = {b: n for n, b in enumerate(order)}
    end = len(use.asts) - 1
    values = []
    for b in order:
        (first, last), is_result = spans[b], b not in use.temporary
        memory = numbers[place.get(b, b)]
        size = b.arg * b.dtype.itemsize
        values.append(Value(size, first, end if is_result else last, is_result, memory))
    return end + 1, values


def held(kernels: int, values: Sequence[Value], reused: bool) -> list[int]:
    """The bytes held while each kernel runs. reused: whether a value may take over the memory of
    another."""
    taken = [0] * kernels
    for number, value in enumerate(values):
        if not reused or value.memory == number:
            taken[value.first] += value.nbytes
    return list(accumulate(taken))


# ---- traffic -------------------------------------------------------------------------------------


class Moved(NamedTuple):
    """The bytes that one kernel moves between memory and the processor."""

    name: str
    read: int
    written: int

    @property
    def total(self) -> int:
        return self.read + self.written


def traffic(x: Any) -> Picture:
    """A picture of the memory traffic of computing x (a Tensor, or a list of them): step by step,
    with a separate kernel for every operation, and fused as it will really be.

    In bytes. An element of memory counts once per kernel that touches it, since repeated accesses
    in a kernel hit the cache. If the elements depend on data, each read counts, up to the size of
    the buffer. Variables count with their largest value. Nothing runs. TypeError for anything but
    Tensors.
    """
    tensors = tensors_in(x, "traffic")
    apart = step_by_step([t.uop for t in tensors])
    items = kernels_of(tensors, "traffic")
    fused = [of_kernel(number, item) for number, item in enumerate(items, 1)]
    if not fused:
        return nothing("traffic: none")
    once, each = sum(m.total for m in fused), sum(m.total for m in apart)
    ratio = f", {each / once:.1f} times as much" if once and each > once else ""
    headline = f"traffic: {in_all(fused)}; step by step {in_all(apart)}{ratio}"
    text = [headline]
    parts = [("step by step", apart), ("fused", fused)]
    for title, moved in parts:
        text += [f"{title}:", *[f"  {m.name}: {moved_text(m)}" for m in moved]]
    shown = [sorted(nlargest(MOST_ROWS // 2, moved, key=lambda m: m.total), key=moved.index)
             for _, moved in parts]  # fmt: skip
    labels = [wrapped([m.name for m in rows]) for rows in shown]
    heights = [len(words) * high + 26 for words, high in labels]
    room = 2 * max([1, *[m.total for m in (*apart, *fused)]])  # leaves room for text after a bar

    def draw(figure: Any) -> None:
        both = figure.subplots(2, sharex=True, height_ratios=heights)
        for axes, (title, moved), rows, (words, _) in zip(both, parts, shown, labels, strict=True):
            name_rows(axes, f"{title}: {in_all(moved)}", words, xlim=(0, room), xticks=[])
            axes.spines["bottom"].set_visible(False)
            for n, m in enumerate(rows):
                axes.barh(n, m.read, 0.6, color=READ, label="read" * (n == 0))
                axes.barh(n, m.written, 0.6, m.read, color=WRITTEN, label="written" * (n == 0))
                axes.text(m.total + room / 100, n, moved_text(m), va="center", fontsize=7.5)

        figure.legend(*both[1].get_legend_handles_labels(), loc="outside upper right", ncols=2)

    notes = [line for (_, moved), rows in zip(parts, shown, strict=True)
             for line in left_out(len(moved), len(rows), "kernel")]  # fmt: skip
    return chart(headline, "\n".join(text), draw, sum(heights) + 20, notes)


def in_all(moved: Sequence[Moved]) -> str:
    return f"{human_bytes(sum(m.total for m in moved))} in {plural(len(moved), 'kernel')}"


def moved_text(m: Moved) -> str:
    return f"reads {human_bytes(m.read)}, writes {human_bytes(m.written)}"


def of_kernel(number: int, item: ScheduleItem) -> Moved:
    """The traffic of a kernel of a schedule."""
    name = f"{number}. {sentence(item.ast)}"
    if item.ast.op is Ops.COPY:
        return Moved(name, item.bufs[1].nbytes, item.bufs[0].nbytes)
    table = AccessTable(item.ast)
    return Moved(name, _bytes_moved(item, table.reads), _bytes_moved(item, table.writes))


def _bytes_moved(item: ScheduleItem, accesses: Sequence[Access]) -> int:
    """The bytes of all elements that some accesses read or write, each counted once."""
    total = 0
    for slot in dict.fromkeys(x.slot for x in accesses):
        buffer, own = item.bufs[slot], [x for x in accesses if x.slot == slot]
        cells = touch_of([x.index for x in own], {r for x in own for r in x.ranges}).cells
        most = min(buffer.size, sum(x.elements for x in own))
        total += (most if cells is None else len(cells)) * buffer.dtype.itemsize
    return total


ALONE = (Ops.REDUCE_AXIS, Ops.SCAN_AXIS, Ops.TAKE, Ops.FETCH, Ops.CONTIGUOUS, Ops.COPY)
IN_NO_MEMORY = (Ops.CONST, Ops.IOTA, Ops.DEVICE, Ops.BIND, Ops.DEFINE_VAR)


def step_by_step(roots: Sequence[UOp]) -> list[Moved]:
    """Every operation of a graph as a kernel that reads its operands from memory and writes its
    result to memory. Movement and constants cause no traffic."""
    moved: list[Moved] = []
    for u in UOp.sink(*roots).toposort(lambda u: u.op is not Ops.BUFFER):
        if u.op not in (*GroupOp.Elementwise, *ALONE) or not _bytes(u):
            continue
        operands: dict[UOp, int] = {}
        for view in dict.fromkeys(u.src):  # a view of a part reads only that part
            if (base := base_of(view)).op not in IN_NO_MEMORY:
                operands[base] = min(_bytes(base), operands.get(base, 0) + _bytes(view))
        if operands:
            kind = {Ops.REDUCE_AXIS: "reduce", Ops.SCAN_AXIS: "scan"}.get(u.op)
            name = f"{u.arg[0].name} {kind}" if kind else u.op.name
            moved.append(Moved(f"{len(moved) + 1}. {name}", sum(operands.values()), _bytes(u)))
    return moved


def _bytes(u: UOp) -> int:
    return math.prod(map(upper, u.shape)) * u.dtype.itemsize
