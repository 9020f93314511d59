"""Sorting, and methods built on it: argsort, topk.

Elements are compared by integer keys that have the same order; so a single comparison makes NaN the
largest, and -0.0 equal to 0.0. The keys are ordered in one of three ways.

**By rank**, for short axes. The rank of an element, its position in the sorted axis, is the number
of elements before it; position p gets the element of rank p. That takes n*n comparisons, in two
kernels.

**One after the other**, for the first few of a long axis: the smallest, then the smallest of those
after it.

**By digits**, for all others: a radix sort, from the last digit to the first. How many keys have
each digit says where its keys begin. Then each key takes the next free position of its digit: a
FETCH, which counts up as it goes. Equal digits keep the order that the pass before gave them, so
after the last pass all digits are in order, and sorting is stable.

The values are gathered at the end, so that gradients flow.
"""

from __future__ import annotations

from typing import Any, Self

from tinyframe.device import Device
from tinyframe.dtype import dtypes
from tinyframe.errors import ShapeError
from tinyframe.tensor.gathering import Gathering
from tinyframe.tensor.reduce import axis_names
from tinyframe.tensor.scan import Scan
from tinyframe.uop.node import Ops

SHORT = 64  # the longest axis that is sorted by rank
FEW = 16  # so many of keys of up to 32 bits are found one after the other
DIGIT, LONG_DIGIT = 8, 11  # bits of a digit; the longer from LONG keys on
LONG = 1 << 15
MOST_PARTS, LEAST_PART = 1 << 16, 64  # threads that walk side by side, and keys of each


class Sorting(Scan, Gathering):
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
        few = first <= FEW and keys.dtype.itemsize <= 4
        order = keys._first_keys(first) if few else keys._order_by_digits()[:, :first]
        return order.reshape((*self.shape[:-1], first))

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

    def _first_keys(self, first: int) -> Self:
        """The positions of the first of some keys, (batch, n)."""
        wide, place = self.cast(dtypes.int64), self._range(self.shape[1]).cast(dtypes.int64)
        if self.dtype is dtypes.uint32:
            wide = wide - (1 << 31)  # so that 32 more bits fit
        both = (wide * (1 << 32) + place)._mirror()  # no two are equal
        found: list[Self] = []
        for n in range(first):
            left = both.lt(found[-1]).where(both, dtypes.int64.min) if n else both
            found.append(left.max(-1, keepdim=True).contiguous())
        last = found[0].cat(*found[1:], dim=-1)._mirror()
        return last.bitwise_and((1 << 32) - 1).cast(dtypes.int32)

    def _order_by_digits(self) -> Self:
        """The positions of some keys, (batch, n), in sorted order.

        Devices with many threads walk through parts side by side: what comes before the keys of a
        digit in one part are all smaller digits, and the same digit in the parts before.
        """
        batch, length = self.shape
        keys = self.cast(dtypes.uint8) if self.dtype is dtypes.bool else self
        on_blocks = Device[self.device].block_target is not None
        parts = max(1, min(MOST_PARTS // batch, length // LEAST_PART)) if on_blocks else 1
        each = -(-length // parts)
        size = parts * each  # the largest keys fill it up, and come last
        if size > length:
            keys = keys.pad((0, size - length), value=keys.dtype.max)
        width = 8 * keys.dtype.itemsize
        # with many parts, each has positions of its own for each digit
        passes = -(-width // (LONG_DIGIT if size >= LONG and not on_blocks else DIGIT))
        bits = -(-width // passes)
        in_any_order = Ops.STORE if on_blocks else None
        order, count = keys._range(size)._broadcast_to((batch, size)), 1 << bits
        one = keys._number(1, dtypes.int32)._broadcast_to((batch, each, parts))
        none = keys.zeros((batch, count, parts), dtype=dtypes.int32, device=keys.device)
        for n in range(passes):
            digit = keys.rshift(n * bits).bitwise_and((1 << bits) - 1).cast(dtypes.int32)
            if n == passes - 1:  # with the sign, whose bit is 0 for the larger half
                top = width - n * bits
                digit = digit.bitwise_and((1 << top) - 1)
                is_signed = not dtypes.is_unsigned(keys.dtype)
                digit = digit.bitwise_xor(1 << (top - 1)) if is_signed else digit
            # the parts side by side: neighbouring threads read neighbouring digits
            digit = digit.reshape(batch, parts, each).transpose(1, 2).contiguous()
            counts = none._scattered(1, digit, one, Ops.ADD).reshape(batch, count * parts)
            starts = (counts._scan(Ops.ADD, 1) - counts).reshape(batch, count, parts)
            place = starts._apply(lambda x, at, more: x.fetch(1, at, more, Ops.ADD), digit, one)
            place = place.transpose(1, 2).reshape(batch, size)
            order = order._moved_to(place, in_any_order)
            keys = keys._moved_to(place, in_any_order) if n < passes - 1 else keys
        return order[:, :length]

    def _moved_to(self, place: Self, op: Ops | None) -> Self:
        """The elements of each row at other positions, each exactly once."""
        memory = self.empty(*self.shape, dtype=self.dtype, device=self.device)
        return memory._apply(lambda x, at, v: x.assign(v, x.take(1, at), op), place, self)

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
        order = self.transpose(axis, -1)._order(largest, k).transpose(axis, -1)
        return self._gather(axis, order.contiguous()), order
