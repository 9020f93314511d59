"""`memory_layout(x)`: which cell of memory each element of a view is, one movement op after another.

    x = Tensor.arange(6).reshape(2, 3).realize()
    memory_layout(x.permute(1, 0).flip(0))

The cells of memory are numbered, and each has a colour of its own that it keeps in every view. The
movement ops are played on the numbers with NumPy, not with the compiler's rules.
"""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from typing import Any

import numpy as np

from tinyframe.tensor.core import Tensor
from tinyframe.uop.node import GroupOp, Ops, UOp
from tinyframe.uop.show import sizes_text
from tinyframe.viz.drawing import MUTED, Drawing, width_of
from tinyframe.viz.kinds import ARROW
from tinyframe.viz.nodes import plural
from tinyframe.viz.picture import DrawnPicture

CELL_HEIGHT = 20  # points
MOST_CELLS = 512  # in a view: more are not told apart by eye
PER_ROW = 24  # cells of memory
NOWHERE = -1  # the number of an element that PAD made: no cell holds it

Numbers = np.ndarray

# What each movement op does to an array of cell numbers.
PLAYED: dict[Ops, Callable[[Numbers, Any], Numbers]] = {
    Ops.RESHAPE: lambda cells, shape: cells.reshape(shape),
    Ops.PERMUTE: lambda cells, axes: cells.transpose(axes),
    Ops.EXPAND: lambda cells, shape: np.broadcast_to(cells, shape),
    Ops.FLIP: lambda cells, flips: np.flip(cells, [i for i, yes in enumerate(flips) if yes]),
    Ops.SHRINK: lambda cells, bounds: cells[tuple(slice(a, b) for a, b in bounds)],
    Ops.PAD: lambda cells, room: np.pad(cells, room, constant_values=NOWHERE),
}


def _windows(cells: Numbers, arg: tuple[int, int, int, int]) -> Numbers:
    axis, size, stride, dilation = arg
    reach = (size - 1) * dilation + 1
    found = np.lib.stride_tricks.sliding_window_view(cells, reach, axis)
    places = [slice(None)] * found.ndim
    places[axis], places[-1] = slice(None, None, stride), slice(None, None, dilation)
    return found[tuple(places)]


PLAYED[Ops.WINDOW] = _windows


def memory_layout(x: Tensor | UOp) -> DrawnPicture:
    """A picture of memory, and below it of each view on the way from there to x, cell by cell.

    Where x is computed, the memory is the one that its operand would have. Of large views the first
    rows and columns are drawn. TypeError for what is no Tensor or UOp, ValueError for a shape whose
    size is not known yet, and for views without an element.
    """
    u = x.uop if isinstance(x, Tensor) else x
    if not isinstance(u, UOp):
        raise TypeError(f"memory_layout() draws a Tensor or a UOp, not {type(x).__name__}")
    steps: list[UOp] = []
    while u.op in PLAYED or u.op is Ops.DETACH:
        steps.append(u)
        u = u.src[0]
    steps = [s for s in reversed(steps) if s.op is not Ops.DETACH]
    if any(not isinstance(size, int) for step in (u, *steps) for size in step.shape):
        raise ValueError("memory_layout() needs sizes that are numbers; one of these is a Variable")
    cells = np.arange(u.size).reshape(u.shape)
    if not u.size or not all(step.size for step in steps):
        raise ValueError(f"there is no element to draw in a view of shape {steps[-1].shape}")
    views = [(_call_of(step), cells := PLAYED[step.op](cells, step.arg)) for step in steps]
    return _drawn(u, views)


def _call_of(step: UOp) -> str:
    """A step as it is written in Python: `permute(1, 0)`."""
    if step.op is Ops.FLIP:
        axes = ", ".join(str(i) for i, yes in enumerate(step.arg) if yes)
        return f"flip({axes})"
    return f"{step.op.name.lower()}{sizes_text(tuple(step.arg))}"


