"""Sorting, and methods built on it: argsort, topk.

Elements are compared by integer keys that have the same order; so a single comparison makes NaN the
largest, and -0.0 equal to 0.0. The keys are sorted in one of two ways.

**By rank**, for short axes. The rank of an element, its position in the sorted axis, is the number
of elements before it; position p gets the element of rank p. That takes n*n comparisons, in two
kernels.

**By merging**, for long axes. Blocks are sorted by rank; then pairs of sorted runs are merged until
a single run is left. A sequential merge compares the first elements of both runs and takes the
smaller. To fill all positions in parallel, each answers a question of its own: of the first p
elements of the merged run, how many come from the first run?

    first run   1 4 6 7      merged   1 2 3 4 5 6 7 9
    second run  2 3 5 9      p = 4:   1 2 3 4, of which two (1 and 4) come from the first run

If it is i, the other p - i come from the second run, and the element at position p is the smaller
of first[i] and second[p - i]. One comparison, of first[c - 1] and second[p - c], tells whether at
least c come from the first run, so i is found by searching. Plotted over p, i is a path through the
grid of both runs, hence the name of the method: "Merge Path" (Odeh, Green, Mwassi, Shmueli and
Birk, 2012). Every WAYS-th position searches the whole run, and the positions between two of these
only the range between their results. The length of the runs is read from memory, so all levels run
the same kernels, scheduled and compiled once.

Equal keys of the first run come first, so sorting is stable, ascending and descending. The values
are gathered at the end, so that gradients flow.
"""

from __future__ import annotations

import math
from typing import Any, Self

from tinyframe.dtype import dtypes
from tinyframe.errors import ShapeError
from tinyframe.tensor.reduce import Reduce, axis_names

SHORT = 1024  # the longest axis that is sorted by rank alone
BLOCK = 256  # elements of a block that is sorted by rank before merging
WAYS = 16  # a round of the search divides its range into this many parts: a power of two
FEW = 8  # topk searches blocks of at least FEW * k elements


