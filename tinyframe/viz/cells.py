"""`memory_layout(x)`: the cell of memory behind each element of a view, movement op by movement op.

    x = Tensor.arange(6).reshape(2, 3).realize()
    memory_layout(x.permute(1, 0).flip(0))

The cells of memory are numbered, and each keeps its colour in every view. NumPy applies the
movement ops to an array of these numbers; the compiler's rules are not involved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.show import sizes_text
from tinyframe.viz.drawing import PAGE, Drawing, colour_of, width_of
from tinyframe.viz.kinds import ARROW
from tinyframe.viz.nodes import ordinal, plural
from tinyframe.viz.picture import DrawnPicture

CELL_HEIGHT = 18.0  # points
GAP = 30.0  # points between two views, for an arrow
PER_ROW = 24  # cells drawn side by side
MOST_ROWS, MOST_BLOCKS = 12, 8  # rows per matrix, and matrices: the eye can't take in more
MOST_CELLS = 1 << 20  # per view; a smaller one shows the same
NOWHERE = -1  # the number of an element of a PAD's padding: it is in no cell

Numbers = np.ndarray

# Each movement op on an array of cell numbers.
ON_CELLS: dict[Ops, Callable[[Numbers, Any], Numbers]] = {
    Ops.RESHAPE: lambda cells, shape: cells.reshape(shape),
    Ops.PERMUTE: lambda cells, axes: cells.transpose(axes),
    Ops.EXPAND: lambda cells, shape: np.broadcast_to(cells, shape),
    Ops.FLIP: lambda cells, flips: cells[tuple(slice(None, None, 1 - 2 * f) for f in flips)],
    Ops.SHRINK: lambda cells, bounds: cells[tuple(slice(a, b) for a, b in bounds)],
    Ops.PAD: lambda cells, room: np.pad(cells, room, constant_values=NOWHERE),
    Ops.WINDOW: lambda cells, arg: _windows(cells, *arg),
}


class View(NamedTuple):
    """The call that made the view, as one writes it, and the cell of each element."""

    call: str
    cells: Numbers


def _windows(cells: Numbers, axis: int, size: int, stride: int, dilation: int) -> Numbers:
    reach = (size - 1) * dilation + 1
    found = np.lib.stride_tricks.sliding_window_view(cells, reach, axis)
    places = [slice(None)] * found.ndim
    places[axis], places[-1] = slice(None, None, stride), slice(None, None, dilation)
    return found[tuple(places)]


def memory_layout(x: Tensor | UOp) -> DrawnPicture:
    """A picture of memory, and below it of each view on the way from there to x, cell by cell.

    If x has to be computed, the memory is that of the result of its last operation. Cells that the
    last view does not show are grey in memory. Only the first rows and columns of large views are
    drawn. Nothing runs. TypeError for anything but a Tensor or UOp, ValueError for symbolic sizes,
    and for more than a million elements.
    """
    u = x.uop if isinstance(x, Tensor) else x
    if not isinstance(u, UOp):
        raise TypeError(f"memory_layout() draws a Tensor or a UOp, not {type(x).__name__}")
    steps: list[UOp] = []
    while u.op in ON_CELLS or u.op is Ops.DETACH:
        steps[:0] = [] if u.op is Ops.DETACH else [u]
        u = u.src[0]
    if any(not isinstance(size, int) for step in (u, *steps) for size in step.shape):
        raise ValueError("memory_layout() needs sizes that are numbers; one of these is a Variable")
    if (largest := max(math.prod(step.shape) for step in (u, *steps))) > MOST_CELLS:
        raise ValueError(f"memory_layout() draws up to {MOST_CELLS:,} elements, not {largest:,}")
    views, dtype = views_of(u, steps), u.dtype.name
    count = views[0].cells.size
    used = set(views[-1].cells.ravel().tolist())
    owner = "" if u.op is Ops.BUFFER else f", once {u.op.name} is computed"
    sheet = Drawing()
    left = top = row_end = 0.0
    lines = []
    for n, view in enumerate(views):  # in rows, with an arrow from each to the next
        notes = [f"of {dtype}{owner}"] if n == 0 else about(view.cells)
        panel = _panel(view, notes, count, used)
        if left and left + GAP + panel.width > PAGE:
            left, top = 0.0, row_end + 16
        if n:
            sheet.line([(left + 4, top + 9), (left + GAP - 6, top + 9)], width=1.5, arrow=True)
            left += GAP
        sheet.put(panel, left, top)
        left, row_end = left + panel.width, max(row_end, top + panel.height)
        lines += [f"{view.call}: {', '.join(notes)}"]
        lines += [f"  {row}" for row in written(view.cells).splitlines()]
    shape = views[-1].cells.shape
    headline = f"memory layout: {plural(count, 'cell')} of {dtype}, seen as {shape}"
    return DrawnPicture(headline, "\n".join([headline, *lines]), sheet)


def views_of(base: UOp, steps: Sequence[UOp]) -> list[View]:
    """The views on the way from a value to the last of these movement ops, each with the cells of
    its elements.

    A RESHAPE that only adds or drops axes of one element is shown with the view before it.
    """
    count = math.prod(base.shape)
    views = [View(f"{plural(count, 'cell')} of memory", np.arange(count))]
    cells = views[0].cells.reshape(base.shape)
    for step in steps:
        before, cells = cells, ON_CELLS[step.op](cells, step.arg)
        long, was = ([size for size in c.shape if size != 1] for c in (cells, before))
        if step.op is Ops.RESHAPE and len(views) > 1 and long == was:
            views[-1] = View(views[-1].call, cells)
        else:
            views.append(View(call_of(step), cells))
    if len(views) == 1 and len(base.shape) != 1:
        views.append(View("its shape", cells))
    return views


def call_of(step: UOp) -> str:
    """A step as one writes it in Python: `permute(1, 0)`."""
    if step.op is Ops.FLIP:
        return f"flip({', '.join(str(i) for i, yes in enumerate(step.arg) if yes)})"
    if step.op is Ops.WINDOW:
        axis, size, stride, dilation = step.arg
        if size == 1:
            return f"every {ordinal(stride)} along axis {axis}"
        return f"windows of {size} along axis {axis}, stride {stride}, dilation {dilation}"
    if step.op is Ops.SHRINK:
        return f"[{', '.join(f'{a}:{b}' for a, b in step.arg)}]"
    return f"{step.op.name.lower()}{sizes_text(tuple(step.arg))}"


def strides_of(cells: Numbers) -> tuple[int | None, ...]:
    """The distance in cells from one element to the next along each axis; 0 for an axis of size 1.
    None if it varies: no stride describes such a view."""

    def step(axis: int) -> int | None:
        rows = np.moveaxis(cells, axis, 0)
        later, sooner = rows[1:], rows[:-1]
        found = np.unique((later - sooner)[(later >= 0) & (sooner >= 0)])
        return None if len(found) > 1 else int(found.sum())

    return tuple(map(step, range(cells.ndim)))


def about(cells: Numbers) -> list[str]:
    """The lines that describe a view."""
    steps = ["none" if s is None else str(s) for s in strides_of(cells)]
    strides = f"strides ({', '.join(steps)}{',' if len(steps) == 1 else ''})"
    lines = [f"shape {cells.shape}", strides]
    found, times = np.unique(cells[cells >= 0], return_counts=True)
    if len(times) and times.max() > 1:
        each = "each cell" if times.min() == times.max() else "a cell up to"
        lines.append(f"{each} {times.max()} times")
    if made := int((cells == NOWHERE).sum()):
        lines.append(f"{plural(made, 'element')} of padding: 0, in no cell")
    return lines


def written(cells: Numbers) -> str:
    """Cells in nested brackets, whatever NumPy's print options are."""
    width = len(str(cells.max(initial=0)))
    words = {"int": lambda cell: ("·" if cell == NOWHERE else str(cell)).rjust(width)}
    return np.array2string(cells, 100, threshold=1000, edgeitems=3, formatter=words)  # type: ignore


