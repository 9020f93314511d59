"""Occupancy: whether a reduce keeps all of a GPU busy, and what to do if it does not.

A block of threads runs on one of a GPU's hundred or so multiprocessors. The threads of a block can
share a reduce, but a reduce with few results has few blocks. So if it is long, it becomes two
kernels, the first of which has many blocks (`IDLE_BLOCKS`, a row of `partial.py`); and its result
is stored, so that whatever uses it can have many blocks too (`Occupancy`, for `fuse.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from tinyframe import thresholds
from tinyframe.algebra.access import AccessTable
from tinyframe.renderer import Target
from tinyframe.schedule.fuse import Use, depends_on
from tinyframe.schedule.partial import Cut, Partial, divisor, parts_of
from tinyframe.uop.node import AxisType, Ops, UOp, extent, is_symbolic, iterations


def block_size(target: Target) -> int:
    """The most threads in a block."""
    return min(target.block_threads, thresholds.BLOCK_THREADS)


def leaves_blocks_idle(target: Target, results: int, each: int) -> bool:
    """Whether a reduce would keep a few blocks busy for long, while the rest of the GPU idles.

    results: the number of results. each: the number of elements reduced to one result.
    """
    is_long = each >= thresholds.LONG_FOR_A_THREAD * block_size(target)
    return is_long and results < thresholds.FILLING_BLOCKS


class Occupancy(NamedTuple):
    """Decides whether to store the result of a REDUCE_AXIS on a GPU. has_tile: whether a block
    would share panels of its operands, and of those beside it."""

    target: Target
    reduce: UOp
    has_tile: bool

    def reason_to_store(self, uses: Iterable[Use], of_its_size: bool = False) -> str | None:
        """of_its_size: whether the kernel it would be fused into has as many results."""
        size, reduced = self.reduce.size, self.reduce.src[0]
        if any(isinstance(size, UOp) for size in reduced.shape):
            return None
        each = reduced.size // max(size, 1)
        if leaves_blocks_idle(self.target, size, each) and not of_its_size:
            return "a long reduce to few results, which blocks share"
        inside = [depends_on(use.unguarded_indices).issuperset(use.path) for use in uses]
        if self.has_tile and not all(inside):
            return "a contraction outside of a loop, which would have no tile"
        if any(map(self._is_used_by_blocks, uses)):
            return "a reduce used inside of one that blocks share"
        return None

    def _is_used_by_blocks(self, use: Use) -> bool:
        """Whether it is used inside a reduce that would be computed in parts. If all parts need the
        same value, it has to be computed first; otherwise its results are the parts."""
        if any(map(is_symbolic, use.path)) or all(
            r.arg[1] is not AxisType.REDUCE for r in use.path
        ):
            return False
        results = use.kernel.size
        each = max(iterations(use.path), self.reduce.src[0].size) // max(results, 1)
        return leaves_blocks_idle(self.target, results, each)


# ---- partial results -----------------------------------------------------------------------------


def idle_blocks(table: AccessTable, reduce: UOp, target: Target) -> Cut | None:
    """Cuts a long reduce with fewer results than a GPU runs blocks. It contains no other reduce:
    `fuse.py` has stored the inner one."""
    results, each = iterations(reduce.ranges), iterations(reduce.own_ranges)
    is_nested = any(u.op is Ops.REDUCE for u in reduce.src[0].toposort())
    if is_nested or not leaves_blocks_idle(target, results, each):
        return None
    ranges, is_contiguous = _outermost_in_memory_first(table, reduce)
    # if neighbouring results are contiguous in memory instead, a block covers several of them
    beside = 1 if is_contiguous else max(1, min(target.warp, results))
    least = thresholds.LEAST_READS * block_size(target)
    blocks = min(thresholds.BLOCKS_OF_PARTS, math.prod(target.grid))
    parts = min(blocks * beside // results, each * beside // least)
    return _cut_outermost(ranges, parts, target) or None


def _outermost_in_memory_first(table: AccessTable, reduce: UOp) -> tuple[list[UOp], bool]:
    """The RANGEs of a REDUCE, ordered by falling stride in its largest operand, and whether that
    operand is contiguous along one of them."""
    read = max(table.read_by(reduce.src[0]), key=lambda x: x.elements, default=None)
    if read is None:
        return list(reduce.own_ranges), True

    strides = {r: abs(read.step(r) or 0) for r in reduce.own_ranges}
    return sorted(strides, key=strides.__getitem__, reverse=True), 1 in strides.values()


def _cut_outermost(ranges: Iterable[UOp], parts: int, target: Target) -> Cut:
    """A cut into about `parts` parts at most: outer loops are cut into single iterations while
    there are enough parts, and the next loop into pieces."""
    cut = {}
    for r in ranges:
        if parts < 2:
            break
        number = divisor(extent(r), range(parts, parts // 2, -1))
        if extent(r) <= parts:
            cut[r] = 1
        elif number is not None:
            cut[r] = extent(r) // number
        else:  # parts are aligned to the reads of a warp
            whole = max(1, target.warp)
            cut[r] = min(extent(r), -(-extent(r) // (parts * whole)) * whole)
        parts //= parts_of(r, cut[r])
    return cut


IDLE_BLOCKS = Partial(
    "idle blocks",
    "a long reduce leaves fewer results than a GPU runs blocks of threads: they share it",
    idle_blocks,
)
