"""Scans: element i of the result is reduced from elements 0 to i.

There is one primitive, SCAN_AXIS: a reduce that keeps its running value. With MULACC it is a linear
recurrence, s[i] = s[i-1] * a[i] + b[i]. The gradients of all scans are such recurrences, from the
last element to the first.
"""

from __future__ import annotations

import math
from typing import Self

from tinyframe.dtype import DTypeLike, dtypes
from tinyframe.tensor.elementwise import float_function
from tinyframe.tensor.reduce import Reduce, axis_names
from tinyframe.uop.node import Ops


class Scan(Reduce):
    """Cumulative methods along one axis."""

    def _scan(self, op: Ops, axis: int, *term: Self) -> Self:
        axis = self._axis(axis)
        return self._apply(lambda x, *y: x.scan_axis(op, axis, *y), *term)

    @axis_names
    def cumsum(self, axis: int = 0, dtype: DTypeLike | None = None) -> Self:
        """The sum of all elements up to each one, inclusive; dtypes as for `sum`."""
        return self.cast(self.sum(axis, dtype=dtype).dtype)._scan(Ops.ADD, axis)

    @axis_names
    def cumprod(self, axis: int = 0, dtype: DTypeLike | None = None) -> Self:
        """The product of all elements up to each one, inclusive; dtypes as for `prod`. Beside an
        infinity the gradient may be NaN, also where PyTorch's isn't."""
        return self.cast(self.prod(axis, dtype=dtype).dtype)._scan(Ops.MUL, axis)

    @axis_names
    def cummax(self, axis: int = 0) -> tuple[Self, Self]:
        """(values, indices): the maximum up to each element, and its last index; int32.

        The gradient goes to that element. NaN counts as the largest.
        """
        axis = self._axis(axis)
        values = self._scan(Ops.MAX, axis)
        if self.ndim == 0:
            return values, self.zeros_like(dtype=dtypes.int32)
        is_record = self.detach()._is_best(values.detach())
        return values, is_record.where(self._along(axis), 0)._scan(Ops.MAX, axis)

    @axis_names
    def cummin(self, axis: int = 0) -> tuple[Self, Self]:
        """(values, indices): the minimum up to each element, and its last index; int32."""
        values, indices = self._mirror().cummax(axis)
        return values._mirror(), indices

    @axis_names
    @float_function
    def logcumsumexp(self, axis: int = 0) -> Self:
        """log(cumsum(exp(self))), without overflow.

        The running sum is of exp(x - m), with m the largest x so far, and shrinks when m grows.
        """
        largest = self.detach()._scan(Ops.MAX, axis)
        nothing = largest.eq(-math.inf)  # log(0) would have the gradient inf * 0
        shift = largest.isinf().where(0.0, largest)  # inf - inf would be NaN
        widths = [(1, 0) if d == self._axis(axis) else (0, 0) for d in range(self.ndim)]
        before = largest.pad(widths, value=-math.inf).shrink([(0, n) for n in self.shape])
        factor = before.eq(largest).where(1.0, (before - largest).exp())
        total = factor._scan(Ops.MULACC, axis, (self - shift).exp())
        return nothing.where(-math.inf, nothing.where(1.0, total).log() + shift)
