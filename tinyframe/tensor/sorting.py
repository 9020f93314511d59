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

from tinyframe.dtype import dtypes, least_upper_dtype
from tinyframe.errors import ShapeError
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.elementwise import float_function, weak_dtype
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
        """The value below which a fraction `q` of the elements lies, interpolated between the two
        nearest elements. NaN if any element is NaN.

        q: a number, or a list or Tensor of one axis, which becomes the first axis of the result.
        interpolation: "linear", or of the two elements the "lower", the "higher", the "nearest" or
        their "midpoint". ValueError for a q outside 0 … 1 (values in a Tensor are clipped instead,
        since checking them would realize it), ShapeError if there are no elements.
        """
        if interpolation not in ("linear", "lower", "higher", "nearest", "midpoint"):
            raise ValueError(
                'interpolation is "linear", "lower", "higher", "nearest" or "midpoint", not '
                f"{interpolation!r}"
            )
        if not isinstance(q, TensorBase):
            if any(not 0 <= part <= 1 for part in (q if isinstance(q, (list, tuple)) else [q])):
                raise ValueError(f"a quantile's q is from 0 to 1, not {q}")
            q = type(self)(q, device=self.device, dtype=self.dtype)
        if q.ndim > 1:
            raise ShapeError(f"q is one number or one axis of them, not of shape {q.shape}")
        x = self.flatten() if axis is None else self.reshape(-1) if self.ndim == 0 else self
        along = 0 if axis is None else self._axis(axis)
        x = x.movedim(along, -1)
        if x.shape[-1] == 0:
            raise ShapeError(f"a quantile of {self.shape} along axis {axis}: there is no element")
        # NaN comes last in order, so it is what every q finds where there is one
        last = x.shape[-1] - 1
        rank = q.cast(self.dtype).clip(0, 1).reshape((-1, *(1,) * x.ndim)) * last
        rank = x.isnan().any(-1, keepdim=True).where(float(last), rank).movedim(0, -1).squeeze(-2)
        found = x.sort(-1)[0]._at_rank(rank, interpolation).movedim(-1, 0)
        if axis is None:
            kept_shape: tuple[Any, ...] = (1,) * self.ndim
        else:
            kept_shape = tuple(1 if d == along else s for d, s in enumerate(self.shape))
        rest = kept_shape if keepdim else x.shape[:-1]
        return found.reshape((*q.shape, *rest))

    def _at_rank(self, rank: Self, interpolation: str) -> Self:
        """Between the elements of a sorted last axis, at places that are no whole numbers."""
        below, above = rank.floor().cast(dtypes.int32), rank.ceil().cast(dtypes.int32)
        if interpolation in ("lower", "higher", "nearest"):
            nearest = rank.round().cast(dtypes.int32)
            chosen = {"lower": below, "higher": above, "nearest": nearest}[interpolation]
            return self.gather(-1, chosen)
        part = 0.5 if interpolation == "midpoint" else rank - rank.floor()
        low, high = self.gather(-1, below), self.gather(-1, above)
        return low + (high - low) * part

    def searchsorted(self, values: Any, *, right: bool = False, side: str | None = None) -> Self:
        """The index at which each value would have to be inserted to keep the last axis, which is
        sorted, in order; int32.

        That is before equal elements, or with right=True (or side="right") after them. NaN counts
        as the largest. self: one axis, for values of any shape; or (…, n), for values (…, m).
        """
        if side not in (None, "left", "right"):
            raise ValueError(f'side is "left" or "right", not {side!r}')
        x, y = self._to_common(values)
        if self.ndim == 0 or (self.ndim > 1 and x.shape[:-1] != y.shape[:-1]):
            raise ShapeError(
                f"searchsorted in {self.shape} of values {y.shape}: the axes in front of the last "
                "have to be equal, or a single sorted axis be given"
            )
        x, y = x if self.ndim == 1 else x.unsqueeze(-2), y.unsqueeze(-1)
        if right or side == "right":
            before = y._comes_before(x, False).logical_not()
        else:
            before = x._comes_before(y, False)
        return before.cast(dtypes.int32).sum(-1)

    def _to_common(self, other: Any) -> tuple[Self, Self]:
        """Self and another Tensor, or a number, in one dtype; the shapes stay."""
        other = other if isinstance(other, TensorBase) else self._tensor(other)
        if not isinstance(other, TensorBase):
            other = self._number(other, weak_dtype(other, self.dtype))
        dtype = least_upper_dtype(self.dtype, other.dtype)
        return self.cast(dtype), other.cast(dtype)


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