def steps_of(cells: Numbers) -> tuple[int | None, ...]:
    """How many cells farther the next element lies along each axis: the strides. None where that
    is not the same everywhere."""

    def step(axis: int) -> int | None:
        pairs = np.diff(cells, axis=axis)[(cells >= 0).take(range(1, cells.shape[axis]), axis)
                                          & (cells >= 0).take(range(cells.shape[axis] - 1), axis)]  # fmt: skip
        found = np.unique(pairs)
        return 0 if len(found) == 0 else int(found[0]) if len(found) == 1 else None

    return tuple(step(axis) for axis in range(cells.ndim))


def colour_of(number: int, count: int) -> str:
    """The colour of a cell: the rainbow, light enough for dark words."""
    red, green, blue = colorsys.hls_to_rgb(0.85 * number / max(count, 1), 0.84, 0.75)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def _drawn(base: UOp, views: list[tuple[str, Numbers]]) -> DrawnPicture:
    sheet = Drawing()
    shown = views[-1][1] if views else np.arange(base.size)
    used = set(shown.ravel().tolist())
    where = "memory" if base.op is Ops.BUFFER else f"memory, once {base.op.name} is computed"
    lines = [f"{where}: {plural(base.size, 'cell')} of {base.dtype.name}"]
    top = _labelled(sheet, 0, where, f"{plural(base.size, 'cell')} of {base.dtype.name}")
    strip = np.arange(base.size)
    top = _grid(sheet, strip, top, base.size, used)
    for name, cells in views:
        strides = sizes_text(tuple("?" if s is None else s for s in steps_of(cells))).replace("'", "")
        about = f"shape {cells.shape}, strides {strides}"
        top = _labelled(sheet, top + 12, name, about)
        top = _grid(sheet, cells, top, base.size, used)
        lines += [f"{name}: {about}", *[f"  {row}" for row in str(cells).splitlines()]]
    headline = f"memory layout: {plural(base.size, 'cell')}, seen as {shown.shape}"
    return DrawnPicture(headline, "\n".join([headline, *lines]), sheet)


def _labelled(sheet: Drawing, top: float, name: str, about: str) -> float:
    """A heading; gives where what it is about begins."""
    sheet.words(0, top + 11, name, bold=True, colour=MUTED)
    sheet.words(width_of(name, bold=True) + 8, top + 11, about, colour=MUTED)
    return top + 18


def _grid(sheet: Drawing, cells: Numbers, top: float, count: int, used: set[int]) -> float:
    """Cells as matrices of the last two axes, beside one another; gives where they end."""
    width = max(20.0, width_of(str(count - 1)) + 8)
    if cells.ndim < 2:
        flat = cells.reshape(-1)
        rows = [flat[i : i + PER_ROW] for i in range(0, min(len(flat), MOST_CELLS), PER_ROW)]
        for number, row in enumerate(rows):
            _row(sheet, row, 0, top + number * CELL_HEIGHT, width, count, used)
        return top + len(rows) * CELL_HEIGHT
    blocks = cells.reshape((-1, *cells.shape[-2:]))[:, :16, :PER_ROW]
    left, high = 0.0, blocks.shape[1] * CELL_HEIGHT
    for block in blocks[: max(1, MOST_CELLS // blocks[0].size)]:
        if left and left + block.shape[1] * width > PER_ROW * 24:
            left, top = 0.0, top + high + 8
        for number, row in enumerate(block):
            _row(sheet, row, left, top + number * CELL_HEIGHT, width, count, used)
        left += block.shape[1] * width + 10
    return top + high


def _row(
    sheet: Drawing, row: Numbers, left: float, top: float, width: float, count: int, used: set[int]
) -> None:
    for place, cell in enumerate(row.tolist()):
        x = left + place * width
        if cell == NOWHERE:
            sheet.box(x, top, width, CELL_HEIGHT, "#f7f7f7", radius=0, dashed=True)
        else:
            fill = colour_of(cell, count) if cell in used else "#ececec"
            sheet.box(x, top, width, CELL_HEIGHT, fill, ARROW, [str(cell)], radius=0)
