"""`access(x)`: which elements of its arguments a kernel touches in one turn of its inner loops.

From left to right, more of the loops run: one element, one vector, one register tile, all of a
reduce, all that one core does. Each row is an argument, drawn as the matrix that it is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tinyframe.codegen import Compilation, get_program, scheduled_kernel
from tinyframe.codegen.optimize.loops import Opt, OptOps, apply_opts
from tinyframe.device import Device
from tinyframe.uop.node import AxisType, Ops, UOp
from tinyframe.uop.range import is_symbolic, kind, length
from tinyframe.viz.drawing import MUTED, Drawing, width_of
from tinyframe.viz.kinds import ARROW
from tinyframe.viz.nests import kernel_of
from tinyframe.viz.picture import DrawnPicture

WIDE = 96.0  # points, of the longer side of a matrix
MOST_TURNS = 1 << 20  # more are not played

# What runs at each level, beside what runs at those before it.
LEVELS: list[tuple[str, set[AxisType]]] = [
    ("one element", set()),
    ("one vector", {AxisType.VECTOR}),
    ("register tile", {AxisType.UPCAST, AxisType.UNROLL}),
    ("whole reduce", {AxisType.REDUCE, AxisType.GROUP}),
]

Values = dict[UOp, np.ndarray]

# What the ops of an index do to arrays; others are played on each number (uop/evaluate.py).
ON_ARRAYS: dict[Ops, Callable[..., np.ndarray]] = {
    Ops.ADD: np.add, Ops.SUB: np.subtract, Ops.MUL: np.multiply, Ops.IDIV: np.floor_divide,
    Ops.MOD: np.mod, Ops.MAX: np.maximum, Ops.MIN: np.minimum, Ops.CMPLT: np.less,
    Ops.CMPEQ: np.equal, Ops.CMPNE: np.not_equal, Ops.AND: np.logical_and, Ops.OR: np.logical_or,
    Ops.NEG: np.negative, Ops.WHERE: np.where,
}  # fmt: skip


def played(u: UOp, values: Values) -> np.ndarray | None:
    """An index for every combination of some ranges; None where it depends on what is in memory."""
    for x in u.toposort(lambda x: x not in values):
        if x.op is Ops.CONST:
            values[x] = np.array(x.arg)
        elif x.op is Ops.CAST:
            values[x] = values[x.src[0]]
        elif x.op in ON_ARRAYS and all(s in values for s in x.src):
            values[x] = ON_ARRAYS[x.op](*[values[s] for s in x.src])
        elif x not in values:
            return None
    return values[u]


def access(x: Any, opts: Sequence[Opt] | None = None, *, number: int | None = None) -> DrawnPicture:
    """A picture of what one turn of a kernel's inner loops reads and writes.

    x, opts, number: as for `kernel`. Panels that are copied first (STAGE) are left out, so that what
    is drawn is memory. ValueError where the kernel has no array of two dimensions or fewer to draw.
    """
    ast, which = kernel_of(x, number)
    renderer = Device[Device.DEFAULT].renderer
    program = get_program(ast, renderer, opts)
    plain = [opt for opt in program.opts if opt.op is not OptOps.STAGE]
    sink = apply_opts(scheduled_kernel(ast, renderer), plain, renderer.target)
    indices = [u for u in sink.toposort() if u.op is Ops.INDEX and u.src[0].op is Ops.DEFINE_GLOBAL]
    written = {store.src[0] for store in sink.src}
    by_slot: dict[int, list[UOp]] = {}
    for u in sorted(indices, key=lambda u: u.src[0].arg):
        by_slot.setdefault(u.src[0].arg, []).append(u)
    headline = f"what {program.function}{which} touches"
    sheet, text = Drawing(), [headline]
    levels = _levels(sink)
    top = 22.0
    label = max(width_of(f"data{slot}", bold=True) for slot in by_slot) + 70
    for column, (name, _) in enumerate(levels):
        sheet.words(label + column * (WIDE + 24), 12, name, bold=True, colour=MUTED)
    for slot, places in by_slot.items():
        sizes = [size for size in places[0].arg if size != 1]
        shape = _as_matrix(sizes)
        is_output = places[0] in written
        high = max(8.0, min(WIDE, WIDE * shape[0] / shape[1]))
        sheet.words(0, top + 12, f"data{slot}", bold=True, colour=MUTED)
        sheet.words(0, top + 26, "writes" if is_output else "reads", colour=MUTED)
        sheet.words(0, top + 40, " × ".join(map(str, sizes)) or "1", colour=MUTED)
        for column, (name, ranges) in enumerate(levels):
            cells = _touched(places, ranges)
            left = label + column * (WIDE + 24)
            fill = "#fbb9a0" if is_output else "#8cc4f2"
            said = _matrix(sheet, left, top, high, shape, cells, fill)
            text.append(f"data{slot}, {name}: {said}")
            sheet.words(left, top + high + 13, said, 9.5, colour=MUTED)
        top += max(high, 40) + 26
    return DrawnPicture(headline, "\n".join(text), sheet)


def _levels(sink: UOp) -> list[tuple[str, list[UOp]]]:
    """The levels that this kernel has, and the ranges that run at each."""
    ranges = [u for u in sink.toposort() if u.op is Ops.RANGE and not is_symbolic(u)]
    levels: list[tuple[str, list[UOp]]] = []
    running: set[AxisType] = set()
    for name, kinds in LEVELS:
        running |= kinds
        inside = [r for r in ranges if kind(r) in running]
        if math.prod(map(length, inside)) > MOST_TURNS:
            break
        if not levels or len(inside) > len(levels[-1][1]):
            levels.append((name, inside))
    return levels


def _as_matrix(shape: Sequence[int]) -> tuple[int, int]:
    """The rows and columns as which an array is drawn: all axes but the last are rows."""
    return (math.prod(shape[:-1]), shape[-1]) if shape else (1, 1)


def _touched(places: Iterable[UOp], ranges: Sequence[UOp]) -> np.ndarray | None:
    """The elements, as flat numbers, that these INDEXes name while some ranges run."""
    values: Values = {}
    for axis, r in enumerate(ranges):
        one = [1] * len(ranges)
        one[axis] = length(r)
        values[r] = np.arange(length(r)).reshape(one)
    found = []
    for place in places:
        others = [r for r in place.toposort() if r.op is Ops.RANGE and r not in values]
        values |= {r: np.zeros((), int) for r in others}
        indices = [played(i, values) for i in place.src[2:]]
        valid = played(place.src[1], values)
        if valid is None or any(i is None for i in indices):
            return None
        flat = np.zeros((), int)
        for i, size in zip(indices, place.arg, strict=True):
            flat = flat * size + i
        flat, valid = np.broadcast_arrays(flat, valid)
        found.append(flat[valid].ravel())
    return np.unique(np.concatenate(found))


def _matrix(
    sheet: Drawing,
    left: float,
    top: float,
    high: float,
    shape: tuple[int, int],
    cells: np.ndarray | None,
    fill: str,
) -> str:
    """A matrix with its touched elements in colour; gives what to say of them."""
    rows, columns = shape
    sheet.box(left, top, WIDE, high, "#f7f7f7", ARROW, radius=0)
    if cells is None:
        return "depends on values"
    for row, group in itertools.groupby(cells.tolist(), key=lambda c: c // columns):
        numbers = [c % columns for c in group]
        for first, last in _runs(numbers):
            x, width = left + WIDE * first / columns, WIDE * (last + 1 - first) / columns
            y, height = top + high * row / rows, high / rows
            sheet.area([(x, y), (x + max(width, 1), y), (x + max(width, 1), y + max(height, 1)),
                        (x, y + max(height, 1))], fill)  # fmt: skip
    return f"{len(cells):,} of {rows * columns:,}"


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbours as (first, last)."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs
