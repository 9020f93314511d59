"""The default schedule of a kernel: an ordered table of plans, each with its reason.

A plan looks at a kernel's reads and writes (`algebra/access.py`) and at the machine (`Target`). The
first one whose needs are all met decides the loop nest; nothing is tried out.
`DEBUG=3` prints the plan that was chosen, and why; `python -m tinyframe.plans` lists them all and,
for a kernel, says which ones apply and what the others need. The numbers are in `thresholds.py`.

    dot products      few rows, both operands contiguous along a long sum
    image by image    a padded operand is copied with its border
    columns, then images
                      the same, if all columns together are too large for the cache
    lanes along an image
                      the same, if the padded operand has the lanes
    short sum         writing the results dominates, so they are written in memory order
    blocks of rows    neighbouring rows are neighbours in memory, or are computed on the fly (from
                      float16, say): they are copied, a block of them at a time
    register tile     any other contraction: a tile of accumulators, a panel of columns
    transpose         contiguous along different axes: blocks of both
    windows of an image
                      overlapping windows without other reuse: depthwise convolution, pooling
    vectors           everything else: vectors along contiguous memory

A good place to begin is that list, `CPU`, at the end of this file. The parts of a nest (blocks,
lanes, at once, copied) are explained below. To try your own plan, insert a `Plan` into the
list: kernels are then compiled again with it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from tinyframe import thresholds
from tinyframe.algebra.access import Access, AccessTable, Contraction
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opt, axes
from tinyframe.dtype import dtypes
from tinyframe.renderer import Target
from tinyframe.schedule.fuse import STATEMENTS
from tinyframe.uop.node import (
    AxisType,
    GroupOp,
    Ops,
    UOp,
    axis_type,
    extent,
    fresh_number,
    is_symbolic,
    iterations,
)
from tinyframe.uop.show import render

# ---- a loop nest as a value: a plan's decision, which `opts_of` writes as Opts -------------------
#
#     Nest(tiles=((VECTOR, j, 16), (UPCAST, j, 4), (UPCAST, i, 6)),   inner parts of i and j
#          order=(j, i),                                               j outermost
#          panels=((b, j),),                                           the part of b that j reads
#          thread=j)                                                   j is divided among cores
#
#     Nest(tiles=((VECTOR, j, 4), (LOCAL, j, 16), (UPCAST, i, 4), (LOCAL, i, 16)),
#          grid=(j, i),                                                blocks: what is left of both
#          panels=((a, k), (b, k)))                                    shared by the threads
#
#     SPLIT r, 64     r becomes a loop over blocks of 64, and a loop inside of a block
#     VECTOR r, 16    16 neighbours along r are the lanes of one vector
#     UPCAST r, 6     6 iterations of r are done side by side, in registers
#     LOCAL r, 16     16 iterations of r are done by threads of a block
#     GROUP r, 32     32 threads of a block share r, the loop of a reduce
#     TENSOR_CORE     of three loops in a row: 16 rows, 8 columns and 16 terms of the sum, which a
#                     warp computes at once
#     order           the outermost loops; all others follow inside, in their original order
#     panels          (operand, loop): before each iteration of the loop, the part of the operand
#                     that it reads is copied; None: all of the operand, before any loop. The Opt is
#                     STAGE
#     pipeline        (loop, n): the loop keeps n of its panels
#     thread          the loop that is divided among the cores
#     grid            the loops that become the axes of a grid of blocks, its axis 0 first
#
# If a tile does not divide its loop, the last one is moved back and overlaps the one before; a sum
# skips elements that are counted already (`split_range`). A loop of a Variable's size can only be
# tiled by threads.
#
# A Nest is in terms of the kernel's RANGEs before any Opt. How many iterations of one remain after
# tiling is arithmetic (`left`), so a plan can reason about it without applying anything. `opts_of`
# applies a Nest, and notes each step as an Opt.

Tile = tuple[OptOps, UOp, int]
"""SPLIT, UPCAST, VECTOR, UNROLL, LOCAL, GROUP or TENSOR_CORE of what is left of a RANGE. After a
SPLIT that is the inner one of the two loops, until nothing is left of it."""


@dataclass(frozen=True)
class Inner:
    """The inner one of the two loops that a SPLIT makes of a RANGE; the RANGE itself stands for the
    outer one."""

    range: UOp


Loop = UOp | Inner


@dataclass(frozen=True)
class Nest:
    """A loop nest.

    tiles: inner parts of RANGEs. order: the outermost loops, from the outside in; the others keep
    their order. panels: the operands that are copied, each inside of a loop (None: before all
    loops). pipeline: a loop, and how many of its panels it keeps. thread: the loop that is divided
    among cores; it becomes the outermost one. grid: the loops that become blocks; axis 0, the
    innermost of them, comes first.
    """

    tiles: tuple[Tile, ...] = ()
    order: tuple[Loop, ...] = ()
    panels: tuple[tuple[Access, Loop | None], ...] = ()
    thread: UOp | None = None
    grid: tuple[UOp, ...] = ()
    pipeline: tuple[Loop, int] | None = None

    def left(self, r: UOp) -> int:
        """How many iterations of `r` are left after its tiles; after a SPLIT, those of the outer
        loop."""
        n = extent(r)
        for op, tiled, size in self.tiles:
            if tiled is r:
                n = -(-n // size)
                if op is OptOps.SPLIT:
                    break
        return n

    def loops(self, ranges: Iterable[UOp]) -> list[UOp]:
        """The loops around a kernel's stores that are still loops, in their new order."""
        around = [r for r in ranges if axis_type(r) is AxisType.LOOP]
        first = [r for r in self.order if not isinstance(r, Inner)]
        ordered = dict.fromkeys((*first, *around))
        return [r for r in ordered if is_symbolic(r) or self.left(r) > 1]

    @property
    def words(self) -> str:
        """The nest in a line: `16 lanes along ridx1; ridx1 outermost; cores share ridx1`."""
        said = [_TILES_IN_WORDS[op].format(n, render(r)) for op, r, n in self.tiles]
        if self.order:
            said.append(f"{', then '.join(map(_loop_words, self.order))} outermost")
        for read, loop in self.panels:
            when = "before all loops" if loop is None else f"in {_loop_words(loop)}"
            said.append(f"data{read.slot} copied {when}")
        if self.pipeline is not None and self.pipeline[1] > 1:
            loop, panels = self.pipeline
            said.append(f"{panels} of each panel in {_loop_words(loop)}")
        if self.thread is not None:
            said.append(f"cores share {render(self.thread)}")
        if self.grid:
            said.append(f"blocks along {', '.join(map(render, self.grid))}")
        return "; ".join(said)


