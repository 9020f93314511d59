"""The plans for GPUs, which run blocks of threads: a table, as in `optimize/plans.py`.

Three things make a kernel fast on a GPU. Neighbouring threads read neighbouring elements, so that a
warp reads a few whole pieces of memory (its accesses are *coalesced*). There are far more threads
than the device runs at once, so that some compute while others wait (latency hiding). And reused
data stays nearby: in a thread's registers, or else in the memory that a block shares.

    tensor cores         products of float16 or bfloat16: each warp has a tile of MMA results in
                         its registers, and the warps of a block share panels
    tiles from panels    any other product or convolution: a block computes a tile of results; both
                         operands pass through shared panels, and each thread keeps a part of the
                         tile in its registers
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
from typing import cast

from tinyframe import thresholds
from tinyframe.algebra.access import Access, Contraction
from tinyframe.codegen.optimize.loops import OptOps
from tinyframe.codegen.optimize.opt import is_0_beyond
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
from tinyframe.gpu.blocks import steps_of_group
from tinyframe.gpu.panels import is_vector
from tinyframe.gpu.tensor_core import operands, why_no_tensor_core
from tinyframe.uop.movement import flatten
from tinyframe.uop.node import Ops, UOp, extent, fresh_number, is_symbolic, iterations

SPLIT, UPCAST, UNROLL, VECTOR = OptOps.SPLIT, OptOps.UPCAST, OptOps.UNROLL, OptOps.VECTOR
LOCAL, GROUP, TENSOR_CORE = OptOps.LOCAL, OptOps.GROUP, OptOps.TENSOR_CORE

# rows and columns of a thread's results, the largest tile first; and of a warp's, in units of 16
# rows and 8 columns
TILES = ((16, 8), (8, 8), (8, 4), (4, 4), (2, 4), (1, 4))
WARP_TILES = ((4, 8), (4, 4), (2, 4), (2, 2), (1, 2), (1, 1))


# ---- resources of a device -----------------------------------------------------------------------


def power_of_two(n: int) -> int:
    """The largest power of two that is at most n; 1 for n below 1."""
    return 1 << max(0, n.bit_length() - 1)


def block_size(k: Workload) -> int:
    """The number of threads in a block: a power of two."""
    return power_of_two(min(k.target.block_threads, thresholds.BLOCK_THREADS))


# ---- threads along loops, and blocks along the rest ----------------------------------------------


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
    number = fresh_number(k.sink)
    outer, lane = UOp.range(-(-extent(r) // k.lanes), number), UOp.range(k.lanes, number + 1)
    in_vectors = {r: (outer * k.lanes + lane).cast(r.dtype)}

    def is_aligned(x: Access) -> bool:
        flat = flatten(x.index.src[2:], x.index.arg)
        valid = x.index.src[1].substitute(in_vectors).simplify()
        return lane not in valid.ranges and is_vector(flat, r, k.lanes)

    all_accesses = (*k.table.reads, *k.table.writes) if accesses is None else accesses
    found = [x for x in all_accesses if r in x.ranges]
    whole = k.lanes > 1 and not is_symbolic(r) and extent(r) % k.lanes == 0
    return whole and bool(found) and all(map(is_aligned, found))


# ---- contractions: the results that one block computes -------------------------------------------


@dataclass(frozen=True)
class BlockTile:
    """The results of a contraction that one block computes, from panels of both operands.

    shares: each loop of results in the tile -> the Opts that divide it, the innermost part first.
    units: with tensor cores, the rows, the columns and the terms of the sum that a warp computes at
    once. stepped: the loop of the sum in which panels are filled, `step` of its units at a time;
    None for all of the sum at once. kept: how many of each panel there are (PIPELINE). nbytes: of
    all panels.

    A thread's vectors of columns are apart, so that neighbouring threads read neighbouring vectors
    of the panel and write neighbouring vectors of the result.
    """

    shares: dict[UOp, tuple[tuple[OptOps, int], ...]]
    units: dict[UOp, int]
    stepped: UOp | None
    step: int = 1
    kept: int = 1
    nbytes: int = 0

    def size(self, r: UOp) -> int:
        """How many iterations of a loop are in the tile."""
        times = self.step if r is self.stepped else math.prod(n for _, n in self.shares.get(r, ()))
        return self.units.get(r, 1) * times

    def of(self, op: OptOps) -> int:
        """The number of threads (LOCAL), or of copies (UPCAST)."""
        return math.prod(n for parts in self.shares.values() for kind, n in parts if kind is op)

    def blocks(self, k: Workload) -> int:
        return math.prod(-(-extent(r) // self.size(r)) for r in k.around)

    def nest(self, k: Workload) -> Nest:
        """Each block computes the tile, from panels of both operands for each step of the sum."""
        uneven = [r for r in self.units if extent(r) % self.size(r)]
        nest = _with_tiles(Nest(), *[(SPLIT, r, self.size(r)) for r in uneven])
        nest = _with_tiles(nest, *[(TENSOR_CORE, r, n) for r, n in self.units.items()])
        for r, parts in self.shares.items():
            if r in self.units:
                nest = _with_tiles(nest, *[(op, r, n) for op, n in parts])
            else:
                nest = _with_parts(nest, r, *parts)
        panels = tuple((x, self.stepped) for x in (contraction_of(k).a, contraction_of(k).b))
        if self.stepped is not None:
            step = 1 if self.stepped in uneven else self.step
            nest = _with_tiles(nest, (SPLIT, self.stepped, step))
            nest = replace(nest, pipeline=(self.stepped, self.kept))
        return with_grid(k, replace(nest, panels=panels))


def contraction_of(k: Workload) -> Contraction:
    """The kernel's contraction, which must exist."""
    assert k.table.contraction is not None
    return k.table.contraction


