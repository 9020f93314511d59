"""`access(x)`: the elements of its arguments that a kernel touches in one turn of its inner loops.

    access(a @ b)

From left to right, more and more loops run: one iteration, one vector, one register tile, one block
of threads, a whole reduce. Each row is an argument, drawn as a matrix, or with more than two axes
as a matrix of matrices.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, groupby
from typing import Any, NamedTuple

import numpy as np

from tinyframe.codegen import get_program, scheduled_kernel
from tinyframe.codegen.optimize.loops import Opt, OptOps, apply_opts
from tinyframe.renderer import Renderer
from tinyframe.uop.node import AxisType, Ops, UOp, axis_type, extent, is_symbolic
from tinyframe.uop.show import sizes_text
from tinyframe.viz.drawing import MUTED, Drawing, wrapped
from tinyframe.viz.kernels import one_kernel, renderer_of
from tinyframe.viz.nodes import grouped
from tinyframe.viz.picture import DrawnPicture

PANEL, GAP, LABEL = 104.0, 16.0, 96.0  # points: a matrix's longer side; the space between; names
MOST_ROWS = 7  # arguments: more do not fit on a screen
LARGEST, PIXEL = 24.0, 2.0  # points: the largest element, and the smallest visible one
THINNEST = 0.1  # the shorter side of an array, relative to the longer: less would be a line
READ, WRITTEN = "#1f77b4", "#d9480f"  # both have 3:1 or more with the light fill around them

MOST_TILES, TILE_GAP = 3, 12.0  # arguments side by side on a card; points between them

# The kinds of loops that each level adds to those before it.
LEVELS: list[tuple[str, set[AxisType]]] = [
    ("one iteration", set()),
    ("one vector", {AxisType.VECTOR}),
    ("one register tile", {AxisType.UPCAST, AxisType.UNROLL}),
    ("one thread block", {AxisType.LOCAL, AxisType.GROUP, AxisType.WARP}),
    ("its whole reduce", {AxisType.REDUCE, AxisType.SERIAL}),
]


class Touch(NamedTuple):
    """An argument at a level. cells: the elements, as flat indices; None, with a reason, if they
    are unknown."""

    level: str
    cells: np.ndarray | None
    reason: str = ""


class Argument(NamedTuple):
    """slot: its number. shape: as the kernel indexes it, without axes of size 1."""

    slot: int
    shape: tuple[Any, ...]
    is_output: bool
    touches: tuple[Touch, ...]

    @property
    def verb(self) -> str:
        return "writes" if self.is_output else "reads"


def access(x: Any, opts: Sequence[Opt] | None = None, *, number: int | None = None) -> DrawnPicture:
    """A picture of what one turn of a kernel's inner loops reads and writes.

    x, opts, number: as for `kernel`, with the same errors. The panels that STAGE copies into are
    left out, so that everything drawn is memory. Indices that depend on data and symbolic sizes are
    described in words. Nothing runs.
    """
    item, which = one_kernel(x, number, "access")
    renderer = renderer_of(item)
    program = get_program(item.ast, renderer, opts)
    arguments = arguments_after(item.ast, renderer, program.opts)
    headline = f"what {program.function}{which} touches"
    sheet, text = Drawing(), [headline]
    for column, touch in enumerate(arguments[0].touches):
        sheet.words(LABEL + column * (PANEL + GAP), 12, touch.level, bold=True, colour=MUTED)
    top = 22.0
    for argument in arguments:
        sizes = " × ".join(sizes_text(size) for size in argument.shape) or "1 element"
        told = [f"  {t.level}: {said(argument, t)}" for t in argument.touches]
        text += [f"data{argument.slot}, {argument.verb} of {sizes}:", *told]
        if argument.slot >= MOST_ROWS:
            continue
        sheet.words(0, top + 11, f"data{argument.slot} {argument.verb}", bold=True, colour=MUTED)
        sheet.paragraph(0, top + 15, sizes, LABEL - 10)
        high = 40.0
        for column, touch in enumerate(argument.touches):
            left = LABEL + column * (PANEL + GAP)
            high = max(high, _panel(sheet, left, top, argument, touch))
        top += high + 12
    if len(arguments) > MOST_ROWS:
        more = f"and {len(arguments) - MOST_ROWS} more arguments: print() lists them all"
        sheet.words(0, top + 11, more, colour=MUTED)
    return DrawnPicture(headline, "\n".join(text), sheet)


def arguments_after(ast: UOp, renderer: Renderer, opts: Sequence[Opt]) -> list[Argument]:
    """The elements of each argument that a kernel touches with these Opts, without panels."""
    plain = [opt for opt in opts if opt.op is not OptOps.STAGE]
    return arguments_of(apply_opts(scheduled_kernel(ast, renderer), plain, renderer.target))


def arguments_of(sink: UOp) -> list[Argument]:
    """The elements of each argument that a kernel, after its Opts, touches at each level."""
    written = {store.src[0] for store in sink.src}
    order = sink.toposort()
    places = grouped((u.src[0].arg, u) for u in order
                     if u.op is Ops.INDEX and u.src[0].op is Ops.DEFINE_GLOBAL)  # fmt: skip
    ranges = [u for u in order if u.op is Ops.RANGE]
    running = accumulate((kinds for _, kinds in LEVELS), operator.or_)
    every = [(level, [r for r in ranges if axis_type(r) in kinds])
             for (level, _), kinds in zip(LEVELS, running, strict=True)]  # fmt: skip
    # those where more loops run than in the one before
    levels = [next(alike) for _, alike in groupby(every, lambda level: len(level[1]))]
    found = []
    for slot, named in sorted(places.items()):
        touches = tuple(touch_of(named, inside, level) for level, inside in levels)
        shape = tuple(size for size in named[0].arg if isinstance(size, UOp) or size != 1)
        found.append(Argument(slot, shape, not written.isdisjoint(named), touches))
    return found


# ---- evaluating indices --------------------------------------------------------------------------

# Every RANGE that runs is an array of all its values, to which NumPy applies the ops of an index.

MOST_COMBINATIONS = 1 << 22  # combinations of ranges, 32 MB of numbers: more are not evaluated

Values = dict[UOp, np.ndarray]

ON_ARRAYS: dict[Ops, Callable[..., np.ndarray]] = {
    Ops.ADD: np.add, Ops.SUB: np.subtract, Ops.MUL: np.multiply, Ops.IDIV: np.floor_divide,
    Ops.MOD: np.mod, Ops.MAX: np.maximum, Ops.MIN: np.minimum, Ops.CMPLT: np.less,
    Ops.CMPEQ: np.equal, Ops.CMPNE: np.not_equal, Ops.AND: np.bitwise_and, Ops.OR: np.bitwise_or,
    Ops.XOR: np.bitwise_xor, Ops.NEG: np.negative, Ops.WHERE: np.where, Ops.CAST: np.asarray,
}  # fmt: skip
UNKNOWN = {Ops.LOAD: "depends on what is in memory",
           **dict.fromkeys((Ops.DEFINE_VAR, Ops.BIND), "depends on a Variable")}  # fmt: skip


class UnknownElements(ValueError):
    """The elements are not known before the kernel runs; the message says why."""


def touch_of(places: Iterable[UOp], ranges: Iterable[UOp], level: str = "") -> Touch:
    """The elements that these INDEXes of one argument access while `ranges` run and all others stay
    at 0, as indices into the flattened argument, sorted, each once.

    They are unknown if they depend on data or on a Variable, or are too many.
    """
    running = list(ranges)
    try:
        found = np.concatenate([_named_by(place, running) for place in places])
    except UnknownElements as problem:
        return Touch(level, None, str(problem))
    return Touch(level, np.unique(found))


def _named_by(place: UOp, running: Sequence[UOp]) -> np.ndarray:
    below = place.toposort(lambda u: u.op is not Ops.RANGE)
    used = [u for u in below if u.op is Ops.RANGE]
    if any(isinstance(size, UOp) for size in place.arg) or any(map(is_symbolic, used)):
        raise UnknownElements("depends on a Variable")
    turning = [r for r in used if r in running]
    if math.prod(map(extent, turning)) > MOST_COMBINATIONS:
        raise UnknownElements("too many to draw")
    values: Values = {r: np.zeros((), int) for r in used}
    for axis, r in enumerate(turning):
        along = [-1 if a == axis else 1 for a in range(len(turning))]
        values[r] = np.arange(extent(r)).reshape(along)
    flat = np.zeros((), int)
    for index, size in zip(place.src[2:], place.arg, strict=True):
        flat = flat * size + evaluated(index, values)
    flat, valid = np.broadcast_arrays(flat, evaluated(place.src[1], values))
    return flat[valid.astype(bool)].ravel()


def evaluated(u: UOp, values: Values) -> np.ndarray:
    """The value of an index for every combination of the ranges in `values`, which gets the values
    of all nodes below it."""
    for x in u.toposort(lambda x: x not in values and x.op is not Ops.LOAD):
        if x in values:
            continue
        if x.op is Ops.CONST:
            values[x] = np.array(x.arg)
        elif x.op in ON_ARRAYS:
            values[x] = ON_ARRAYS[x.op](*[values[s] for s in x.src])
        else:
            raise UnknownElements(UNKNOWN.get(x.op, f"has {x.op.name} in its index"))
    return values[u]


# ---- the picture ---------------------------------------------------------------------------------


def said(argument: Argument, touch: Touch) -> str:
    """`16 of 262,144`, or why the number is unknown."""
    if touch.cells is None:
        return touch.reason
    return f"{len(touch.cells):,} of {math.prod(argument.shape):,}"


def _panel(sheet: Drawing, left: float, top: float, argument: Argument, touch: Touch) -> float:
    """Draws an argument, with the touched elements in colour; returns its height."""
    high = 0.0
    if touch.cells is not None:
        high = draw_cells(sheet, left, top, argument, PANEL, touch.cells)
    for n, line in enumerate(wrapped(said(argument, touch), PANEL + GAP - 4, 9.5)):
        sheet.words(left, top + high + 12 + 12 * n, line, 9.5, colour=MUTED)
        last = high + 16 + 12 * n
    return last


def draw_cells(
    sheet: Drawing, left: float, top: float, argument: Argument, panel: float, *cells: np.ndarray
) -> float:
    """Draws an argument as an image, its longer side at most `panel` points. cells: sets of
    elements to colour, later ones darker. Returns the height."""
    image = shaded(argument.shape, cells, panel)
    longest = min(panel, LARGEST * max(image.shape))
    height, width = (longest * max(size / max(image.shape), THINNEST) for size in image.shape)
    for axis, size in enumerate(image.shape):  # a pixel shows the darkest of its elements
        if size > (most := int(panel / PIXEL)):
            image = np.maximum.reduceat(image, np.arange(most) * size // most, axis)
    dark, light = (WRITTEN, "#fbd3bf") if argument.is_output else (READ, "#b7d5ec")
    sheet.image(left, top, width, height, image, ("#f4f4f4", "#d0d0d0", light, dark))
    return height


def shaded(shape: Sequence[int], cells: Sequence[np.ndarray], panel: float) -> np.ndarray:
    """The last two axes as a matrix, the two before them as a matrix of such matrices, any others
    stacked: 3 for the elements of the last entry of `cells`, 2 for those of the one before, 1 for
    lines between matrices, if there is room for them."""
    padded = (1,) * (4 - len(shape)) + tuple(shape)
    shade = np.zeros(math.prod(padded), np.uint8)
    for number, found in enumerate(cells, 4 - len(cells)):
        shade[found] = number
    tiles = shade.reshape(-1, *padded[-3:])
    down, across, rows, columns = tiles.shape
    gap = int(max(down, across) * 4 <= panel)
    tiles = np.pad(tiles, ((0, 0), (0, 0), (0, gap), (0, gap)), constant_values=1)
    image = tiles.transpose(0, 2, 1, 3).reshape(down * (rows + gap), across * (columns + gap))
    return image[: len(image) - gap, : image.shape[1] - gap]


# ---- the elements that one tile touches, small enough for a card ---------------------------------


def tile_text(argument: Argument) -> str:
    """`data0: writes 384`, `data1: reads 6`: in one turn of the loops."""
    touch = _tile(argument)
    count = touch.reason if touch.cells is None else f"{len(touch.cells):,}"
    return f"data{argument.slot}: {argument.verb} {count}"


def draw_tiles(arguments: Sequence[Argument], width: float) -> Drawing:
    """The first three arguments side by side: the elements that one turn of the loops touches, and
    in a lighter colour those of its whole reduce."""
    sheet = Drawing()
    room = (width - 2 * TILE_GAP) / MOST_TILES
    for n, argument in enumerate(arguments[:MOST_TILES]):
        tile, whole = _tile(argument), argument.touches[-1]
        if tile.cells is not None:
            cells = [touch.cells for touch in (whole, tile) if touch.cells is not None]
            draw_cells(sheet, n * (room + TILE_GAP), 0, argument, room, *cells)
    end = sheet.height
    for n, argument in enumerate(arguments[:MOST_TILES]):
        name, count = tile_text(argument).split(": ", 1)
        for row, line in enumerate([name, *wrapped(count, room + TILE_GAP - 6, 9)]):
            sheet.words(n * (room + TILE_GAP), end + 11 + 11 * row, line, 9, colour=MUTED)
    return sheet


def _tile(argument: Argument) -> Touch:
    """The largest level within one turn of the loops."""
    return [t for t in argument.touches if t.level != LEVELS[-1][0]][-1]