_TILES_IN_WORDS = {
    OptOps.SPLIT: "blocks of {} of {}",
    OptOps.VECTOR: "{} lanes along {}",
    OptOps.UPCAST: "{} at once of {}",
    OptOps.UNROLL: "{} at once of {}",
    OptOps.LOCAL: "{} threads along {}",
    OptOps.GROUP: "{} threads share {}",
    OptOps.TENSOR_CORE: "{} of {} in tensor cores",
}


def _loop_words(loop: Loop) -> str:
    return f"a block of {render(loop.range)}" if isinstance(loop, Inner) else render(loop)


def opts_of(sink: UOp, nest: Nest, target: Target | None = None) -> tuple[list[Opt], UOp]:
    """The Opts that make this nest, and the kernel after them. Those that are illegal for the
    kernel or the target are left out. The outer part of a divided loop keeps its number."""
    kernel, opts = sink, list[Opt]()
    inner: dict[UOp, int] = {}  # RANGE -> the number of the inner loop that its SPLIT has made

    def place(named: Loop) -> list[int]:
        """The position of a loop; none if nothing is left of it."""
        number = inner.get(named.range) if isinstance(named, Inner) else named.arg[0]
        return [n for n, r in enumerate(axes(kernel)) if r.arg[0] == number][:1]

    def apply(op: OptOps, axis: int | tuple[int, ...], arg: int | None = None) -> bool:
        nonlocal kernel
        try:
            kernel = apply_opt(kernel, opt := Opt(op, axis, arg), target)
        except KernelOptError:
            return False
        opts.append(opt)
        return True

    def make_outermost(named: Iterable[Loop]) -> None:
        front = [n for loop in named for n in place(loop)]
        rest = [n for n in range(len(axes(kernel))) if n not in front]
        if front + rest != sorted(rest + front):
            apply(OptOps.REORDER, (*front, *rest))

    tensor_core_ranges = [r for op, r, _ in nest.tiles if op is OptOps.TENSOR_CORE]
    for op, r, n in nest.tiles:
        if op is OptOps.TENSOR_CORE:
            if r is tensor_core_ranges[0]:  # the three are tiled together
                apply(op, tuple(n for x in tensor_core_ranges for n in place(Inner(x)) or place(x)))
            continue
        for axis in place(Inner(r)) or place(r):  # after a SPLIT, the inner loop
            fresh = fresh_number(kernel)
            if apply(op, axis, n) and op is OptOps.SPLIT:
                inner[r] = fresh
    make_outermost(nest.order)
    for r in nest.grid:
        for axis in place(r):
            apply(OptOps.GLOBAL, axis)
    for read, around in nest.panels:
        for axis in [-1] if around is None else place(around):
            apply(OptOps.STAGE, axis, read.slot)
    if nest.pipeline is not None and nest.pipeline[1] > 1:
        for axis in place(nest.pipeline[0]):
            apply(OptOps.PIPELINE, axis, nest.pipeline[1])
    if nest.thread is not None:
        make_outermost((nest.thread,))
        apply(OptOps.THREAD, 0)
    return opts, kernel


