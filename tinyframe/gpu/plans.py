"""The plans for GPUs, which run blocks of threads: a table, as in `optimize/plans.py`.

Three things make a kernel fast on a GPU. Neighbouring threads read neighbouring elements, so that a
warp reads a few whole pieces of memory (its accesses are *coalesced*). There are far more threads
than the device runs at once, so that some compute while others wait (latency hiding). And reused
data stays nearby: in a thread's registers, or else in the memory that a block shares.

    tensor cores         products of float16 or bfloat16: each warp has a tile of MMA results in
                         its registers, and the warps of a block share panels
    tiles from panels    a block computes a tile of results; both operands pass through shared
                         panels, and each thread keeps a part of the tile in its registers
    tiles in registers   any other contraction: a thread computes several results that share reads
    a block for a row    a row is reduced, and needed again once its results are known: the threads
                         of a block share both steps
    shared sums          a reduce along contiguous memory, or with few results: threads share it
    transpose            contiguous along different axes: squares pass through a shared panel
    along memory         everything else: threads along contiguous memory, several elements each

Sizes that are fractions of a Target's (threads of a block, shared bytes, registers, the grid) scale
with the device; the other numbers are in `thresholds.py`. A Target's vector registers are those of
one thread.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tinyframe import thresholds
from tinyframe.algebra.access import Access, Contraction
from tinyframe.algebra.symbolic import terms
from tinyframe.codegen.optimize.loops import OptOps
from tinyframe.codegen.optimize.plans import (
    A_CONTRACTION,
    TWO_CONTIGUOUS_AXES,
    Needs,
    Nest,
    Plan,
    Tile,
    Workload,
    contiguous_along,
)
from tinyframe.codegen.program import MOST_AXES
from tinyframe.dtype import dtypes
from tinyframe.gpu import mma
from tinyframe.gpu.banks import PADDINGS
from tinyframe.gpu.blocks import steps_of_group
from tinyframe.gpu.tensor_core import operands, why_no_tensor_core
from tinyframe.uop.node import UOp, extent, is_symbolic, iterations

SPLIT, UPCAST, UNROLL, VECTOR = OptOps.SPLIT, OptOps.UPCAST, OptOps.UNROLL, OptOps.VECTOR
LOCAL, GROUP, TENSOR_CORE = OptOps.LOCAL, OptOps.GROUP, OptOps.TENSOR_CORE

# a thread's rows and vectors of columns, the largest tile first
TILES = ((16, 2), (8, 2), (8, 1), (4, 1), (2, 1), (1, 1))

# a block's warps down and across, a warp's units of 16 rows and 8 columns; the largest first
WARP_TILES = ((2, 4, 4, 8), (2, 2, 4, 8), (2, 4, 4, 4), (2, 4, 2, 4), (2, 4, 2, 2), (2, 2, 2, 2), (1, 2, 1, 2), (1, 1, 1, 1))


# the same for a convolution: units of rows and of columns of a thread, and of a warp
WINDOWS = ((16, 8), (8, 8), (8, 4), (4, 4), (4, 2))
WARP_WINDOWS = ((4, 8), (4, 4), (2, 4), (1, 4))


# ---- resources of a device -----------------------------------------------------------------------


def power_of_two(n: int) -> int:
    """The largest power of two that is at most n; 1 for n below 1."""
    return 1 << max(0, n.bit_length() - 1)


def block_size(k: Workload) -> int:
    """The number of threads in a block: a power of two."""
    return power_of_two(min(k.target.block_threads, thresholds.BLOCK_THREADS))


def accumulators(k: Workload) -> int:
    """The number of a thread's vector registers that may hold results."""
    return max(1, int(k.target.vector_registers * thresholds.RESULTS_OF_REGISTERS))


# ---- threads along loops, and blocks along the rest ----------------------------------------------


def with_blocks(k: Workload, nest: Nest, along: Iterable[UOp], threads: int) -> Nest:
    """The nest with `threads` threads distributed along these loops, in this order, and blocks
    along the remainder of all loops."""
    return with_grid(k, with_threads(k, nest, along, threads))