class Sorting(Reduce):
    """Methods along one axis."""

    def _sort_key(self, descending: bool) -> Self:
        """Integers in the order of the elements; equal ones have equal keys, NaN the largest."""
        key = self.detach()
        if dtypes.is_float(key.dtype):
            ints = key.dtype.mask()
            bits = key.bitcast(ints)
            # a float is a sign and a magnitude; that of -0.0 is 0
            signed = bits.lt(0).where(bits.neg() + ints.min, bits)
            key = key.isnan().where(ints.max, signed)
        return key._mirror() if descending else key

    def _order(self, descending: bool, first: int) -> Self:
        """The indices of the first elements in sorted order of the last axis, stable; int32."""
        size: Any = self.shape[-1]
        keys = self._sort_key(descending)
        if size <= SHORT:
            return keys._order_by_rank(first)
        keys = keys.reshape(-1, size)
        found = _first_of_blocks if FEW * first <= SHORT else _order_by_merging
        return found(keys, first).reshape((*self.shape[:-1], first))

    def _order_by_rank(self, first: int) -> Self:
        """The positions of the first keys in sorted order of the last axis; int32."""
        numbers = self._range(self.shape[-1])
        # the ranked element along the last axis but one, those it is compared with along the last
        ranked, others = self.unsqueeze(-1), self.unsqueeze(-2)
        earlier = numbers.reshape(1, -1).lt(numbers.reshape(-1, 1))
        before = earlier.where(others.le(ranked), others.lt(ranked))
        rank = before.cast(dtypes.int32).sum(-1).contiguous()
        at_place = rank.unsqueeze(-2).eq(self._range(first).reshape(-1, 1))
        return at_place.where(numbers, 0).sum(-1)

    @axis_names
    def sort(self, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
        """(values, indices) sorted along an axis; indices are int32. It is always stable."""
        return self.topk(self.shape[self._axis(axis)] if self.ndim else 1, axis, descending)

    @axis_names
    def argsort(self, axis: int = -1, descending: bool = False, stable: bool = True) -> Self:
        """The indices that sort an axis; int32."""
        return self.sort(axis, descending, stable)[1]

    @axis_names
    def topk(
        self, k: int, axis: int = -1, largest: bool = True, sorted_: bool = True, **names: bool
    ) -> tuple[Self, Self]:
        """(values, indices) of the k largest along an axis, the largest first; or of the smallest.

        ShapeError if there are fewer than k. PyTorch's `sorted=` is accepted and has no effect.
        """
        if names.keys() - {"sorted"}:
            raise TypeError(f"topk does not take {', '.join(names)}")
        axis = self._axis(axis)
        if self.ndim == 0:
            return self._value(), self.zeros_like(dtype=dtypes.int32)
        if not 0 <= k <= self.shape[axis]:
            raise ShapeError(f"topk({k}) along axis {axis} of {self._dims}: the axis is shorter")
        if 0 in self.shape or k == 0:
            none = self._part(axis, 0, k)._value()
            return none, none.zeros_like(dtype=dtypes.int32)
        order = self.transpose(axis, -1)._order(largest, k).transpose(axis, -1)
        return self._gather(axis, order.contiguous()), order


def _sorted_blocks(keys: Any, size: int, first: int) -> tuple[Any, Any]:
    """The first keys of each block of `size`, sorted, and their positions: (batch, blocks * first).

    keys: (batch, n). The last block is padded with the largest key.
    """
    batch, blocks = keys.shape[0], -(-keys.shape[1] // size)
    full = keys.pad((0, blocks * size - keys.shape[1]), value=keys.dtype.max)
    full = full.reshape((batch, blocks, size)).contiguous()
    order = full._order_by_rank(first).contiguous()
    start = keys._range(blocks).reshape(-1, 1) * size
    flat = (batch, blocks * first)
    return full._gather(-1, order).reshape(flat).contiguous(), (order + start).reshape(flat)


def _first_of_blocks(keys: Any, first: int) -> Any:
    """The positions of the first keys in sorted order: the first of the first of each block."""
    size, found = max(BLOCK, FEW * first), []
    while keys.shape[1] > SHORT:
        # a padded position may be among them; it comes last again, and is never used
        keys, places = _sorted_blocks(keys, size, first)
        found.append(places.contiguous())
    order = keys._order_by_rank(first)
    for places in reversed(found):
        order = places._gather(-1, order.contiguous())
    return order


def _order_by_merging(keys: Any, first: int) -> Any:
    size, length = keys.shape[1], BLOCK
    keys, order = [t[:, :size].contiguous() for t in _sorted_blocks(keys, BLOCK, BLOCK)]
    lengths = keys.full((1, 1, 1, 1), length, dtype=dtypes.int32, device=keys.device).contiguous()
    while length < size:
        source = _merged_from(keys, lengths)
        keys, order = keys._gather(-1, source).contiguous(), order._gather(-1, source).contiguous()
        lengths, length = (lengths + lengths).contiguous(), 2 * length
    return order[:, :first]


def _merged_from(keys: Any, length: Any) -> Any:
    """The position each key comes from when each pair of neighbouring sorted runs is merged.

    keys: (batch, n), runs of `length` elements, a power of two; the last may be shorter, or without
    a partner. length: (1, 1, 1, 1), int32.
    """
    batch, size = keys.shape
    groups = -(-size // WAYS)
    place = keys._range(groups * WAYS).reshape(1, groups, WAYS, 1)
    start = place.bitwise_and((length + length).neg())  # of the pair; positions count from here
    place = place - start

    digits = next(n for n in range(1, 99) if WAYS**n >= size)
    steps = [WAYS**n for n in reversed(range(digits))]
    begin = start[:, :, :1], place[:, :, :1]  # of each group
    count = _from_first_run(keys, length, *begin, place[:, :, :1] * 0, steps, WAYS)
    count = count.expand(batch, groups, 1, 1).fuse().contiguous()
    # it grows by less than WAYS within a group, where two rounds compare less often than one
    root = math.isqrt(WAYS)
    count = _from_first_run(keys, length, start, place, count, [root, 1], root)

    is_first = _are_taken(keys, length, start, place + 1, count + 1)
    source = start + is_first.where(count, length + place - count)
    source = source.expand(batch, groups, WAYS, 1).fuse()
    return source.reshape((batch, groups * WAYS))[:, :size].contiguous()


def _from_first_run(
    keys: Any, length: Any, start: Any, place: Any, low: Any, steps: list[int], ways: int
) -> Any:
    """How many of the first `place` elements of a merged pair come from its first run.

    It is at least `low`. Each round adds up to `ways` - 1 times its step.
    """
    for step in steps:
        counts = low + (keys._range(ways - 1) + 1) * step
        taken = _are_taken(keys, length, start, place, counts)
        low = low + taken.cast(dtypes.int32).sum(-1, keepdim=True) * step
    return low


def _are_taken(keys: Any, length: Any, start: Any, place: Any, count: Any) -> Any:
    """Whether `count` or more of the first `place` elements of a merged pair come from its first
    run: the last of them does if the second run has no smaller element left."""
    other = start + length + place - count
    end = (start + length + length).minimum(keys.shape[1])
    has_no_more = other.ge(end)
    return count.le(place.minimum(length)) * (
        has_no_more + _at(keys, start + count - 1).le(_at(keys, other))
    )


def _at(keys: Any, places: Any) -> Any:
    """keys (batch, n) at positions (1 or batch, groups, WAYS, ways)."""
    batch, size = keys.shape
    chosen = places.unsqueeze(-1).eq(keys._range(size))
    return keys.reshape((batch, 1, 1, 1, size))._one_where(chosen, 4)