def _row_and_columns(k: Workload) -> tuple[UOp, list[UOp]] | None:
    """A loop of one operand, and those of the other, the innermost first. In a convolution these
    are all loops over an image. Otherwise it is one, preferably contiguous in the result."""
    of_one, operands = k.of_one, (contraction_of(k).a, contraction_of(k).b)
    loops = [r for r in k.around if r in of_one and not is_symbolic(r)]
    images = [x for x in operands if x.overlaps]
    if len(images) == 1:
        columns = [r for r in loops_in_memory(k) if r in loops and of_one[r] is images[0]]
    else:

        def worth(r: UOp) -> tuple:
            stored = all(w.step(r) in (0, 1) for w in k.table.writes)
            return stored, of_one[r].step(r) == 1, extent(r)

        columns = sorted((r for r in loops if extent(r) >= k.lanes), key=worth)[-1:]
    rows = [r for r in loops if columns and of_one[r] is not of_one[columns[0]]]
    return (max(rows, key=extent), columns) if rows else None


def block_tile(k: Workload, form: str | None = None) -> BlockTile | None:
    """The first (largest) tile that leaves enough blocks for the whole device, for the most threads
    that a block may have, or for half or a quarter of them, but at least a warp; if there is none,
    the last one that fits; None if none fits. form: for tensor cores."""
    found: BlockTile | None = None
    loops, contraction = _row_and_columns(k), contraction_of(k)
    if loops is None or any(map(is_symbolic, contraction.summed)):
        return None
    most = block_size(k) // (mma.THREADS if form else 1)
    least = 1 if form else min(most, k.target.warp)
    counts = [most >> n for n in range(3) if most >> n >= least]
    # preferably panels for a part of a loop that moves no window
    windows = {r for x in (contraction.a, contraction.b) for d in x.overlaps for r in d}
    stepped = sorted(contraction.summed, key=lambda r: (r in windows, -extent(r)))[:2]
    steps = stepped if form else [*stepped, None]
    tiles = WARP_TILES if form else TILES
    for threads, tile in itertools.product(counts, tiles):
        new = next(filter(None, (_tile(k, *loops, form, threads, tile, r) for r in steps)), None)
        found = new or found
        if new and new.blocks(k) >= thresholds.FILLING_BLOCKS:
            break
    return found