SPLIT, UPCAST, VECTOR = OptOps.SPLIT, OptOps.UPCAST, OptOps.VECTOR


class Workload:
    """The input of a plan: a kernel before any Opt, and the machine that it is for.

    table: its reads and writes. loops: its RANGEs, outermost first, except a scan's, which are in
    scanned. lanes: elements of its widest dtype in a vector register.
    """

    def __init__(self, sink: UOp, target: Target) -> None:
        self.sink, self.target = sink, target
        self.table = AccessTable(sink)
        loops = axes(sink)
        self.loops = [r for r in loops if axis_type(r) is not AxisType.SERIAL]
        self.scanned = [r for r in loops if axis_type(r) is AxisType.SERIAL]
        self.lanes = lanes_of(sink, target)

    @property
    def around(self) -> list[UOp]:
        """The loops around the stores."""
        return [r for r in self.loops if axis_type(r) is AxisType.LOOP]

    @property
    def of_one(self) -> dict[UOp, Access]:
        """The loops that only one operand of the contraction varies along -> that operand."""
        contraction = self.table.contraction
        assert contraction is not None, "a plan that uses the operands needs A_CONTRACTION"
        pairs = (contraction.a, contraction.b), (contraction.b, contraction.a)
        return {r: x for x, other in pairs for r in x.ranges - other.ranges}

    @functools.cached_property
    def tile_or_none(self) -> RegisterTile | None:
        return register_tile(self)

    @property
    def tile(self) -> RegisterTile:
        assert self.tile_or_none is not None, "a plan that uses the tile needs A_TILE"
        return self.tile_or_none

    def l2(self, part: float) -> int:
        """A fraction of the second-level cache, in bytes."""
        return int(self.target.l2 * part)


