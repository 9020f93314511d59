"""Tiles of a contraction for GPUs: how many results a block of threads computes, and its panels.

There are two kinds. Without tensor cores each thread computes a part of the tile in its registers
(`BlockTile`); with tensor cores each warp does (`WarpTile`). Either way the tile is the largest one
that leaves enough blocks for the whole device.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from tinyframe import thresholds
from tinyframe.algebra.access import Access, Contraction
from tinyframe.codegen.optimize.plans import Workload
from tinyframe.codegen.optimize.tensor_core import operands
from tinyframe.codegen.thread_blocks import why_no_tensor_core
from tinyframe.uop import mma
from tinyframe.uop.node import UOp, is_symbolic, iterations, length

# Rows, and vectors of columns, of a thread; the largest tile first.
TILES = ((8, 2), (8, 1), (4, 1), (2, 1), (1, 1))

# A block's warps down and across; a warp's multiples of 16 rows and 8 columns. The largest first.
WARP_TILES = ((2, 4, 4, 4), (2, 4, 2, 4), (2, 4, 2, 2), (2, 2, 2, 2), (1, 2, 1, 2), (1, 1, 1, 1))


# ---- resources of a device -----------------------------------------------------------------------


def power_of_two(n: int) -> int:
    """The largest power of two that is no larger than n; 1 for n below 1."""
    return 1 << max(0, n.bit_length() - 1)


def block_size(k: Workload) -> int:
    """The number of threads in a block: a power of two."""
    return power_of_two(min(k.target.block_threads, thresholds.BLOCK_THREADS))


def accumulators(k: Workload) -> int:
    """The number of vector registers of a thread that hold results."""
    return max(1, int(k.target.vector_registers * thresholds.RESULTS_OF_REGISTERS))


def _panel_budget(k: Workload) -> int:
    """Bytes for the panels of a block."""
    return int(k.target.shared_bytes * thresholds.PANELS_OF_SHARED)


# ---- tiles ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ResultTile:
    """The results of a contraction that one block computes.

    a: the operand that has the rows. b: the one that has the columns. down, across: the number of
    threads or warps that share the rows and the columns. high, wide: the size of the part of each
    of them. step: how much of the sum is in the panels at a time.
    """

    a: Access
    b: Access
    row: UOp
    column: UOp
    down: int
    across: int
    high: int = 1
    wide: int = 1
    step: int = 1

    @property
    def rows(self) -> int:
        raise NotImplementedError

    @property
    def columns(self) -> int:
        raise NotImplementedError

    @property
    def panels(self) -> int:
        """Bytes of both panels."""
        raise NotImplementedError

    def blocks(self, k: Workload) -> int:
        """The number of blocks."""
        others = iterations(r for r in k.around if r not in (self.row, self.column))
        return -(-length(self.row) // self.rows) * -(-length(self.column) // self.columns) * others

    def exceeds_results(self) -> bool:
        """Whether the tile is larger than the results."""
        return self.rows > length(self.row) or self.columns > length(self.column)


@dataclass(frozen=True, kw_only=True)
class BlockTile(ResultTile):
    """A tile computed by threads, `high` rows and `wide` vectors of columns each.

    A thread's vectors are `across` vectors apart, so that neighbouring threads read neighbouring
    vectors of the panel and write neighbouring vectors of the result.
    """

    lanes: int

    @property
    def rows(self) -> int:
        return self.down * self.high

    @property
    def columns(self) -> int:
        return self.across * self.wide * self.lanes

    @property
    def panels(self) -> int:
        return self.step * (self.rows * self.a.itemsize + self.columns * self.b.itemsize)


@dataclass(frozen=True, kw_only=True)
class WarpTile(ResultTile):
    """A tile computed by warps, `high` times 16 rows and `wide` times 8 columns each, with tensor
    cores. form: of the operands. step: MMA steps along the sum for each filling of the panels."""

    form: str

    @property
    def rows(self) -> int:
        return self.down * self.high * mma.ROWS

    @property
    def columns(self) -> int:
        return self.across * self.wide * mma.COLUMNS

    @property
    def depth(self) -> int:
        """The length of the part of the sum in the panels."""
        return self.step * mma.depth(self.form)

    @property
    def panels(self) -> int:
        """Bytes of both panels, with the padding after each row."""
        row = self.depth * mma.DTYPES[self.form].itemsize
        return (self.rows + self.columns) * (row + mma.PIECE_BYTES)


AnyTile = TypeVar("AnyTile", bound=ResultTile)


def block_tile(k: Workload) -> BlockTile | None:
    """The best tile for threads; None if there is none."""
    return _largest(k, _block_tiles(k))


def warp_tile(k: Workload) -> WarpTile | None:
    """The best tile for tensor cores; None if there is none."""
    return _largest(k, _warp_tiles(k))


def _largest(k: Workload, tiles: Iterable[AnyTile]) -> AnyTile | None:
    """The first, so the largest, tile that leaves enough blocks; the last one if none does."""
    found = list(tiles)
    enough = (tile for tile in found if tile.blocks(k) >= thresholds.FILLING_BLOCKS)
    return next(enough, found[-1] if found else None)


def _block_tiles(k: Workload) -> Iterator[BlockTile]:
    """All tiles whose results fit into registers and whose panels fit into shared memory, for as
    many threads as a block may have, then for half and for a quarter of them."""
    loops = _row_and_column(k)
    if loops is None:
        return
    _, _, row, column = loops
    for threads, (high, wide) in itertools.product(_block_sizes(k), TILES):
        across, down = _threads_of_a_tile(threads, length(row), -(-length(column) // k.lanes))
        tile = BlockTile(*loops, down, across, high, wide, lanes=k.lanes)
        steps = (replace(tile, step=step) for step in _steps(k))
        tile = next((tile for tile in steps if tile.panels <= _panel_budget(k)), tile)
        fits = tile.step > 1 and high * wide <= accumulators(k)
        if fits and ((high, wide) == (1, 1) or not tile.exceeds_results()):
            yield tile


def _warp_tiles(k: Workload) -> Iterator[WarpTile]:
    """All tiles that are no larger than the results, whose step divides the sum, and that fit into
    the registers, the shared memory and the threads of a block."""
    form = form_in_tensor_cores(k)
    loops = _row_and_column(k)
    if loops is None or form is None:
        return
    (summed,) = contraction_of(k).summed
    for down, across, high, wide in WARP_TILES:
        one = WarpTile(*loops, down, across, high, wide, form=form)
        steps = (replace(one, step=n) for n in (4, 2, 1) if _is_multiple(summed, n * one.depth))
        tile = next((tile for tile in steps if tile.panels <= _panel_budget(k)), None)
        if (
            tile is not None
            and not tile.exceeds_results()
            and high * wide <= accumulators(k)
            and down * across * mma.THREADS <= block_size(k)
        ):
            yield tile


def _is_multiple(r: UOp, n: int) -> bool:
    """Whether a loop's length is a multiple of n, larger than n."""
    return length(r) % n == 0 and length(r) > n