def _tile(
    k: Workload, row: UOp, columns: list[UOp], form: str | None, threads: int,
    most: tuple[int, int], stepped: UOp | None,
) -> BlockTile | None:  # fmt: skip
    """The tile for so many threads (warps, with a form) and at most so many rows and columns of
    each; None if it does not fit the device or the kernel."""
    (high, wide), first = most, columns[0]
    has_windows = any(x.overlaps for x in (contraction_of(k).a, contraction_of(k).b))
    units = {row: mma.ROWS, first: mma.COLUMNS} if form else {}
    if form and stepped is not None:
        units[stepped] = mma.depth(form)
    if any(extent(r) < n for r, n in units.items()):
        return None
    lanes = 1 if form or has_windows else k.lanes
    rows = -(-extent(row) // units.get(row, 1))
    high, wide = min(high, rows), max(1, wide // lanes)
    across = 1 << threads.bit_length() // 2
    if form:
        across = max(1, threads // 2)
    elif has_windows:
        across = min(threads, max(2 * k.target.warp, threads // power_of_two(-(-rows // high))))
    shares: dict[UOp, tuple[tuple[OptOps, int], ...]] = {}
    axes = MOST_AXES - 1  # of the block, besides that of the rows
    for r in columns:
        left = -(-extent(r) // units.get(r, lanes if r is first else 1))
        if r is first and not form:  # neighbouring threads, and then copies that are apart
            local = _even(left, across)
            copies = _even(-(-left // local), wide)
            shares[r] = (VECTOR, lanes), (LOCAL, local), (UPCAST, copies)
        else:
            copies = _even(left, wide)
            local = _even(-(-left // copies), across if axes else 1)
            shares[r] = (UPCAST, copies), (LOCAL, local)
        axes -= local > 1
        wide, across, threads = wide // copies, across // local, threads // local
    shares[row] = (UPCAST, high), (LOCAL, power_of_two(min(threads, -(-rows // high))))
    tile = BlockTile(shares, units, stepped)
    reused = [max(map(tile.size, of)) for of in ((row,), columns)]
    vectors = tile.of(UPCAST) * lanes // (1 if form else k.lanes)
    room = max(1, int(k.target.vector_registers * thresholds.RESULTS_OF_REGISTERS))
    if vectors > room or min(reused) < thresholds.LEAST_TILE:
        return None
    return _with_panels(k, tile, form)


def _with_panels(k: Workload, tile: BlockTile, form: str | None) -> BlockTile | None:
    """The tile with panels for the longest steps that leave room for several; None if none do."""
    operands, stepped = (contraction_of(k).a, contraction_of(k).b), tile.stepped
    along = {r: extent(r) for r in contraction_of(k).summed} | {
        r: tile.size(r) for r in tile.shares
    }

    def nbytes(step: int) -> int:
        """Of both panels: the boxes that a tile reads, and a quarter more for padding."""
        at = along if stepped is None else along | {stepped: step * tile.units.get(stepped, 1)}
        sides = [[sum(abs(f or 0) * (at.get(r, 1) - 1) for r, f in dim.items()) + 1
                  for dim in x.dims] for x in operands]  # fmt: skip
        sizes = [mma.DTYPES[form].itemsize if form else x.itemsize for x in operands]
        return sum(n * math.prod(side) * 5 // 4 for n, side in zip(sizes, sides, strict=True))

    room = int(k.target.shared_bytes * thresholds.PANELS_OF_SHARED)
    if stepped is None:
        return replace(tile, nbytes=nbytes(1)) if nbytes(1) <= room else None
    size, unit, longest = extent(stepped), tile.units.get(stepped, 1), thresholds.PANEL_STEP
    most = 3 if form and k.target.async_copies else 2
    steps = [(longest >> n, m) for n in range(bool(form), 4) for m in range(most, 1, -1)]
    # Beyond the end of the sum, panels hold zeros. Values that are not products need a condition,
    # which takes three instructions instead of one, and which tensor cores cannot have.
    reduce = contraction_of(k).reduce
    vanishes = reduce.arg is Ops.ADD and is_0_beyond(reduce.src[0], stepped)
    beyond = size // thresholds.PANEL_STEP if vanishes else 0
    for step, kept in steps:
        n = step * unit
        if size >= n * kept and -size % n <= beyond and kept * nbytes(step) <= room:
            return replace(tile, step=step, kept=kept, nbytes=kept * nbytes(step))
    return None


def _even(n: int, most: int) -> int:
    """A number of parts of n, at most `most` and at least half of that, with little left over."""
    most = max(1, min(n, most))
    return min(range((most + 1) // 2, most + 1), key=lambda p: (-(-n // p) * p, -p))


def form_in_tensor_cores(k: Workload) -> str | None:
    """The format in which the device's tensor cores may take a contraction's operands, if any."""
    found = operands(contraction_of(k).reduce)
    return found[2] if found and why_no_tensor_core(found[2], k.target) is None else None


def warp_tile(k: Workload) -> BlockTile | None:
    """The tile for tensor cores; None if they do not take the operands, or none fits."""
    form = form_in_tensor_cores(k)
    return None if form is None else block_tile(k, form)


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
        loops = [(_is_contiguous(k, u, r) and extent(r) >= warp, extent(r), -n, r)
                 for n, r in enumerate(u.own_ranges) if r.dtype is dtypes.int]  # fmt: skip
        if loops:
            *_, found[u] = max(loops)
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
    is_many = iterations(k.around) >= k.lanes * thresholds.MANY_THREADS
    enough = is_many or not (k.table.reduces or k.scanned)
    vector = loops and enough and fits_vectors(k, loops[0])
    vectors = [loops[0]] if vector else [r for r in k.scanned if fits_vectors(k, r)]
    nest = Nest(tuple((VECTOR, r, k.lanes) for r in vectors))
    return with_grid(k, with_threads(k, nest, loops, block_size(k)))


# ---- the table -----------------------------------------------------------------------------------

A_LONG_SUM = A_CONTRACTION | {
    "no reduce outside of a loop of results": _is_reduced_in_all_loops,
    "a sum long enough for a panel":
        lambda k: iterations(contraction_of(k).summed) >= thresholds.PANEL_STEP,
}  # fmt: skip
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
            "rows and columns for a tile, and a sum of several steps of the tensor cores":
                lambda k: warp_tile(k) is not None,
        },
        lambda k: cast(BlockTile, warp_tile(k)).nest(k),
    ),
    Plan(
        "tiles from panels",
        "each operand is reused along a loop of the other: the threads of a block copy a part of "
        "both to panels that they share, and keep a tile of results in their registers",
        A_LONG_SUM | {
            "rows and columns for a tile, and shared memory for its panels":
                lambda k: block_tile(k) is not None,
        },
        lambda k: cast(BlockTile, block_tile(k)).nest(k),
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