def with_threads(
    k: Workload, nest: Nest, along: Iterable[UOp], threads: int, axes_left: int = MOST_AXES
) -> Nest:
    """The nest with `threads` threads distributed along these loops, in this order. axes_left: the
    number of a block's axes that may be used."""
    for r in along:
        if nest.left(r) > dtypes.int.max:
            nest = _with_tiles(nest, (SPLIT, r, thresholds.LONG_TURN))
        # after a SPLIT, threads divide the inner loop
        splits = [n for op, tiled, n in nest.tiles if tiled is r and op is SPLIT]
        n = _share(splits[-1] if splits else nest.left(r), threads, k.target.warp)
        if n > 1 and axes_left:
            nest = _with_tiles(nest, (LOCAL, r, n))
            threads //= n
            axes_left -= 1
    return nest


def _share(left: int, threads: int, warp: int) -> int:
    """The number of threads for a loop of `left` iterations: whole warps, as even as possible."""
    if left <= threads:
        return left
    even = -(-left // -(-left // threads))
    return min(threads, -(-even // max(1, warp)) * max(1, warp))


def with_grid(k: Workload, nest: Nest) -> Nest:
    """The nest with the remainder of its longest loops as axes of the grid. An axis that would be
    too long is split, so that each block runs several iterations."""
    # a loop with at most one iteration stays a loop (see `to_blocks`)
    around = [r for r in reversed(nest.loops(k.around)) if extent(r) > 1]
    loops = [r for r in around if _is_around_all(k, r)]
    longest = sorted(loops, key=nest.left, reverse=True)[:MOST_AXES]
    grid = tuple(r for r in loops if r in longest)
    for r, most in zip(grid, k.target.grid, strict=False):
        if nest.left(r) > most and not any(op is SPLIT and x is r for op, x, _ in nest.tiles):
            nest = _with_tiles(nest, (SPLIT, r, -(-nest.left(r) // most)))
    return replace(nest, grid=grid)


def _is_around_all(k: Workload, r: UOp) -> bool:
    """Whether a loop is around all stores and reduces of a kernel."""
    stored = all(r in store.own_ranges for store in k.sink.src)
    return stored and all(r in reduce.ranges for reduce in k.table.reduces)


def _is_reduced_in_all_loops(k: Workload) -> bool:
    return all(_is_around_all(k, r) for r in k.around)


def _with_tiles(nest: Nest, *tiles: Tile) -> Nest:
    """The nest with more tiles, except those of size 1."""
    return replace(nest, tiles=(*nest.tiles, *[tile for tile in tiles if tile[2] > 1]))


def _with_parts(nest: Nest, r: UOp, *parts: tuple[OptOps, int]) -> Nest:
    """The nest with the parts of a tile along a loop, the innermost first. If the tile does not
    divide the loop, the loop is SPLIT into whole tiles first: then only the loop over tiles is
    uneven, and the footprint of a tile is a box."""
    size = math.prod(n for _, n in parts)
    uneven = extent(r) > size and extent(r) % size
    return _with_tiles(nest, (SPLIT, r, size if uneven else 1), *[(op, r, n) for op, n in parts])


def loops_in_memory(k: Workload) -> list[UOp]:
    """The loops for threads: the one along which neighbouring threads access the fewest pieces of
    memory, then those around it, from the inside out. Loops inside it are left out, since their
    threads would vary faster."""
    loops = k.around
    if not loops:
        return []
    place = min(range(len(loops)), key=lambda n: (_pieces(k, loops[n]), -n))
    return loops[place::-1]


def _pieces(k: Workload, r: UOp) -> int:
    """Bytes that all accesses move if threads run along a loop: neighbours that are far apart move
    a piece of memory each, and a warp that reads a single element moves one piece."""
    piece, moved = thresholds.PIECE, 0
    for x in (*k.table.reads, *k.table.writes):
        # it runs in the loops of the reduces that use it
        reduces = [u for u in k.table.reduces if x in k.table.read_by(u.src[0])]
        runs = (iterations({*u.ranges, *u.own_ranges}) for u in reduces)
        step = x.step(r)
        apart = piece if step is None else min(piece, abs(step) * x.index.dtype.base.itemsize)
        each = apart if r in x.ranges else piece // max(1, k.target.warp)
        moved += max(runs, default=x.elements) * each
    return moved


def fits_vectors(k: Workload, r: UOp, accesses: Sequence[Access] | None = None) -> bool:
    """Whether every access along a loop (or each of these) is made of whole, aligned vectors, each
    of which one instruction moves."""

    def is_aligned(x: Access) -> bool:
        if x.step(r) != 1 or r in x.index.src[1].ranges:
            return False
        others = [x.step(other) for other in x.ranges if other is not r]
        if None in x.strides or None in others:
            return False
        constants = [terms(i).get(None, 0) for i in x.index.src[2:]]
        start = sum(c * (stride or 0) for c, stride in zip(constants, x.strides, strict=True))
        return all((step or 0) % k.lanes == 0 for step in (start, *others))

    all_accesses = (*k.table.reads, *k.table.writes) if accesses is None else accesses
    found = [x for x in all_accesses if r in x.ranges]
    whole = k.lanes > 1 and not is_symbolic(r) and extent(r) % k.lanes == 0
    return whole and bool(found) and all(map(is_aligned, found))


# ---- contractions: the results that one block computes -------------------------------------------


@dataclass(frozen=True)
class ResultTile:
    """The results of a contraction that one block computes: the largest tile that leaves enough
    blocks for the whole device.

    a: the operand with the rows. b: the operand with the columns. down, across: the number of
    threads (with tensor cores, of warps) along the rows and along the columns. high, wide: the
    units of rows and of columns that each of them computes. unit: the rows and columns of a unit: 1
    and a vector for a thread, 16 and 8 for a warp (`gpu/mma.py`). step: how many terms of the sum
    are in the panels at a time; with tensor cores, how many MMA steps. row_bytes: bytes of a row of
    `a` and of a column of `b` in a panel, for a step of 1. padding: bytes after each of them. kept: how many of each panel there are (PIPELINE).

    A thread's vectors are `across` vectors apart, so that neighbouring threads read neighbouring
    vectors of the panel and write neighbouring vectors of the result.
    """

    a: Access
    b: Access
    row: UOp
    column: UOp
    down: int
    across: int
    high: int
    wide: int
    unit: tuple[int, int]
    row_bytes: tuple[int, int]
    padding: int = 0
    step: int = 1
    kept: int = 1

    @property
    def rows(self) -> int:
        return self.down * self.high * self.unit[0]

    @property
    def columns(self) -> int:
        return self.across * self.wide * self.unit[1]

    @property
    def panels(self) -> int:
        """Bytes of all panels."""
        a, b = (self.step * n + self.padding for n in self.row_bytes)
        return self.kept * (self.rows * a + self.columns * b)

    def fits(self, k: Workload) -> bool:
        """Whether its results fit into registers, and its panels into shared memory."""
        room = int(k.target.shared_bytes * thresholds.PANELS_OF_SHARED)
        return self.high * self.wide <= accumulators(k) and self.panels <= room

    def exceeds_results(self) -> bool:
        """Whether the tile is larger than the results."""
        return self.rows > extent(self.row) or self.columns > extent(self.column)

    def blocks(self, k: Workload) -> int:
        """The number of blocks."""
        others = iterations(r for r in k.around if r not in (self.row, self.column))
        return -(-extent(self.row) // self.rows) * -(-extent(self.column) // self.columns) * others


def contraction_of(k: Workload) -> Contraction:
    """The kernel's contraction, which must exist."""
    assert k.table.contraction is not None
    return k.table.contraction


def _row_and_column(k: Workload) -> tuple[Access, Access, UOp, UOp] | None:
    """The operand with rows, the operand with columns, and these two loops. Columns are preferably
    contiguous in the result."""
    of_one = k.of_one
    loops = [r for r in k.around if r in of_one and not is_symbolic(r)]
    columns = [r for r in loops if extent(r) >= k.lanes]
    if not columns:
        return None

    def worth(r: UOp) -> tuple:
        stored = all(w.step(r) in (0, 1) for w in k.table.writes)
        return stored, of_one[r].step(r) == 1, extent(r)

    column = max(columns, key=worth)
    rows = [r for r in loops if of_one[r] is not of_one[column]]
    if not rows:
        return None
    row = max(rows, key=extent)
    return of_one[row], of_one[column], row, column


def _largest(
    k: Workload, tiles: Iterable[ResultTile], steps: Sequence[tuple[int, int]]
) -> ResultTile | None:
    """The first (largest) tile that leaves enough blocks, with the first of these steps, and panels
    kept, for which it fits; the last one that fits if none does; None if none fits."""
    found: list[ResultTile] = []
    for tile in tiles:
        sized = (replace(tile, step=step, kept=kept) for step, kept in steps)
        found += [t for t in sized if t.fits(k)][:1]
    enough = (tile for tile in found if tile.blocks(k) >= thresholds.FILLING_BLOCKS)
    return next(enough, found[-1] if found else None)


def block_tile(k: Workload) -> ResultTile | None:
    """The best tile for the most threads a block may have, or for half or a quarter of them, but at
    least a warp; None if no tile fits."""
    loops, most = _row_and_column(k), block_size(k)
    if loops is None:
        return None
    a, b, row, column = loops
    (summed,) = contraction_of(k).summed
    # steps that divide the sum need no condition, so they come first
    sizes = (thresholds.PANEL_STEP >> n for n in range(3))
    steps = sorted(sizes, key=lambda n: extent(summed) % n != 0)
    rows, vectors = extent(row), -(-extent(column) // k.lanes)
    tiles = []
    for threads, (high, wide) in itertools.product((most, most >> 1, most >> 2), TILES):
        if threads < min(most, k.target.warp):
            continue
        # about as many across as down, unless one of the loops is short
        across = min(1 << threads.bit_length() // 2, power_of_two(vectors))
        down = min(threads // across, power_of_two(rows))
        across = min(threads // down, power_of_two(vectors))
        tile = ResultTile(*loops, down, across, high, wide, (1, k.lanes), (a.itemsize, b.itemsize))
        if (high, wide) == (1, 1) or not tile.exceeds_results():
            tiles.append(tile)
    fits = [(n, kept) for n in steps for kept in (2, 1) if extent(summed) >= n * kept]
    return _largest(k, tiles, fits)


def form_in_tensor_cores(k: Workload) -> str | None:
    """The format in which the device's tensor cores may take a contraction's operands, if any."""
    found = operands(contraction_of(k).reduce)
    return found[2] if found and why_no_tensor_core(found[2], k.target) is None else None


def warp_tile(k: Workload) -> ResultTile | None:
    """The best tile for tensor cores, no larger than the results, with a step that divides the sum;
    None if no tile fits."""
    form, loops = form_in_tensor_cores(k), _row_and_column(k)
    if loops is None or form is None:
        return None
    (summed,) = contraction_of(k).summed
    deep, size = mma.depth(form), extent(summed)
    steps = [n for n in (4, 2, 1) if size % (n * deep) == 0 and size > n * deep]
    nbytes = deep * mma.DTYPES[form].itemsize
    tiles = []
    for down, across, high, wide in WARP_TILES:
        tile = ResultTile(*loops, down, across, high, wide, (mma.ROWS, mma.COLUMNS),
                          (nbytes, nbytes), PADDINGS[-1])  # fmt: skip
        if down * across * mma.THREADS <= block_size(k) and not tile.exceeds_results():
            tiles.append(tile)
    most = 3 if k.target.async_copies else 2
    sizes = [(n, kept) for n in steps for kept in range(most, 0, -1) if size >= n * kept * deep]
    return _largest(k, tiles, sorted(sizes, key=lambda n: n[1] == 1))  # two panels rather than one


def has_a_long_sum(k: Workload) -> bool:
    summed = contraction_of(k).summed
    is_long = iterations(summed) >= 4 * thresholds.PANEL_STEP
    return len(summed) == 1 and not is_symbolic(summed[0]) and is_long


def has_a_block_tile(k: Workload) -> bool:
    tile = block_tile(k)
    return tile is not None and tile.rows >= thresholds.LEAST_TILE <= tile.columns


def tiles_from_panels(k: Workload) -> Nest:
    """Each block computes a tile of results, from panels of both operands for each step of the
    sum."""
    t = block_tile(k)
    assert t is not None, "a plan that uses the tile needs `has_a_block_tile`"
    (summed,) = contraction_of(k).summed
    nest = _with_parts(Nest(), t.column, (VECTOR, k.lanes), (LOCAL, t.across), (UPCAST, t.wide))
    nest = _with_parts(nest, t.row, (UPCAST, t.high), (LOCAL, t.down))
    nest = _with_tiles(nest, (SPLIT, summed, t.step))
    panels = (t.a, summed), (t.b, summed)
    return with_grid(k, replace(nest, panels=panels, pipeline=(summed, t.kept)))


# tensor cores


def in_tensor_cores(k: Workload) -> Nest:
    """Each warp computes a tile of results, from panels of both operands for each step of the sum,
    which the warps of a block share."""
    t, form = warp_tile(k), form_in_tensor_cores(k)
    assert t is not None and form is not None, "a plan that uses the tile needs `has_a_warp_tile`"
    (summed,) = contraction_of(k).summed
    nest = Nest()
    for r, n in ((t.column, t.columns), (t.row, t.rows)):
        nest = _with_tiles(nest, (SPLIT, r, n if extent(r) % n else 1))
    deep = mma.depth(form)
    sizes = ((t.row, mma.ROWS), (t.column, mma.COLUMNS), (summed, deep))
    nest = _with_tiles(nest, *[(TENSOR_CORE, r, n) for r, n in sizes])
    nest = _with_tiles(nest, (UPCAST, t.column, t.wide), (LOCAL, t.column, t.across))
    nest = _with_tiles(nest, (UPCAST, t.row, t.high), (LOCAL, t.row, t.down))
    nest = _with_tiles(nest, (SPLIT, summed, t.step))
    panels = (t.a, summed), (t.b, summed)
    return with_grid(k, replace(nest, panels=panels, pipeline=(summed, t.kept)))


# windows


def window_nest(k: Workload) -> Nest | None:
    """A convolution as tiles of results whose operands come from panels: the weights, and the part
    of an image that the windows of a tile cover. None if nothing has windows, or no tile fits."""
    operands = contraction_of(k).a, contraction_of(k).b
    images = [x for x in operands if x.overlaps]
    columns = [r for r in loops_in_memory(k) if k.of_one.get(r) in images]
    rows = [r for r in k.around if r in k.of_one and r not in columns]
    if len(images) != 1 or not columns or not rows or any(map(is_symbolic, k.loops)):
        return None
    form, row = form_in_tensor_cores(k), max(rows, key=extent)
    in_cores = [(row, columns, form, tile) for tile in WARP_WINDOWS if form]
    tiles = [*in_cores, *[(row, columns, None, tile) for tile in WINDOWS]]
    # panels for a part of the sum: preferably of a loop that moves no window
    windows = {r for window in images[0].overlaps for r in window}
    summed = sorted(contraction_of(k).summed, key=lambda r: (r in windows, -extent(r)))
    found: Nest | None = None
    for tile, r in itertools.product(tiles, (*summed[:2], None)):
        nest = _with_windows(k, r, *tile)
        found = nest or found
        if nest and math.prod(map(nest.left, k.around)) >= thresholds.FILLING_BLOCKS:
            break
    return found


def _with_windows(
    k: Workload, stepped: UOp | None, row: UOp, columns: list[UOp], form: str | None,
    tile: tuple[int, int],
) -> Nest | None:  # fmt: skip
    """The nest in which a thread (with a form, a warp) has so many units of rows, and at most so
    many of columns; None if panels do not fit. stepped: the loop of the sum in which panels are
    filled; None for all of it at once."""
    (high, wide), summed = tile, contraction_of(k).summed
    deep, threads = mma.depth(form) if form else 1, block_size(k) // (mma.THREADS if form else 1)
    across = threads // 2 if form else 2 * k.target.warp  # of them, at most so many along columns
    if form and (stepped is None or extent(stepped) % deep or extent(stepped) == deep):
        return None
    first, *others = columns
    unit = {row: mma.ROWS, first: mma.COLUMNS} if form else {}
    parts: dict[UOp, tuple[int, int]] = {}  # copies, threads
    for r in columns:
        left = -(-extent(r) // unit.get(r, 1))
        copies = _even(left, wide if form or r is not first else 1)
        parts[r] = copies, _even(-(-left // copies), 1 if form and r is first else across)
        wide, across, threads = wide // copies, across // parts[r][1], threads // parts[r][1]
    high = min(high, -(-extent(row) // unit.get(row, 1)))
    parts[row] = high, power_of_two(min(threads, -(-extent(row) // (unit.get(row, 1) * high))))
    sizes = {r: unit.get(r, 1) * copies * share for r, (copies, share) in parts.items()}

    def nbytes(step: int) -> int:
        """Of both panels: boxes that the windows of a tile cover."""
        along = {r: extent(r) for r in summed} | sizes | {stepped: step * deep}
        boxes = (
            x.itemsize * math.prod(
                1 + sum(abs(f or 0) * (along.get(r, 1) - 1) for r, f in dim.items()) for dim in x.dims)
            for x in (contraction_of(k).a, contraction_of(k).b)
        )  # fmt: skip
        return sum(boxes)

    room = k.target.shared_bytes * thresholds.PANELS_OF_SHARED
    left = 1 if stepped is None else extent(stepped) // deep
    steps = [(n, kept) for kept in (2, 1) for n in (8, 4, 2, 1)
             if left % n == 0 and left >= n * kept and kept * nbytes(n) <= room]  # fmt: skip
    if not steps:
        return None
    (step, kept), nest = steps[0], Nest()
    if form:
        for r in (first, row):
            nest = _with_tiles(nest, (SPLIT, r, sizes[r] if extent(r) % sizes[r] else 1))
        units = ((row, mma.ROWS), (first, mma.COLUMNS), (stepped, deep))
        nest = _with_tiles(nest, *[(TENSOR_CORE, r, n) for r, n in units])
    for r, (copies, share) in parts.items():
        if form and r in unit:
            nest = _with_tiles(nest, (UPCAST, r, copies), (LOCAL, r, share))
        else:
            nest = _with_parts(nest, r, (UPCAST, copies), (LOCAL, share))
    if stepped is not None and step < left:
        nest = _with_tiles(nest, (SPLIT, stepped, step))
    panels = tuple((x, stepped) for x in (contraction_of(k).a, contraction_of(k).b))
    pipeline = (stepped, kept) if stepped is not None and kept > 1 else None
    return with_grid(k, replace(nest, panels=panels, pipeline=pipeline))


def _even(n: int, most: int) -> int:
    """The largest part, at most `most`, that divides n with little left over."""
    return max(p for p in range(1, most + 1) if p <= n and -(-n // p) * p * 8 <= n * 9)


# tiles in registers


def _reused(k: Workload) -> list[UOp]:
    """The loops of results along which a thread can reuse an operand that differs between
    threads."""
    contraction, loops = contraction_of(k), loops_in_memory(k)
    if not loops:
        return []
    found = [x for x in (contraction.a, contraction.b) if loops[0] in x.ranges]
    other = [r for r in k.around if not is_symbolic(r) and extent(r) > 1]
    return [r for r in other if any(r not in x.ranges for x in found)]


def has_many_results(k: Workload) -> bool:
    is_short = iterations(contraction_of(k).summed) < 4 * thresholds.PANEL_STEP
    return is_short or iterations(k.around) >= thresholds.MANY_THREADS


def tiles_in_registers(k: Workload) -> Nest:
    """Threads along memory, each of which computes several rows at once."""
    loops, row = loops_in_memory(k), max(_reused(k), key=extent)
    nest = Nest(((VECTOR, loops[0], k.lanes),) if fits_vectors(k, loops[0]) else ())
    results = iterations(k.around)
    for n in (8, 4, 2):
        if n <= extent(row) and results // n >= thresholds.MANY_THREADS and n <= accumulators(k):
            nest = _with_tiles(nest, (UPCAST, row, n))
            break
    return with_blocks(k, nest, [r for r in loops if r is not row], block_size(k))


# ---- reduces that threads share -----------------------------------------------------------------


def _is_contiguous(k: Workload, reduce: UOp, r: UOp) -> bool:
    """Whether most of a reduce's reads that depend on a loop are contiguous along it."""
    found = [x for x in k.table.read_by(reduce.src[0]) if r in x.ranges]
    return sum(x.elements * (1 if x.step(r) == 1 else -1) for x in found) > 0


def needs_rows_again(k: Workload) -> bool:
    """Whether results need a finished reduce and then each element again."""
    reduces = set(k.table.reduces)
    nested = any(reduces & set(u.src[0].toposort()) for u in reduces)
    return nested or not _is_reduced_in_all_loops(k)


def has_contiguous_or_few_sums(k: Workload) -> bool:
    contiguous = [_is_contiguous(k, u, r) for u, r in _shared(k).items()]
    return all(contiguous) or iterations(k.around) < thresholds.MANY_THREADS


def _shared(k: Workload) -> dict[UOp, UOp]:
    """Each reduce -> the loop that threads share: a contiguous one if it is long enough for a warp,
    else the longest."""
    warp, found = max(2, k.target.warp), {}
    for u in k.table.reduces:
        if loops := [r for r in u.own_ranges if r.dtype is dtypes.int]:
            found[u] = max(
                loops, key=lambda r: (_is_contiguous(k, u, r) and extent(r) >= warp, extent(r))
            )
    return found


def shared_sums(k: Workload) -> Nest:
    """Threads share each sum; their number balances reading the elements against adding up the
    partial sums. The other threads of the block compute other results. If a row of results follows
    the sums, the same threads write it."""
    shared = _shared(k)
    loops = [r for r in k.loops if r in shared.values()]
    again = [r for r in k.around if not _is_around_all(k, r)]
    results = [r for r in loops_in_memory(k) if r not in again]
    nest = Nest(tuple((VECTOR, r, k.lanes) for r in (*loops, *again[-1:]) if fits_vectors(k, r)))
    # no more threads than shared memory has room for partial results, twice (`steps_of_group`)
    lanes = 2 * max([1, *[n for _, _, n in nest.tiles]])
    each = sum(max(u.dtype.itemsize, k.target.least_bytes) for u in shared) * lanes  # bytes
    threads = power_of_two(min(block_size(k), k.target.shared_bytes // each))
    contiguous = all(_is_contiguous(k, reduce, r) for reduce, r in shared.items())
    beside = 1 if contiguous or not results else min(k.target.warp or 1, extent(results[0]))
    n = _group(min(map(nest.left, loops)), max(1, threads // power_of_two(beside)))
    if again and nest.left(again[-1]) >= n:
        nest = _with_tiles(nest, (LOCAL, again[-1], n))
    beside = max(iterations(k.around) // thresholds.FILLING_BLOCKS, k.target.warp // n, 1)
    nest = with_threads(k, nest, results, min(threads // n, beside), MOST_AXES - 1)
    # the last loop first: a GROUP adds a loop over partial results after the loop that it divides
    for r in reversed(loops):
        nest = _with_tiles(nest, (GROUP, r, n))
        at_once = 1 if is_symbolic(r) else math.gcd(nest.left(r), thresholds.READS_AT_ONCE)
        nest = _with_tiles(nest, (UNROLL, r, at_once))
    return with_grid(k, nest)


def _group(size: int, most: int) -> int:
    """The number of threads that share a sum, a power of two. Each of n threads reads size/n
    elements from memory, several at once, and then partial results from a panel."""
    reads = size * thresholds.SHARED_READS / thresholds.READS_AT_ONCE  # of the panel take as long
    sizes = (1 << n for n in range(min(size, most).bit_length()))
    return min(sizes, key=lambda n: reads / n + sum(steps_of_group(n)))


# ---- everything else ----------------------------------------------------------------------------


def squares(k: Workload) -> Nest:
    """A square is read along one axis and written along the other, by way of a panel; in vectors,
    where these are aligned."""
    found = contiguous_along(k)
    written = {r for r in found if any(x.step(r) == 1 for x in k.table.writes)}
    column, row = sorted(found, key=lambda r: r not in written)
    side, threads = thresholds.SQUARE, block_size(k)
    lanes = min(k.lanes, side) if fits_vectors(k, column, k.table.writes) else 1
    across = min(side // lanes, threads)
    down = min(side, threads // across)
    nest = _with_parts(
        Nest(), column, (VECTOR, lanes), (LOCAL, across), (UPCAST, side // lanes // across)
    )
    nest = _with_parts(nest, row, (LOCAL, down), (UPCAST, side // down))
    others = [x for x in k.table.reads if x.step(row) == 1 and column in x.ranges]
    return with_grid(k, replace(nest, panels=tuple((x, None) for x in others)))


def along_memory(k: Workload) -> Nest:
    """Threads along contiguous memory, each with a vector."""
    loops = loops_in_memory(k)
    enough = (
        not (k.table.reduces or k.scanned)
        or iterations(k.around) >= k.lanes * thresholds.MANY_THREADS
    )
    vector = loops and enough and fits_vectors(k, loops[0])
    nest = Nest(((VECTOR, loops[0], k.lanes),) if vector else ())
    return with_blocks(k, nest, loops, block_size(k))


# ---- the table -----------------------------------------------------------------------------------

REDUCED_IN_ALL_LOOPS = A_CONTRACTION | {
    "no reduce outside of a loop of results": _is_reduced_in_all_loops,
}
A_LONG_SUM = REDUCED_IN_ALL_LOOPS | {
    "one loop that is summed, long enough for several panels": has_a_long_sum,
}
SHARED_REDUCES: Needs = {
    "reduces, each with a loop that can be divided among threads":
        lambda k: bool(k.table.reduces) and len(_shared(k)) == len(k.table.reduces),
}  # fmt: skip

GPU = [
    Plan(
        "tensor cores",
        "a sum of products that tensor cores compute: each warp has a tile of results in its "
        "registers, and the warps of a block share panels of both operands",
        A_LONG_SUM | {
            "products of two operands of a dtype that the tensor cores take, float32 only if "
            "TF32=1": lambda k: form_in_tensor_cores(k) is not None,
            "rows and columns for a tile, and a sum of several whole steps of the tensor cores":
                lambda k: warp_tile(k) is not None,
        },
        in_tensor_cores,
    ),
    Plan(
        "tiles from panels",
        "each operand is reused along a loop of the other: the threads of a block copy a part of "
        "both to panels that they share, and keep a tile of results in their registers",
        A_LONG_SUM | {
            "rows and columns for a tile, and shared memory for its panels": has_a_block_tile,
        },
        tiles_from_panels,
    ),
    Plan(
        "windows from panels",
        "a convolution: the threads of a block copy the weights, and the part of an image that its "
        "windows cover, to panels that they share, and keep a tile of results in their registers",
        REDUCED_IN_ALL_LOOPS | {
            "one operand with windows, and shared memory for those of a tile":
                lambda k: window_nest(k) is not None,
        },
        lambda k: window_nest(k) or Nest(),
    ),
    Plan(
        "tiles in registers",
        "each operand is reused along a loop of the other, but the sums are short, or of windows: "
        "threads along memory, each with several results that share its reads",
        REDUCED_IN_ALL_LOOPS | {
            "a loop of results, other than the threads', along which a thread can reuse an operand":
                lambda k: bool(_reused(k)),
            "more results than a GPU has threads, or short sums": has_many_results,
        },
        tiles_in_registers,
    ),
    Plan(
        "a block for a row",
        "a row is reduced, and is needed again once its results are known, as in a softmax: the "
        "threads of a block share the reduces and then write the row",
        SHARED_REDUCES | {
            "results that need a finished reduce and then each element again": needs_rows_again,
        },
        shared_sums,
    ),
    Plan(
        "shared sums",
        "reduces are along contiguous memory, or there are few results: threads share each reduce, "
        "and neighbouring threads read neighbouring elements",
        SHARED_REDUCES | {
            "reduces that are long enough to be worth a barrier":
                lambda k: min(map(extent, _shared(k).values())) >= thresholds.LEAST_SHARED,
            "reduces along contiguous memory, or fewer results than a GPU has threads":
                has_contiguous_or_few_sums,
        },
        shared_sums,
    ),
    Plan(
        "transpose",
        "memory is contiguous along two different axes: a square goes through a panel, so that "
        "reading and writing are both contiguous",
        TWO_CONTIGUOUS_AXES | {
            "both axes as long as a warp is wide":
                lambda k: min(map(extent, contiguous_along(k))) >= thresholds.SQUARE,
        },
        squares,
    ),
    Plan(
        "along memory",
        "no plan above applies: threads along contiguous memory, each with a vector",
        {},
        along_memory,
    ),
]  # fmt: skip