def form_in_tensor_cores(k: Workload) -> str | None:
    """The form in which the device's tensor cores take a contraction's operands, if they may."""
    found = operands(contraction_of(k).reduce)
    return found[2] if found and why_no_tensor_core(found[2], k.target) is None else None


def contraction_of(k: Workload) -> Contraction:
    """The contraction of a kernel that has one."""
    assert k.table.contraction is not None
    return k.table.contraction


def _row_and_column(k: Workload) -> tuple[Access, Access, UOp, UOp] | None:
    """The operands of a contraction with rows and with columns, and these loops; columns are
    preferably contiguous in the result."""
    contraction = k.table.contraction
    if contraction is None:
        return None
    a, b = contraction.a, contraction.b
    of_one = {r: x for x, other in ((a, b), (b, a)) for r in x.ranges - other.ranges}
    loops = [r for r in k.around if r in of_one and not is_symbolic(r)]
    columns = [r for r in loops if length(r) >= k.lanes]
    if not columns:
        return None

    def worth(r: UOp) -> tuple:
        stored = all(w.step(r) in (0, 1) for w in k.table.writes)
        return stored, of_one[r].step(r) == 1, length(r)

    column = max(columns, key=worth)
    b = of_one[column]
    rows = [r for r in loops if of_one[r] is not b]
    if not rows:
        return None
    row = max(rows, key=length)
    return of_one[row], b, row, column


def _block_sizes(k: Workload) -> list[int]:
    """Numbers of threads in a block: all, half, a quarter, but at least a warp."""
    sizes = [block_size(k) >> n for n in range(3)]
    return [n for n in sizes if n >= min(block_size(k), k.target.warp)]


def _threads_of_a_tile(threads: int, rows: int, vectors: int) -> tuple[int, int]:
    """Threads across columns and down rows: about the same number of both, unless one is short."""
    across = min(1 << threads.bit_length() // 2, power_of_two(vectors))
    down = min(threads // across, power_of_two(rows))
    return min(threads // down, power_of_two(vectors)), down


def _steps(k: Workload) -> list[int]:
    """Sizes of a panel's part of the sum, the best first: divisors of the sum need no condition."""
    (summed,) = contraction_of(k).summed
    sizes = [thresholds.PANEL_STEP >> n for n in range(3)]
    return sorted(sizes, key=lambda n: length(summed) % n != 0)
