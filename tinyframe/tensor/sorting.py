"""Sorting, and methods built on it: argsort, topk, median, quantile.

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

from tinyframe.dtype import dtypes, least_upper_dtype
from tinyframe.errors import ShapeError, check_choice
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.elementwise import float_function, weak_dtype
from tinyframe.tensor.reduce import Reduce, axis_names

SHORT = 1024  # the longest axis that is sorted by rank alone
BLOCK = 256  # elements of a block that is sorted by rank before merging
WAYS = 16  # a round of the search divides its range into this many parts: a power of two
FEW = 8  # topk searches blocks of at least FEW * k elements


class Sorting(Reduce):
    """Methods along one axis."""

    def _sort_key(self, descending: bool = False) -> Self:
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
        axis = self._axis(axis)
        if self.ndim == 0 or 0 in self.shape:
            return self._value(), self.zeros_like(dtype=dtypes.int32)
        order = self.transpose(axis, -1)._order(descending, self.shape[axis]).transpose(axis, -1)
        return self._gather(axis, order.contiguous()), order

    @axis_names
    def argsort(self, axis: int = -1, descending: bool = False, stable: bool = True) -> Self:
        """The indices that sort an axis; int32."""
        return self.sort(axis, descending, stable)[1]

    def msort(self) -> Self:
        """The values sorted along the first axis."""
        return self.sort(0)[0]

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
            return self.sort()
        if not 0 <= k <= self.shape[axis]:
            raise ShapeError(f"topk({k}) along axis {axis} of {self._dims}: the axis is shorter")
        if 0 in self.shape or k == 0:
            none = self._part(axis, 0, k)
            return none, none.zeros_like(dtype=dtypes.int32)
        order = self.transpose(axis, -1)._order(largest, k).transpose(axis, -1)
        return self._gather(axis, order.contiguous()), order

    @axis_names
    def median(self, axis: int | None = None, keepdim: bool = False) -> Any:
        """The middle value, or the lower of two; with an axis (values, indices). NaN where one is
        NaN."""
        self._nonempty("median", axis)
        x, along = (self.flatten(), 0) if axis is None else (self, self._axis(axis))
        if x.ndim == 0:
            return self.sort()
        size = x.shape[along]
        order = x.argsort(along)
        nans = x.isnan().cast(dtypes.int32).sum(along, keepdim=True)
        middle = nans.gt(0).where(size - nans, (size - 1) // 2).cast(dtypes.int32)
        found = order._gather(along, middle)
        values = x._gather(along, found)
        if axis is None:
            return values.reshape(()) if not keepdim else values.reshape((1,) * self.ndim)
        return (values, found) if keepdim else (values.squeeze(along), found.squeeze(along))

    @axis_names
    @float_function
    def quantile(
        self,
        q: Any,
        axis: int | None = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
    ) -> Self:
        """The value below which a fraction `q` of the elements lies. NaN if an element is NaN, or
        by `lerp`, as in PyTorch, if it would be infinite.

        q: a number, or a list or Tensor of one axis, which becomes the first axis of the result.
        interpolation: between the two nearest elements, "linear" or their "midpoint"; or one of
        them, the "lower", "higher" or "nearest". ValueError for a q outside 0 … 1 (values in a
        Tensor are clipped, since checking them would realize it), ShapeError for no elements.
        """
        ways = "linear", "lower", "higher", "nearest", "midpoint"
        check_choice("interpolation", interpolation, *ways)
        if not isinstance(q, TensorBase):
            if any(not 0 <= part <= 1 for part in (q if isinstance(q, (list, tuple)) else [q])):
                raise ValueError(f"a quantile's q is from 0 to 1, not {q}")
            q = type(self)(q, device=self.device, dtype=self.dtype)
        if q.ndim > 1:
            raise ShapeError(f"q is one number or one axis of them, not of shape {q._dims}")
        self._nonempty("quantile", axis)
        x = self.flatten() if axis is None else self.reshape(-1) if self.ndim == 0 else self
        along = 0 if axis is None else self._axis(axis)
        x = x.movedim(along, -1)
        # NaN comes last, so if there is one, every q selects the last element
        last = x.shape[-1] - 1
        rank = q.cast(self.dtype).clip(0, 1).reshape((-1, *(1,) * x.ndim)) * last
        rank = x.isnan().any(-1, keepdim=True).where(float(last), rank).movedim(0, -1).squeeze(-2)
        ordered = x.sort(-1)[0]
        below, above = rank.floor().cast(dtypes.int32), rank.ceil().cast(dtypes.int32)
        if interpolation in ("lower", "higher", "nearest"):
            nearest = rank.round().cast(dtypes.int32)
            chosen = {"lower": below, "higher": above, "nearest": nearest}[interpolation]
            found = ordered._gather(-1, chosen)
        else:
            part = 0.5 if interpolation == "midpoint" else rank - rank.floor()
            low, high = ordered._gather(-1, below), ordered._gather(-1, above)
            found = low.lerp(high, part)
        found = found.movedim(-1, 0)
        if axis is None:
            kept_shape: tuple[Any, ...] = (1,) * self.ndim
        else:
            kept_shape = tuple(1 if d == along else s for d, s in enumerate(self.shape))
        rest = kept_shape if keepdim else x.shape[:-1]
        return found.reshape((*q.shape, *rest))

    def searchsorted(self, values: Any, *, right: bool = False, side: str | None = None) -> Self:
        """The index at which to insert each value so that the sorted last axis stays sorted; int32.

        It is before equal elements, or with right=True (or side="right") after them. NaN counts as
        the largest. self: one axis, for values of any shape; or (…, n), for values (…, m).
        """
        check_choice("side", side, "left", "right", None)
        y = type(self)(values, device=self.device) if isinstance(values, int) else values
        y = y if isinstance(y, TensorBase) else self._tensor(y)
        if not isinstance(y, TensorBase):
            y = self._number(y, weak_dtype(y, self.dtype))
        x = self
        if dtypes.is_float(max(x.dtype, y.dtype)):  # ints of different dtypes are compared exactly
            dtype = least_upper_dtype(x.dtype, y.dtype)
            x, y = x.cast(dtype), y.cast(dtype)
        if self.ndim == 0 or (self.ndim > 1 and x.shape[:-1] != y.shape[:-1]):
            raise ShapeError(
                f"searchsorted in {self._dims} of values {y._dims}: all axes but the last must be "
                "equal, unless self has a single axis"
            )
        x, y = x._sort_key(), y._sort_key().unsqueeze(-1)
        x = x if self.ndim == 1 else x.unsqueeze(-2)
        before = x.le(y) if right or side == "right" else x.lt(y)
        return before.cast(dtypes.int32).sum(-1)


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
