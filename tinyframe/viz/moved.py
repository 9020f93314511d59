"""`traffic(x)`: the bytes that each kernel reads and writes, as widths of arrows; and what they
would be if every operation had a kernel of its own.

    traffic((a @ b + c).softmax())
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tinyframe.algebra.access import AccessTable
from tinyframe.device import human_bytes
from tinyframe.schedule.item import ScheduleItem
from tinyframe.tensor.core import Tensor
from tinyframe.uop.movement import base_of
from tinyframe.uop.node import GroupOp, Ops, UOp, most
from tinyframe.viz.drawing import HIGH, MUTED, PAGE, Drawing, width_of, wrapped
from tinyframe.viz.kernels import NOTHING, kernels_of, work_of
from tinyframe.viz.kinds import ARROW, KINDS
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import DrawnPicture
from tinyframe.viz.played import NotPlayed, elements_named

READ, WRITTEN = "#e0a83a", "#d9480f"  # of arrows: they are seen on a white page and on a dark one
WIDEST, NARROWEST, LONG = 26.0, 1.5, 44.0  # points, of an arrow
SPACE = 7.0  # points, from one kernel to the next


@dataclass(frozen=True)
class Moved:
    """What one kernel moves between memory and the processor, in bytes."""

    name: str
    read: int
    written: int

    @property
    def total(self) -> int:
        return self.read + self.written


def traffic(x: Any) -> DrawnPicture:
    """A picture of the memory traffic of computing x (a Tensor, or several in a list): step by
    step, and fused as it will be.

    In bytes. Each element of memory counts once for each kernel that touches it: what comes from a
    cache within a kernel does not count. Where it depends on values which elements these are, as
    many count as there are reads, up to all of them. Variables count as the largest they can be.
    Nothing runs. TypeError for what is no Tensor.
    """
    tensors = list(x) if isinstance(x, (list, tuple)) else [x]
    if wrong := [type(t).__name__ for t in tensors if not isinstance(t, Tensor)]:
        raise TypeError(f"traffic() draws a Tensor or a list of them, not {wrong[0]}")
    apart = step_by_step([t.uop for t in tensors])
    items = kernels_of(tensors, "traffic")
    return _drawn(apart, [of_kernel(number, item) for number, item in enumerate(items, 1)])


def of_kernel(number: int, item: ScheduleItem) -> Moved:
    """What a kernel of a schedule moves."""
    name = f"{number}. {work_of(item.ast)}"
    if item.ast.op is Ops.COPY:
        return Moved(name, item.bufs[1].nbytes, item.bufs[0].nbytes)
    table = AccessTable(item.ast)
    return Moved(
        name,
        _bytes_named(item, [(x.index, x.elements) for x in table.reads]),
        _bytes_named(item, [(x.index, x.elements) for x in table.writes]),
    )


def _bytes_named(item: ScheduleItem, accesses: Sequence[tuple[UOp, int]]) -> int:
    """The bytes of all elements that INDEXes name, each once. accesses: these, and how often each
    is used."""
    by_slot: dict[int, list[tuple[UOp, int]]] = {}
    for index, times in accesses:
        by_slot.setdefault(index.src[0].arg, []).append((index, times))
    total = 0
    for slot, places in by_slot.items():
        buffer = item.bufs[slot]
        ranges = {r for place, _ in places for r in place.ranges}
        try:
            count = len(elements_named([place for place, _ in places], ranges))
        except NotPlayed:
            count = min(buffer.size, sum(times for _, times in places))
        total += count * buffer.dtype.itemsize
    return total


def step_by_step(roots: Sequence[UOp]) -> list[Moved]:
    """Every operation of a graph as a kernel that reads its operands from memory and writes its
    result to it. Movement and constants need no memory traffic."""
    moved: list[Moved] = []
    sorted_roots = [root.toposort(lambda u: u.op is not Ops.BUFFER) for root in roots]
    for u in dict.fromkeys(u for order in sorted_roots for u in order):
        if u.op not in (*GroupOp.Elementwise, *ALONE) or not _bytes(u):
            continue
        operands: dict[UOp, int] = {}
        for view in dict.fromkeys(u.src):  # of a part of something only that part is read
            if (base := base_of(view)).op not in IN_NO_MEMORY:
                operands[base] = min(_bytes(base), operands.get(base, 0) + _bytes(view))
        if operands:
            name = f"{u.arg[0].name} reduce" if u.op is Ops.REDUCE_AXIS else u.op.name
            moved.append(Moved(f"{len(moved) + 1}. {name}", sum(operands.values()), _bytes(u)))
    return moved


ALONE = (Ops.REDUCE_AXIS, Ops.CONTIGUOUS, Ops.COPY)
IN_NO_MEMORY = (Ops.CONST, Ops.IOTA, Ops.DEVICE, Ops.BIND, Ops.DEFINE_VAR)


def _bytes(u: UOp) -> int:
    size = 1
    for length in u.shape:
        size *= most(length)
    return size * u.dtype.itemsize


# ---- the picture ---------------------------------------------------------------------------------


def _drawn(apart: Sequence[Moved], fused: Sequence[Moved]) -> DrawnPicture:
    if not fused:
        sheet = Drawing()
        sheet.words(0, 12, NOTHING, colour=MUTED)
        return DrawnPicture("traffic: none", f"traffic: none. {NOTHING}", sheet)
    once, each = sum(m.total for m in fused), sum(m.total for m in apart)
    ratio = f", {each / once:.1f} times as much" if once and each > once else ""
    headline = (
        f"traffic: {human_bytes(once)} in {plural(len(fused), 'kernel')}; step by step "
        f"{human_bytes(each)} in {plural(len(apart), 'kernel')}{ratio}"
    )
    largest = max(1, *[max(m.read, m.written) for m in (*fused, *apart)])
    sheet, half = Drawing(), (PAGE - 20) / 2
    columns = (("step by step", apart), ("fused", fused))
    text = [headline]
    for n, (title, kernels) in enumerate(columns):
        _column(sheet, title, kernels, n * (half + 20), half, largest)
        text.append(f"{title}:")
        text += [
            f"  {m.name}: reads {human_bytes(m.read)}, writes {human_bytes(m.written)}"
            for m in kernels
        ]
    return DrawnPicture(headline, "\n".join(text), sheet)


def _column(
    sheet: Drawing, title: str, kernels: Sequence[Moved], left: float, width: float, largest: int
) -> None:
    """One kernel below the other, between what it reads and what it writes."""
    total = human_bytes(sum(m.total for m in kernels))
    sheet.words(left, 13, title, 13, bold=True, colour=MUTED)
    about = f"{total} in {plural(len(kernels), 'kernel')}"
    sheet.words(left + width_of(title, 13, bold=True) + 8, 13, about, colour=MUTED)
    labels = [human_bytes(size) for m in kernels for size in (m.read, m.written)]
    label = max([width_of("reads"), *map(width_of, labels)])
    side = label + 6 + LONG + 4  # of a kernel's box, on both sides
    sheet.words(left + label, 34, "reads", anchor="end", colour=MUTED)
    sheet.words(left + width - label, 34, "writes", colour=MUTED)
    heights, names = [], []
    for m in kernels:
        names.append(wrapped(m.name, width - 2 * side - 10, 10))
        arrows = max(_wide(m.read, largest), _wide(m.written, largest)) + 4
        heights.append(max(12.4 * len(names[-1]) + 8, arrows) + SPACE)
    shown = fitting([m.total for m in kernels], heights, HIGH - 42)
    top = 42.0
    for n in shown:
        m, height = kernels[n], heights[n] - SPACE
        y = top + height / 2
        sheet.words(left + label, y + 4, human_bytes(m.read), anchor="end", colour=MUTED)
        _arrow(sheet, left + label + 6, y, m.read, largest, READ)
        look = KINDS["kernel"]
        sheet.box(
            left + side, top, width - 2 * side, height, look.fill, look.line, names[n], size=10
        )
        _arrow(sheet, left + width - side + 4, y, m.written, largest, WRITTEN)
        sheet.words(left + width - label, y + 4, human_bytes(m.written), colour=MUTED)
        top += height + SPACE
    if left_out := len(kernels) - len(shown):
        rest = sum(m.total for m in kernels) - sum(kernels[n].total for n in shown)
        more = f"and {plural(left_out, 'kernel')} that move less, {human_bytes(rest)}"
        sheet.words(left + width / 2, top + 12, more, anchor="middle", colour=MUTED)


def fitting(sizes: Sequence[int], heights: Sequence[float], room: float) -> list[int]:
    """The largest ones for which there is room, in their order."""
    shown: list[int] = []
    for n in sorted(range(len(sizes)), key=lambda n: -sizes[n]):
        if heights[n] > room:
            break
        room -= heights[n]
        shown.append(n)
    return sorted(shown)


def _wide(size: int, largest: int) -> float:
    return max(NARROWEST, WIDEST * size / largest)


def _arrow(sheet: Drawing, start: float, y: float, size: int, largest: int, fill: str) -> None:
    """An arrow as wide as its bytes; where there are none, a thin dashed line."""
    if not size:
        sheet.line([(start, y), (start + LONG, y)], ARROW, dashed=True)
        return
    half, end = _wide(size, largest) / 2, start + LONG
    neck = end - min(half + 6, 16)
    sheet.area(
        [(start, y - half), (neck, y - half), (neck, y - half - 3), (end, y), (neck, y + half + 3),
         (neck, y + half), (start, y + half)], fill)  # fmt: skip
