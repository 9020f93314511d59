"""Tiles of a contraction for GPUs: how many results a block of threads computes, from what panels.

There are two kinds. Threads that multiply and add have a part of the tile each, in registers
(`BlockTile`); with tensor cores it is the warps that have (`WarpTile`). Either way the tile is the
largest that leaves blocks for the whole device.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from tinyframe import thresholds
from tinyframe.algebra.access import Access, Contraction
from tinyframe.codegen.blocks import why_no_tensor_core
from tinyframe.codegen.optimize.plans import Kernel
from tinyframe.codegen.optimize.tensor_core import operands
from tinyframe.uop import mma
from tinyframe.uop.node import UOp, is_symbolic, iterations, length

# Of a thread: rows, and vectors of columns. The largest first.
TILES = ((8, 2), (8, 1), (4, 1), (2, 1), (1, 1))

# Of a block: warps down and across; of a warp: how often 16 rows and 8 columns. The largest first.
WARP_TILES = ((2, 4, 4, 4), (2, 4, 2, 4), (2, 4, 2, 2), (2, 2, 2, 2), (1, 2, 1, 2), (1, 1, 1, 1))


# ---- what a device has room for ------------------------------------------------------------------


def power_of_two(n: int) -> int:
    """The largest power of two that is no larger than n; 1 for n below 1."""
    return 1 << max(0, n.bit_length() - 1)


def block_size(k: Kernel) -> int:
    """How many threads a block gets: a power of two."""
    return power_of_two(min(k.target.block_threads, thresholds.BLOCK_THREADS))


def accumulators(k: Kernel) -> int:
    """Vectors of a thread's registers that hold results."""
    return max(1, int(k.target.vector_registers * thresholds.RESULTS_OF_REGISTERS))


def _room(k: Kernel) -> int:
    """Bytes for the panels of a block."""
    return int(k.target.shared_bytes * thresholds.PANELS_OF_SHARED)


# ---- tiles ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ResultTile:
    """The results of a contraction that one block computes.

    a: the operand that has the rows. b: the one that has the columns. down, across: how many share
    the rows and the columns, threads or warps. high, wide: what each of them has along both. step:
    how much of the sum is in the panels at a time.
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

    def blocks(self, k: Kernel) -> int:
        """How many blocks there are of such tiles."""
        others = iterations(r for r in k.around if r not in (self.row, self.column))
        return -(-length(self.row) // self.rows) * -(-length(self.column) // self.columns) * others

    def reaches_over(self) -> bool:
        """Is it larger than the results?"""
        return self.rows > length(self.row) or self.columns > length(self.column)


@dataclass(frozen=True, kw_only=True)
class BlockTile(ResultTile):
    """A tile by threads, `high` rows and `wide` vectors of columns each.

    The vectors of a thread lie `across` vectors apart, so that neighbouring threads read
    neighbouring vectors of the panel and write neighbouring vectors of the result.
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
    """A tile by warps, for which tensor cores compute `high` times 16 rows and `wide` times 8
    columns each. form: how the cores read the operands. They do so `step` times before the panels
    change."""

    form: str

    @property
    def rows(self) -> int:
        return self.down * self.high * mma.ROWS

    @property
    def columns(self) -> int:
        return self.across * self.wide * mma.COLUMNS

    @property
    def depth(self) -> int:
        """How much of the sum is in the panels."""
        return self.step * mma.depth(self.form)

    @property
    def panels(self) -> int:
        """Bytes of both panels, with the room after each row."""
        row = self.depth * mma.DTYPES[self.form].itemsize
        return (self.rows + self.columns) * (row + mma.PIECE_BYTES)


AnyTile = TypeVar("AnyTile", bound=ResultTile)


def block_tile(k: Kernel) -> BlockTile | None:
    """The tile for threads; None where there is none."""
    return _largest(k, _block_tiles(k))