# ---- the picture ---------------------------------------------------------------------------------


def _panel(view: View, notes: Sequence[str], count: int, used: set[int]) -> Drawing:
    """A view below its call: matrices of the last two axes, side by side; with fewer axes, in lines
    as long as there is room for."""
    sheet, cells = Drawing(), view.cells
    top = sheet.paragraph(0, 1, view.call, 190, bold=True)
    for note in notes:
        top = sheet.paragraph(0, top, note, 210)
    top += 6
    width = max(CELL_HEIGHT, width_of(str(max(count - 1, 0))) + 8)
    most = min(PER_ROW, int((PAGE - GAP) / width))
    if cells.ndim < 2:
        flat = cells.reshape(-1)
        blocks, columns = [[flat[i : i + most] for i in range(0, len(flat), most)]], most
    else:
        matrices = cells.reshape((-1, *cells.shape[-2:])) if cells.size else cells[:0]
        blocks, columns = [list(matrix) for matrix in matrices], cells.shape[-1]
    rows = max(map(len, blocks), default=0)
    left, high = 0.0, min(rows, MOST_ROWS) * CELL_HEIGHT
    for block in blocks[:MOST_BLOCKS]:
        wide = min(columns, most) * width
        if left and left + wide > PAGE * 0.8:
            left, top = 0.0, top + high + 8
        for number, row in enumerate(block[:MOST_ROWS]):
            for place, cell in enumerate(row[:most].tolist()):
                is_made = cell == NOWHERE
                words, fill = ("·", "#f4f4f4") if is_made else (str(cell), "#e4e4e4")
                fill = colour_of(cell, count) if cell in used and not is_made else fill
                corner = left + place * width, top + number * CELL_HEIGHT
                sheet.box(*corner, width, CELL_HEIGHT, fill, ARROW, [words], radius=0, thick=0.75,
                          dashed=is_made)  # fmt: skip
        left += wide + 8
    top += high
    for number, one, many in ((columns - most, "column", "columns"),
                              (rows - MOST_ROWS, "row", "rows"),
                              (len(blocks) - MOST_BLOCKS, "matrix", "matrices")):  # fmt: skip
        if number > 0:
            words = f"and {number:,} {one if number == 1 else many} more"
            top = sheet.paragraph(0, top, words, PAGE)
    if not cells.size:
        sheet.paragraph(0, top, "no elements", PAGE)
    return sheet