def lanes_of(sink: UOp, target: Target) -> int:
    """The number of elements in a vector register, of the widest dtype that a kernel has in memory
    or computes with; float16 and bfloat16 are computed in float32, and THREEFRY in words of 32
    bits."""
    widest = 0
    data: set[UOp] = set()
    nodes = sink.toposort()
    scrambles = UOp.sink(*[u for u in nodes if u.op is Ops.THREEFRY])
    words = scrambles.toposort(lambda u: u.dtype in (dtypes.void, dtypes.uint64)).keys()
    for u in nodes:
        if u.op is Ops.DEFINE_GLOBAL:
            widest = max(widest, u.dtype.base.itemsize)
        elif u.op in (Ops.LOAD, Ops.REDUCE, Ops.SCAN) or not data.isdisjoint(u.src):
            data.add(u)
            if u.op in GroupOp.ALU or u.op in (Ops.REDUCE, Ops.SCAN):
                half = u.dtype in (dtypes.half, dtypes.bfloat16)
                is_narrow = half or not words.isdisjoint((u, *u.src))
                widest = max(widest, 4 if is_narrow else u.dtype.itemsize)
    lanes = max(1, target.vector_bytes // (widest or 4))
    return min(lanes, target.most_lanes) if target.most_lanes else lanes


Needs = dict[str, Callable[[Workload], object]]


@dataclass(frozen=True, eq=False)
class Plan:
    """A row of the table.

    name: as printed. why: when it is the right one, and what it does, in one sentence. needs: the
    conditions on a Workload, by the words that are printed if one is not met. nest: the loop nest
    for a Workload that meets them all.
    """

    name: str
    why: str
    needs: Needs
    nest: Callable[[Workload], Nest]

    def missing(self, kernel: Workload) -> str | None:
        """The first need that the kernel does not meet; None if the plan applies."""
        return next((words for words, met in self.needs.items() if not met(kernel)), None)


def choose(kernel: Workload, plans: Sequence[Plan]) -> Plan:
    """The first plan that applies."""
    return next(plan for plan in plans if plan.missing(kernel) is None)


def lacking(kernel: Workload, plans: Sequence[Plan]) -> dict[str, list[str]]:
    """For plans that were not chosen: the first need that is not met -> the plans that have it."""
    found: dict[str, list[str]] = {}
    for plan in plans:
        missing = plan.missing(kernel)
        said = "apply too" if missing is None else f"need {missing}"
        found.setdefault(said, []).append(plan.name)
    return found


# ---- contractions: the register tile ------------------------------------------------------------


@dataclass(frozen=True)
class RegisterTile:
    """The accumulators of a contraction that stay in registers: `high` rows, and `wide` vectors of
    columns (Goto & van de Geijn, "Anatomy of high-performance matrix multiplication", 2008).

    a: the operand that has the rows. b: the one that has the columns, which become lanes. In A @ B
    rows are i and columns j. In a convolution, rows are images and positions in them (`a` is the
    image), and columns are output channels (`b` is the weights), unless an image has the better
    lanes. row, column: the loops that are tiled. rows: all loops of `a` alone. batch: the loops of
    both. high: in rows. wide: in vectors.

            column: 16 lanes × wide
           ┌───────┬───────┐
        b  │ panel │ panel │  one step of the sum reads `wide` vectors of b …
           ├───────┼───────┤
        a ▪│ += a·b│ += a·b│  … and `high` single values of a,
        a ▪│ += a·b│ += a·b│  for high × wide vectors of results, which stay in registers
           └───────┴───────┘
    """

    contraction: Contraction
    a: Access
    b: Access
    row: UOp
    column: UOp
    rows: tuple[UOp, ...]
    batch: tuple[UOp, ...]
    lanes: int
    high: int
    wide: int

    @property
    def length(self) -> int:
        """The number of values that are reduced to each result."""
        return iterations(self.contraction.summed)

    @property
    def b_batch_bytes(self) -> int:
        """Bytes of `b` that one iteration of the batch loops reads."""
        return self.b.volume(self.b.ranges - set(self.batch))

    @property
    def nest(self) -> Nest:
        """The tiles of row and column."""
        column, lanes, wide = self.column, self.lanes, self.wide
        vectors: list[Tile] = [(VECTOR, column, lanes)]
        if wide > 1:
            vectors.append((UPCAST, column, wide))
            if extent(column) > lanes * wide and extent(column) % (lanes * wide):
                # blocks of whole tiles, so that only the loop over blocks is uneven
                vectors.insert(0, (SPLIT, column, lanes * wide))
        high: list[Tile] = [] if is_symbolic(self.row) else [(UPCAST, self.row, self.high)]
        return Nest((*vectors, *high))

    @property
    def outer(self) -> tuple[UOp, ...]:
        """The loops around a panel of columns: the batch, and the blocks of columns if there are
        several."""
        return (*self.batch, self.column) if self.nest.left(self.column) > 1 else self.batch


def register_tile(k: Workload) -> RegisterTile | None:
    """The register tile of the contraction that a kernel spends its time on."""
    contraction = k.table.contraction
    if contraction is None or k.lanes < 2:
        return None
    a, b, of_one = contraction.a, contraction.b, k.of_one
    columns = [r for r in k.around if r in of_one and not is_symbolic(r) and extent(r) >= k.lanes]
    if not columns:
        return None

    def costs(r: UOp) -> tuple:
        """A sort key for lanes along `r`: vector operations, the unused lanes of the last one
        included, and elements that move one by one, each about two of those. Those are results in a
        column of memory, and operands in one, which a panel makes rows of. No panel helps elements
        that lie apart, as in strided windows, and windows that don't fill their last vector: they
        are gathered for each tile. Overlapping windows begin anywhere, and cost a little more."""
        x, n = of_one[r], extent(r)
        alone = sum(w.elements for w in k.table.writes if w.step(r) not in (0, 1))
        if any(abs(dim.get(r) or 0) > 1 for dim in x.dims) or (x.windows and n % k.lanes):
            alone += contraction.work // thresholds.USUAL_ROWS
        elif x.step(r) != 1:
            alone += x.elements
        vectors = -(-n // k.lanes) / n + 2 * alone / contraction.work  # of each term of a sum
        # A sixteenth decides between near draws: a 5x5 convolution of stride 2, by its input, takes
        # 3.3 times as long without it, and a padded 3x3 one of 32x32 twice as long with an eighth.
        return vectors * k.lanes + bool(x.overlaps) / 16, x.guarded, x.step(r) != 1, -n

    column = min(columns, key=costs)
    if column in a.ranges:
        a, b = b, a
    rows = tuple(r for r in k.around if of_one.get(r) is a)
    if not rows:  # an operand's rows are inside a reduce: its results are summed further
        return None
    contiguous = [r for r in columns if of_one[r] is b and b.step(r) == 1]
    if contiguous and b.step(column) != 1 and iterations(rows) < thresholds.PANEL_ROWS:
        column = max(contiguous, key=extent)  # there is no panel to make others contiguous
    # Rows are long enough for a tile, and have a small stride. A padded operand is copied anyway,
    # so for it a shorter loop is enough.
    enough = k.target.vector_registers // 4 if a.guarded else 2 * k.lanes
    row = max(
        rows, key=lambda r: (not is_symbolic(r), min(extent(r), enough), -abs(a.step(r) or 0))
    )
    wide = _width(k, contraction, b, column, rows)
    # an overlapping last tile would prevent copying an image
    exact = contraction.has_windows
    high = tile_rows(extent(row), wide, k.target.vector_registers, exact)
    batch = tuple(r for r in k.around if r in a.ranges and r in b.ranges)
    return RegisterTile(contraction, a, b, row, column, rows, batch, k.lanes, high, wide)


def _width(
    k: Workload, contraction: Contraction, b: Access, column: UOp, rows: tuple[UOp, ...]
) -> int:
    """The width of a tile in vectors. A wide tile reads fewer rows for each product, a high one
    fewer columns. So it is wide if the columns come from a panel that stays in the cache, and high
    if they don't, or if rows overlap anyway (in windows). The last tile overlaps the one before if
    the width is not a divisor; a width that would compute many columns twice is not used."""
    panel = iterations(contraction.summed) * k.lanes * b.itemsize  # bytes, one vector wide
    in_panels = iterations(rows) >= thresholds.PANEL_ROWS and not contraction.has_windows
    room = k.l2(thresholds.PANEL_OF_L2) // panel
    widest = max(2, min(room, k.target.vector_registers // 8)) if in_panels else 2
    vectors = -(-extent(column) // k.lanes)

    def waste(n: int) -> float:
        return max(thresholds.WIDTH_ROUNDING, -(-vectors // n) * n / vectors - 1)

    return min(range(widest, 0, -1), key=waste)


def tile_rows(size: int, wide: int, registers: int, exact: bool = False) -> int:
    """Rows of a register tile that is `wide` vectors wide, limited by the registers that are left
    beside the operands: the usual number, or one that computes fewer rows twice. Without `exact`, a
    waste of up to ROUNDING does not count."""
    most = min(thresholds.MOST_ROWS, (registers - wide - 2) // wide)
    if size <= most:
        return size
    usual = min(thresholds.USUAL_ROWS, most)
    heights = (usual, *range(most, usual, -1), *range(usual - 1, most // 2 - 1, -1))
    allowed = 0 if exact else thresholds.ROUNDING
    return min(heights, key=lambda n: max(allowed, -(-size // n) * n / size - 1))


# dot products


def has_one_loop_of_rows(k: Workload) -> bool:
    t = k.tile
    return len(t.rows) == 1 and not t.contraction.has_windows and not is_symbolic(t.row)


def is_contiguous_along_the_sum(k: Workload) -> bool:
    """Whether both operands are contiguous along the sum, in whole vectors."""
    (r,) = k.tile.contraction.summed
    return k.tile.a.step(r) == k.tile.b.step(r) == 1 and extent(r) % k.lanes == 0


def has_few_rows(k: Workload) -> bool:
    """Whether the rows are too few to be lanes, or reuse too little of a panel; but they are enough
    for a tile."""
    few, many = sorted((extent(k.tile.row), extent(k.tile.column)))
    return few >= _side(k) and (few < k.lanes or many <= thresholds.DOTS_ROWS)


def _side(k: Workload) -> int:
    """The side of a square of accumulators that, with a row and a column of operands, fills the
    registers."""
    return math.isqrt(k.target.vector_registers) - 1


def dot_products(k: Workload) -> Nest:
    """Lanes along the sum; a square of rows and columns at once."""
    t, side = k.tile, _side(k)
    (along,) = t.contraction.summed
    few, many = sorted((t.row, t.column), key=extent)
    tiles = (VECTOR, along, k.lanes), (UPCAST, few, side), (UPCAST, many, side)
    return among_cores(k, Nest(tiles, (*t.batch, many)))


# image by image


def _rows_left(t: RegisterTile) -> list[UOp]:
    return [r for r in t.nest.loops(t.rows) if r in t.rows]


def image_by_image(k: Workload) -> Nest:
    """One image at a time is copied with its border, so the inner loop has no condition; each
    thread copies the columns once."""
    t, image = k.tile, _rows_left(k.tile)[0]
    divided = t.nest.left(image) >= k.target.threads > 1
    if t.batch:
        nest = replace(t.nest, order=(*t.batch, image))
        panels: Panels = ((t.b, t.batch[-1]), (t.a, image))
        return replace(nest, panels=panels, thread=t.batch[0] if divided else None)
    if not divided:
        return replace(t.nest, order=(image,), panels=((t.b, None), (t.a, image)))
    return a_part_for_each_thread(k, t.nest, image, ((t.b, image),), (t.a,))


Panels = tuple[tuple[Access, Loop | None], ...]


def a_part_for_each_thread(
    k: Workload, nest: Nest, loop: UOp, once: Panels, every: tuple[Access, ...] = ()
) -> Nest:
    """A loop divided into one part for each thread. The panels `once` are copied before a part
    begins, the operands `every` in each of its iterations."""
    size = -(-nest.left(loop) // k.target.threads)
    inner: Loop = Inner(loop) if size > 1 else loop
    tiles = (*nest.tiles, (SPLIT, loop, size)) if size > 1 else nest.tiles
    panels = (*once, *[(x, inner) for x in every])
    return Nest(tiles, tuple(dict.fromkeys((loop, inner))), panels, loop)


# columns, then images


def columns_then_images(k: Workload) -> Nest:
    """Some columns at a time are copied for all images; each image is copied once for these."""
    t, image = k.tile, _rows_left(k.tile)[0]
    order = (*t.outer, image)
    nest = replace(t.nest, order=order, panels=((t.b, t.outer[-1]), (t.a, image)))
    divided = [r for r in order if nest.left(r) >= k.target.threads]
    return replace(nest, thread=divided[0] if divided and k.target.threads > 1 else None)


# lanes along an image


def lanes_along_an_image(k: Workload) -> Nest:
    """One image at a time is copied with its border; its neighbouring positions become lanes."""
    t = k.tile
    nest = replace(t.nest, order=tuple(dict.fromkeys((*_images(k, t.b, t.column), *t.batch))))
    divided = among_cores(k, nest)
    if not nest.order and divided.thread is not None:
        return a_part_for_each_thread(k, nest, divided.thread, ((t.b, divided.thread),))
    return _with_a_copy(divided, t.b)


def _images(k: Workload, x: Access, *tiled: UOp) -> list[UOp]:
    """The loops of an operand over images, not over positions in them: those in no window."""
    positions = {r for window in x.windows for r in window}
    return [r for r in k.around if r in x.ranges and r not in positions and r not in tiled]


# short sum


def short_sum(k: Workload) -> Nest:
    """Results in memory order, so that each core writes a contiguous part of them."""
    return among_cores(k, replace(k.tile.nest, order=k.tile.batch))


# blocks of rows


def _block(k: Workload) -> int:
    """The number of tiles of rows that are copied at once, in blocks of about the same size; 1 if
    the cache holds too few of them, or if some cores would get no block."""
    t = k.tile
    tiles = -(-extent(t.row) // t.high)
    rows = t.length * t.a.itemsize * t.high  # bytes of a tile's rows
    most = min(k.l2(thresholds.BLOCK_OF_L2) // rows, tiles // (2 * k.target.threads))
    if most < thresholds.LEAST_BLOCK or is_symbolic(t.row):
        return 1
    blocks = -(-tiles // most)
    return -(-tiles // blocks)


def blocks_of_rows(k: Workload) -> Nest:
    """A block of tiles of rows is copied for all columns; each panel of columns once per block."""
    t, block = k.tile, _block(k)
    columns = [tile for tile in t.nest.tiles if tile[1] is t.column]
    tiles = (*columns, (SPLIT, t.row, t.high * block), (UPCAST, t.row, t.high))
    order = (*t.batch, t.row, *t.outer[len(t.batch) :])
    return _with_panel(k, Nest(tiles, order, ((t.a, t.row),)))


# register tile


def columns_from_a_panel(k: Workload) -> Nest:
    """Columns are copied to a panel in reading order, if many rows read it."""
    return _with_panel(k, replace(k.tile.nest, order=k.tile.outer))


def _with_panel(k: Workload, nest: Nest) -> Nest:
    """The nest with a panel of columns, and its loops divided among cores."""
    t = k.tile
    is_panel = nest.left(t.column) == 1 and t.b.step(t.column) == 1  # already in reading order
    many = iterations(t.rows) >= thresholds.PANEL_ROWS
    copied = many and t.b.step(t.column) is not None and not is_panel
    loops = nest.loops(k.around)
    if not loops or k.target.threads == 1 or t.contraction.work < thresholds.THREADS_FROM:
        return _with_a_copy(nest, t.b) if copied else nest
    first = loops[0] if nest.order else max(loops, key=nest.left)
    if nest.left(first) < k.target.threads:
        first = max(loops, key=nest.left)
    if copied and not nest.order:  # of all columns
        return a_part_for_each_thread(k, nest, first, ((t.b, first),))
    return replace(_with_a_copy(nest, t.b) if copied else nest, thread=first)


def _with_a_copy(nest: Nest, x: Access) -> Nest:
    """The nest with a panel inside of its ordered loops."""
    inside = nest.order[-1] if nest.order else None
    return replace(nest, panels=(*nest.panels, (x, inside)))


# ---- everything else ----------------------------------------------------------------------------


def _gain(k: Workload, r: UOp) -> int:
    """Elements whose access is contiguous with lanes along `r`, minus those that are scattered."""
    accesses = (*k.table.reads, *k.table.writes)
    return sum(x.elements * (1 if x.step(r) == 1 else -1) for x in accesses if r in x.ranges)


def contiguous_along(k: Workload) -> list[UOp]:
    """The loops along which a multi-dimensional array is contiguous, the best first."""
    tables = [x for x in (*k.table.reads, *k.table.writes) if len(x.ranges) > 1]
    found = [r for r in k.loops if any(x.step(r) == 1 for x in tables)]
    stored = {r for r in found if any(x.step(r) == 1 for x in k.table.writes)}
    return sorted(found, key=lambda r: (_gain(k, r), r in stored), reverse=True)


# transpose


def blocks_of_both(k: Workload) -> Nest:
    """Blocks of some rows and a vector of columns, so that whole cache lines are used."""
    column, row = contiguous_along(k)
    high = min(extent(row), extent(column), thresholds.BLOCK_ROWS)
    return among_cores(k, Nest(((UPCAST, row, high), (VECTOR, column, k.lanes))))


# windows


def _padded_windows(k: Workload) -> list[Access]:
    return [x for x in k.table.reads if x.guarded and x.overlaps]


def windows_of_an_image(k: Workload) -> Nest:
    """Vectors along the image; one image at a time is copied with its border."""
    x = _padded_windows(k)[0]
    nest = vectors(k)
    lanes = {r for _, r, _ in nest.tiles}
    order = tuple(r for r in _images(k, x) if r not in lanes)
    nest = replace(nest, order=order, thread=None)
    return _with_a_copy(among_cores(k, nest), x) if order else nest


# vectors


def vectors(k: Workload) -> Nest:
    """Vectors along contiguous memory, the same for all reduces of a row; several sums at once, and
    work that a loop would repeat done once for all its iterations."""
    lanes: list[Tile] = []
    for r in sorted(k.loops, key=functools.partial(_gain, k), reverse=True):
        width = min(k.lanes, 1 << (extent(r).bit_length() - 1))
        wide_enough = width > 1 and width >= min(thresholds.NARROWEST_VECTOR, k.lanes)
        if wide_enough and _gain(k, r) > 0 and not is_symbolic(r):
            # no value may run in both loops: it would have lanes along two axes
            pairs = [{r, other} for _, other, _ in lanes]
            if not any(pair <= k.table.around(u) for pair in pairs for u in k.table.nodes):
                lanes.append((VECTOR, r, width))
    lanes += _shared(k, {r for _, r, _ in lanes})
    return among_cores(k, _several_sums(k, Nest(tuple(lanes))))


def _shared(k: Workload, lanes: set[UOp]) -> list[Tile]:
    """The loops that most of the work doesn't depend on, though it runs inside of them: with their
    iterations side by side it's done once. Not around reduces, which have accumulators."""

    def most_is_shared(r: UOp, inside: set[UOp]) -> bool:
        more = 0
        for u in k.table.nodes:
            if u.op in GroupOp.ALU and (r in u.ranges or not inside.isdisjoint(u.ranges)):
                more += STATEMENTS.get(u.op, 1) * (-1 if r in u.ranges else 1)
        return more > 0

    loops = [] if k.table.reduces else [r for r in k.around if not is_symbolic(r)]
    return [(UPCAST, r, extent(r)) for n, r in enumerate(loops)
            if r not in lanes and most_is_shared(r, {*loops[n + 1 :]})]  # fmt: skip


def _several_sums(k: Workload, nest: Nest) -> Nest:
    """Several independent sums at once, which hide the latency of additions and of memory. If rows
    are summed, these are several rows; if columns are, several vectors of columns. So for scans."""
    if k.scanned and (found := [*[r for _, r, _ in nest.tiles], *k.around]):
        return _at_once(k, nest, found[0], thresholds.SCANS_AT_ONCE)
    if len(k.table.reduces) == 0 or len(nest.tiles) != 1:
        return nest
    ((_, lanes, _),) = nest.tiles
    rows = [r for r in k.around if r is not lanes]
    alone = len(k.table.reduces) == 1
    (reduce, *_) = k.table.reduces
    elements = iterations((*reduce.ranges, *reduce.own_ranges))
    is_large = alone and elements * reduce.dtype.base.itemsize > k.target.l2
    registers = k.target.vector_registers
    if axis_type(lanes) is AxisType.LOOP:
        most, r = (registers // 2 if is_large else thresholds.COLUMNS_AT_ONCE), lanes
    elif alone and len(rows) == 1:
        most, r = (registers // 4 if is_large else thresholds.SUMS_AT_ONCE), rows[0]
    else:
        return nest
    return _at_once(k, nest, r, most)


def _at_once(k: Workload, nest: Nest, r: UOp, most: int) -> Nest:
    """The nest with up to `most` iterations of a loop side by side, if enough are left for all
    cores."""
    left = nest.left(r)
    for n in (16, 8, 4, 2):
        if n <= most and left > 1 and left % n == 0 and not is_symbolic(r):
            if n == 2 or left >= 2 * n * k.target.threads:
                return replace(nest, tiles=(*nest.tiles, (UPCAST, r, n)))
    return nest


def among_cores(k: Workload, nest: Nest) -> Nest:
    """The nest with its outermost loop divided among cores, if there is enough work."""
    loops = nest.loops(k.around)
    if not loops or k.target.threads == 1 or k.table.work < thresholds.THREADS_FROM:
        return nest
    if nest.left(loops[0]) > dtypes.int.max:
        nest = replace(nest, tiles=(*nest.tiles, (SPLIT, loops[0], thresholds.LONG_TURN)))
    return replace(nest, thread=loops[0])


# ---- the tables ----------------------------------------------------------------------------------

A_CONTRACTION: Needs = {
    "two operands, each reused along a loop of results that only the other one varies along":
        lambda k: k.table.contraction is not None,
}  # fmt: skip
A_TILE = A_CONTRACTION | {
    "a loop of results that fills a vector, and another one along the other operand":
        lambda k: k.tile_or_none is not None,
}  # fmt: skip
SEVERAL_PADDED_IMAGES = A_TILE | {
    "a padded operand that has the rows": lambda k: k.tile.a.guarded,
    "more than one loop of rows outside of the tile: images, and positions in them":
        lambda k: len(_rows_left(k.tile)) > 1,
}  # fmt: skip
TWO_CONTIGUOUS_AXES: Needs = {
    "nothing reduced": lambda k: not k.table.reduces,
    "memory that is contiguous along two different axes":
        lambda k: len(contiguous_along(k)) == 2 and not any(map(is_symbolic, contiguous_along(k))),
}  # fmt: skip

CPU = [
    Plan(
        "dot products",
        "few rows reuse each column, and both operands are contiguous along a long sum: lanes "
        "along the sum, for several rows and columns at once, need no panel",
        A_TILE | {
            "one loop of rows, and one that is summed": has_one_loop_of_rows,
            "both operands contiguous along the sum, in whole vectors": is_contiguous_along_the_sum,
            "a sum of so many vectors that the time to add up their lanes does not matter":
                lambda k: k.tile.length >= thresholds.DOTS_LENGTH * k.lanes,
            "too few rows for lanes, or few that reuse a panel, but enough for a tile":
                has_few_rows,
        },
        dot_products,
    ),
    Plan(
        "image by image",
        "an operand is padded: one image at a time is copied with its border, so the condition is "
        "only evaluated in the copy",
        SEVERAL_PADDED_IMAGES | {
            "columns that fit into the cache together with an image, or are a single panel":
                lambda k: not k.tile.outer or k.tile.b_batch_bytes <= k.l2(thresholds.BLOCK_OF_L2),
        },
        image_by_image,
    ),
    Plan(
        "columns, then images",
        "an operand is padded, but all columns together are too large for the cache: some of them "
        "are copied for all images",
        SEVERAL_PADDED_IMAGES,
        columns_then_images,
    ),
    Plan(
        "lanes along an image",
        "positions in a padded image make better lanes than the other operand: one image at a time "
        "is copied with its border, and neighbouring positions become lanes",
        A_TILE | {
            "columns that are contiguous in a padded operand":
                lambda k: k.tile.b.guarded and k.tile.b.step(k.tile.column) == 1,
        },
        lanes_along_an_image,
    ),
    Plan(
        "short sum",
        "the sums are so short that writing the results takes most of the time: they are written "
        "in memory order, and nothing is copied",
        A_TILE | {
            "a short sum: writing its results takes most of the time":
                lambda k: k.tile.length < thresholds.LONG_SUM,
            "columns that are contiguous in memory": lambda k: k.tile.b.step(k.tile.column) == 1,
            "columns that all fit into the cache":
                lambda k: k.tile.b_batch_bytes <= k.l2(thresholds.NEAR_OF_L2),
        },
        short_sum,
    ),
    Plan(
        "blocks of rows",
        "neighbouring rows are neighbours in memory, so that the sum has a large stride, or "
        "something is computed from each element first: a block of rows is copied for all columns",
        A_TILE | {
            "rows that are neighbours in memory, so that the sum strides, or are computed on the "
            "fly": lambda k: k.tile.a.step(k.tile.row) == 1 or k.tile.a.is_computed,
            "one loop of the sum that is long":
                lambda k: max(map(extent, k.tile.contraction.summed)) >= thresholds.LONG_SUM,
            "enough tiles of rows for blocks that fit into the cache": lambda k: _block(k) > 1,
        },
        blocks_of_rows,
    ),
    Plan(
        "register tile",
        "each operand is reused along a loop of the other: a tile of results stays in registers, "
        "and its columns come from a panel if many rows read it",
        A_TILE,
        columns_from_a_panel,
    ),
    Plan(
        "transpose",
        "memory is contiguous along two different axes: in a block of both, whole cache lines are "
        "used",
        TWO_CONTIGUOUS_AXES | {
            "both axes as long as a vector":
                lambda k: min(map(extent, contiguous_along(k))) >= k.lanes > 1,
        },
        blocks_of_both,
    ),
    Plan(
        "windows of an image",
        "windows of a padded image overlap, and nothing else is reused, as in depthwise "
        "convolution and pooling: one image at a time is copied with its border",
        {
            "windows of a padded operand that overlap": lambda k: bool(_padded_windows(k)),
            "a loop over images": lambda k: bool(_images(k, _padded_windows(k)[0])),
        },
        windows_of_an_image,
    ),
    Plan(
        "vectors",
        "no plan above applies: vectors along contiguous memory",
        {},
        vectors,
    ),
]  # fmt: skip