def warp_tile(k: Kernel) -> WarpTile | None:
    """The tile for tensor cores; None where there is none."""
    return _largest(k, _warp_tiles(k))


def _largest(k: Kernel, tiles: Iterable[AnyTile]) -> AnyTile | None:
    """The first tile, so the largest, that leaves enough blocks; the last where none does."""
    found = list(tiles)
    enough = (tile for tile in found if tile.blocks(k) >= thresholds.FILLING_BLOCKS)
    return next(enough, found[-1] if found else None)


def _block_tiles(k: Kernel) -> Iterator[BlockTile]:
    """All tiles whose results fit the registers and whose panels fit the shared memory, for as many
    threads as a block may have, then for half and for a quarter."""
    loops = _row_and_column(k)
    if loops is None:
        return
    _, _, row, column = loops
    for threads, (high, wide) in itertools.product(_block_sizes(k), TILES):
        across, down = _threads_of_a_tile(threads, length(row), -(-length(column) // k.lanes))
        tile = BlockTile(*loops, down, across, high, wide, lanes=k.lanes)
        steps = (replace(tile, step=step) for step in _steps(k))
        tile = next((tile for tile in steps if tile.panels <= _room(k)), tile)
        fits = tile.step > 1 and high * wide <= accumulators(k)
        if fits and ((high, wide) == (1, 1) or not tile.reaches_over()):
            yield tile


def _warp_tiles(k: Kernel) -> Iterator[WarpTile]:
    """All tiles that are no larger than the results, whose parts of the sum divide it, and that fit
    the registers, the shared memory and the threads of a block."""
    form = form_in_tensor_cores(k)
    loops = _row_and_column(k)
    if loops is None or form is None:
        return
    (summed,) = contraction_of(k).summed
    for down, across, high, wide in WARP_TILES:
        one = WarpTile(*loops, down, across, high, wide, form=form)
        steps = (replace(one, step=n) for n in (4, 2, 1) if _goes_in_turns(summed, n * one.depth))
        tile = next((tile for tile in steps if tile.panels <= _room(k)), None)
        if (
            tile is not None
            and not tile.reaches_over()
            and high * wide <= accumulators(k)
            and down * across * mma.THREADS <= block_size(k)
        ):
            yield tile


def _goes_in_turns(r: UOp, n: int) -> bool:
    """Do several whole turns of n make up a loop?"""
    return length(r) % n == 0 and length(r) > n


def form_in_tensor_cores(k: Kernel) -> str | None:
    """How the device's tensor cores read the operands of a contraction, if they can and may."""
    found = operands(contraction_of(k).reduce)
    return found[2] if found and why_no_tensor_core(found[2], k.target) is None else None


def contraction_of(k: Kernel) -> Contraction:
    """The contraction of a kernel that is one."""
    assert k.table.contraction is not None
    return k.table.contraction


def _row_and_column(k: Kernel) -> tuple[Access, Access, UOp, UOp] | None:
    """The operands of a contraction, and a loop of results for each: columns as they are stored."""
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


def _block_sizes(k: Kernel) -> list[int]:
    """Threads of a block: all, half, a quarter, but no less than a warp."""
    sizes = [block_size(k) >> n for n in range(3)]
    return [n for n in sizes if n >= min(block_size(k), k.target.warp)]


def _threads_of_a_tile(threads: int, rows: int, vectors: int) -> tuple[int, int]:
    """Threads across columns and down rows: about as many of both, unless one has fewer."""
    across = min(1 << threads.bit_length() // 2, power_of_two(vectors))
    down = min(threads // across, power_of_two(rows))
    return min(threads // down, power_of_two(vectors)), down


def _steps(k: Kernel) -> list[int]:
    """Parts of the sum for panels, the best first: those that divide it need no condition."""
    (summed,) = contraction_of(k).summed
    sizes = [thresholds.PANEL_STEP >> n for n in range(3)]
    return sorted(sizes, key=lambda n: length(summed) % n != 0)
