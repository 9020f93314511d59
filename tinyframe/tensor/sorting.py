"""Sorting: an order of elements, and what follows from it: argsort, topk, median.

Up to SHORT elements by rank. The rank of an element, its place in the sorted axis, is how many
others come before it; place p gets the element of rank p. That takes n*n comparisons, in two
kernels that do nothing else. Longer axes go through Batcher's bitonic network ("Sorting networks
and their applications", 1968): log2(n)*(log2(n)+1)/2 steps, in each of which every element is
compared with one other and perhaps exchanged with it. Each is followed by its index, so both ways
are stable, and the values are gathered at the end, so that gradients flow.

NaN counts as the largest.
"""

from __future__ import annotations

from typing import Any, Self

from tinyframe.dtype import dtypes
from tinyframe.errors import ShapeError
from tinyframe.tensor.reduce import Reduce, axis_names

SHORT = 1024


class Sorting(Reduce):
    """Methods along one axis."""

    def _comes_before(self, other: Self, descending: bool) -> Self:
        """In a sorted axis; of equal ones neither."""
        if dtypes.is_float(self.dtype):
            less = self.lt(other) + (self.isnan().logical_not() * other.isnan())
            more = other.lt(self) + (other.isnan().logical_not() * self.isnan())
        else:
            less, more = self.lt(other), other.lt(self)
        return more if descending else less

    def _order(self, descending: bool) -> Self:
        """The indices that sort the last axis, stably; int32."""
        size = self.shape[-1]
        return (self._order_by_rank if size <= SHORT else self._order_by_network)(descending)

    def _order_by_rank(self, descending: bool) -> Self:
        size = self.shape[-1]
        numbers = self._index(size, self.device)
        # who is ranked along the axis before the last, who comes before it along the last
        ranked, others = self.unsqueeze(-1), self.unsqueeze(-2)
        earlier = numbers.reshape(1, -1).lt(numbers.reshape(-1, 1))
        not_after = ranked._comes_before(others, descending).logical_not()
        before = earlier.where(not_after, others._comes_before(ranked, descending))
        rank = before.cast(dtypes.int32).sum(-1).contiguous()
        at_place = rank.unsqueeze(-2).eq(numbers.reshape(-1, 1))
        return at_place.where(numbers, 0).sum(-1)

    def _order_by_network(self, descending: bool) -> Self:
        size: Any = self.shape[-1]
        steps = (size - 1).bit_length()
        full = 1 << steps
        numbers = self._index(full, self.device)._broadcast_to((*self.shape[:-1], full))
        keys, order = self.detach().pad((0, full - size)).contiguous(), numbers.contiguous()
        for length in range(1, steps + 1):
            for distance in range(length - 1, -1, -1):
                keys, order = _exchange(keys, order, size, length, distance, descending)
        return order[..., :size]

    @axis_names
    def sort(self, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
        """(values, indices) in order along an axis; indices are int32. It is always stable."""
        if self.ndim == 0:
            self._axis(axis)
            return self._value(), self.zeros((), dtype=dtypes.int32, device=self.device)
        axis = self._axis(axis)
        if 0 in self.shape:
            return self._value(), self.zeros_like(dtype=dtypes.int32)
        order = self.detach().transpose(axis, -1)._order(descending).transpose(axis, -1)
        return self.gather(axis, order.contiguous()), order

    @axis_names
    def argsort(self, axis: int = -1, descending: bool = False, stable: bool = True) -> Self:
        """The indices that sort an axis; int32."""
        return self.sort(axis, descending, stable)[1]

    def msort(self) -> Self:
        """The values in order along the first axis."""
        return self.sort(0)[0]

    @axis_names
    def topk(
        self, k: int, axis: int = -1, largest: bool = True, sorted_: bool = True, **names: bool
    ) -> tuple[Self, Self]:
        """(values, indices) of the k largest along an axis, the largest first; or of the smallest.

        ShapeError where there are fewer. PyTorch's `sorted=` is accepted: they always are.
        """
        if names.keys() - {"sorted"}:
            raise TypeError(f"topk does not take {', '.join(names)}")
        axis = self._axis(axis)
        if self.ndim == 0:
            return self.sort()
        if not 0 <= k <= self.shape[axis]:
            raise ShapeError(f"topk({k}) along axis {axis} of {self.shape}: there are fewer")
        order = self.argsort(axis, largest)
        first = order.shrink([(0, k) if d == axis else None for d in range(self.ndim)])
        return self.gather(axis, first.contiguous()), first

    @axis_names
    def median(self, axis: int | None = None, keepdim: bool = False) -> Any:
        """The middle one in order, of an even number the lower: its value; with an axis (values,
        indices). NaN where one is NaN."""
        x, along = (self.flatten(), 0) if axis is None else (self, self._axis(axis))
        if x.ndim == 0:
            return self.sort()
        size = x.shape[along]
        if size == 0:
            raise ShapeError(f"the median along axis {along} of {x.shape}: there is no element")
        order = x.argsort(along)
        nans = x.isnan().cast(dtypes.int32).sum(along, keepdim=True)
        middle = nans.gt(0).where(size - nans, (size - 1) // 2).cast(dtypes.int32)
        found = order.gather(along, middle)
        values = x.gather(along, found)
        if axis is None:
            return values.reshape(()) if not keepdim else values.reshape((1,) * self.ndim)
        return (values, found) if keepdim else (values.squeeze(along), found.squeeze(along))


def _exchange(
    keys: Any, order: Any, size: int, length: int, distance: int, descending: bool
) -> tuple[Any, Any]:
    """One step of the network: elements 2**distance apart are put in order, upwards and downwards
    in turn for every 2**length elements. Indices from `size` on only fill up, and come last."""
    *rest, full = keys.shape
    far = 1 << distance
    pairs = (*rest, full // (2 * far), 2, far)
    both, numbers = keys.reshape(pairs), order.reshape(pairs)
    a, b = both[..., :1, :], both[..., 1:, :]
    i, j = numbers[..., :1, :], numbers[..., 1:, :]
    tie = i.lt(j)
    a_first = a._comes_before(b, descending) + (
        b._comes_before(a, descending).logical_not() * tie
    )  # fmt: skip
    a_first = j.ge(size).where(i.lt(size) + tie, i.lt(size) * a_first)
    group = keys._index(full // (2 * far), keys.device).reshape(-1, 1, 1)
    is_upwards = group.rshift(length - 1 - distance).bitwise_and(1).eq(0)
    keep = a_first.eq(is_upwards)
    # both of a pair look at the same comparison
    sorted_keys = keep.where(both, both.flip(-2)).reshape(keys.shape).contiguous()
    sorted_order = keep.where(numbers, numbers.flip(-2)).reshape(keys.shape).contiguous()
    return sorted_keys, sorted_order
