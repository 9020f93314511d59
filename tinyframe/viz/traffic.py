"""`traffic(x)`: the bytes that each kernel reads and writes, as widths of arrows; and what they would
be if every operation had a kernel of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tinyframe.algebra.access import AccessTable
from tinyframe.device import human_bytes
from tinyframe.schedule.item import ScheduleItem
from tinyframe.tensor.core import Tensor
from tinyframe.uop.movement import base_of
from tinyframe.uop.node import GroupOp, Ops, UOp
from tinyframe.viz.drawing import MUTED, Drawing, width_of
from tinyframe.viz.kinds import KINDS
from tinyframe.viz.nodes import loops_text, plural, work_text
from tinyframe.viz.picture import DrawnPicture

WIDEST, NARROWEST = 30.0, 1.5  # points, of an arrow
MOST_ROWS = 40


@dataclass(frozen=True)
class Moved:
    """What one kernel moves between memory and the processor, in bytes."""

    name: str
    note: str
    read: int
    written: int

    @property
    def total(self) -> int:
        return self.read + self.written


def traffic(x: Tensor) -> DrawnPicture:
    """A picture of the memory traffic of computing x: fused as it will be, and step by step.

    Each element of memory counts once for each kernel that touches it: what comes out of a cache
    within a kernel does not count. A value that is in memory already needs nothing.
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"traffic() draws a Tensor, not {type(x).__name__}")
    steps = _step_by_step(x.uop)  # before schedule(), after which x is a buffer
    fused = [_of_kernel(number, item) for number, item in enumerate(x.schedule(), 1)]
    once, apart = sum(m.total for m in fused), sum(m.total for m in steps)
    ratio = f", {apart / once:.1f} times as much" if once else ""
    headline = (
        f"traffic: {human_bytes(once)} in {plural(len(fused), 'kernel')}; step by step "
        f"{human_bytes(apart)} in {len(steps)}{ratio}"
    )
    largest = max([1, *[max(m.read, m.written) for m in (*fused, *steps)]])
    sheet = Drawing()
    left = _column(sheet, "step by step", steps, 0, largest)
    _column(sheet, "fused", fused, left + 40, largest)
    text = [headline]
    for title, kernels in (("step by step", steps), ("fused", fused)):
        text.append(f"{title}:")
        text += [
            f"  {m.name}: reads {human_bytes(m.read)}, writes {human_bytes(m.written)}"
            for m in kernels
        ]
    return DrawnPicture(headline, "\n".join(text), sheet)


def _of_kernel(number: int, item: ScheduleItem) -> Moved:
    if item.ast.op is Ops.COPY:
        return Moved(f"{number}. copy", "", item.bufs[1].nbytes, item.bufs[0].nbytes)
    table = AccessTable(item.ast)
    read: dict[int, int] = {}
    for x in table.reads:  # several places may read the same buffer
        whole = item.bufs[x.slot].nbytes
        read[x.slot] = min(whole, read.get(x.slot, 0) + x.elements * x.itemsize)
    written = sum(w.elements * w.itemsize for w in table.writes)
    return Moved(
        f"{number}. {work_text(item.ast)}", loops_text(item.ast), sum(read.values()), written
    )


def _step_by_step(root: UOp) -> list[Moved]:
    """Every operation of a graph as a kernel that reads its operands from memory."""
    moved = []
    for u in root.toposort(lambda u: u.op is not Ops.BUFFER):
        if u.op not in (*GroupOp.Elementwise, Ops.REDUCE_AXIS, Ops.CONTIGUOUS) or not u.shape:
            continue
        operands = dict.fromkeys(base_of(s) for s in u.src)
        if all(s.op is Ops.CONST for s in operands):
            continue
        read = sum(s.size * s.dtype.itemsize for s in operands if s.op is not Ops.CONST)
        name = u.arg[0].name if u.op is Ops.REDUCE_AXIS else u.op.name
        note = "reduce" if u.op is Ops.REDUCE_AXIS else ""
        moved.append(Moved(f"{len(moved) + 1}. {name} {note}".rstrip(), "", read, u.size * u.dtype.itemsize))
    return moved


def _column(
    sheet: Drawing, title: str, kernels: Sequence[Moved], left: float, largest: int
) -> float:
    """One kernel below the other, between what it reads and what it writes; gives the right edge."""
    total = sum(m.total for m in kernels)
    sheet.words(left, 12, title, 13, bold=True, colour=MUTED)
    about = f"{human_bytes(total)} in {plural(len(kernels), 'kernel')}"
    sheet.words(left + width_of(title, 13, bold=True) + 8, 12, about, colour=MUTED)
    look = KINDS["kernel"]
    shown = list(kernels[:MOST_ROWS])
    width = max([90.0, *[width_of(m.name) + 20 for m in shown], *[width_of(m.note) + 20 for m in shown]])
    middle, top = left + 110, 24.0
    for m in shown:
        words = [m.name, *([m.note] if m.note else [])]
        height = max(15.0 * len(words) + 8, _wide(m.read, largest) + 4, _wide(m.written, largest) + 4)
        y = top + height / 2
        _arrow(sheet, middle - 60, middle - 4, y, m.read, largest, "#ffdf9e", f"reads {human_bytes(m.read)}")
        sheet.words(middle - 64, y + 4, human_bytes(m.read), anchor="end", colour=MUTED)
        sheet.box(middle, top, width, height, look.fill, look.line, words, thick=1.5)
        end = middle + width + 4
        _arrow(sheet, end, end + 56, y, m.written, largest, "#fbb9a0", f"writes {human_bytes(m.written)}")
        sheet.words(end + 62, y + 4, human_bytes(m.written), colour=MUTED)
        top += height + 8
    if len(kernels) > len(shown):
        more = f"and {plural(len(kernels) - len(shown), 'kernel')} more"
        sheet.words(middle, top + 12, more, colour=MUTED)
    return middle + width + 130


def _wide(size: int, largest: int) -> float:
    return max(NARROWEST, WIDEST * size / largest)


def _arrow(
    sheet: Drawing, start: float, end: float, y: float, size: int, largest: int, fill: str, said: str
) -> None:
    """An arrow as wide as its bytes."""
    half = _wide(size, largest) / 2
    head = min(half + 6, 16)
    neck = end - head
    sheet.area(
        [(start, y - half), (neck, y - half), (neck, y - half - 4), (end, y), (neck, y + half + 4),
         (neck, y + half), (start, y + half)], fill, said)  # fmt: skip
