"""Scans: element i of the result is reduced from elements 0 to i.

Reducing a window of all earlier elements for each element reads n*n/2 of them. So a long axis is
cut into blocks of BLOCK. Each is scanned by windows, which reads n*BLOCK; then the last elements of
all blocks are scanned in the same way, and the total before each block is combined with its
elements:

    cumsum   1 2 3 | 4 5 6    in blocks  1 3 6 | 4 9 15    before them  0 | 6    1 3 6 10 15 21
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Self

from tinyframe.dtype import DTypeLike, dtypes
from tinyframe.tensor.elementwise import float_function
from tinyframe.tensor.reduce import Reduce, axis_names

BLOCK = 32
# up to this length an axis is scanned without blocks
SHORT = 128


class Scan(Reduce):
    """Cumulative methods along one axis."""

    def _scan(
        self, axis: int, reduce: Callable[[Any], Any], combine: Callable[[Any, Any], Any],
        neutral: Any,
    ) -> Self:  # fmt: skip
        """`reduce` over windows (the last axis) of all elements up to each one.

        combine: joins two partial results. neutral: the result of no elements.
        """
        if self.ndim == 0:
            return reduce(self.unsqueeze(0))
        axis = self._axis(axis)
        last = self.transpose(axis, -1)
        return last._scan_last(reduce, combine, neutral).transpose(axis, -1)

    def _scan_last(self, reduce: Any, combine: Any, neutral: Any) -> Self:
        size = self.shape[-1]
        if size == 0:
            return self._value()
        if size <= SHORT:
            before = self.pad((size - 1, 0), value=neutral)
            return reduce(before.window(-1, size))
        filled = self.pad((0, -size % BLOCK), value=neutral)
        blocks = filled.unflatten(-1, (-1, BLOCK))
        inside = blocks._scan_last(reduce, combine, neutral).contiguous()
        ends = inside[..., -1]._scan_last(reduce, combine, neutral)
        before = ends[..., :-1].pad((1, 0), value=neutral).unsqueeze(-1)
        return combine(before, inside).flatten(-2)[..., :size]

    @axis_names
    def cumsum(self, axis: int = 0, dtype: DTypeLike | None = None) -> Self:
        """The sum of all elements up to each one, inclusive; dtypes as for `sum`."""
        wide = self.sum(axis, dtype=dtype).dtype
        return self.cast(wide)._scan(axis, lambda w: w.sum(-1, dtype=wide), operator.add, 0)

    @axis_names
    def cumprod(self, axis: int = 0, dtype: DTypeLike | None = None) -> Self:
        """The product of all elements up to each one, inclusive; dtypes as for `prod`. Beside an
        infinity the gradient may be NaN, also where PyTorch's isn't."""
        wide = self.prod(axis, dtype=dtype).dtype
        return self.cast(wide)._scan(axis, lambda w: w.prod(-1, dtype=wide), operator.mul, 1)

    def _highest(self, axis: int) -> Self:
        return self._scan(axis, lambda w: w.max(-1), lambda x, y: x.maximum(y), self.dtype.min)

    @axis_names
    def cummax(self, axis: int = 0) -> tuple[Self, Self]:
        """(values, indices): the maximum up to each element, and its last index; int32.

        The gradient goes to that element. NaN counts as the largest.
        """
        axis = self._axis(axis)
        if self.ndim == 0 or 0 in self.shape:
            return self._value(), self.zeros_like(dtype=dtypes.int32)
        # stored, or the second scan would repeat the first for each element
        highest = self.detach()._highest(axis).contiguous()
        is_record = self._is_best(highest)
        indices = is_record.where(self._along(axis), 0)._highest(axis).contiguous()
        if not dtypes.is_float(self.dtype) or self.requires_grad is False:
            return highest, indices
        return self._gather(axis, indices), indices

    @axis_names
    def cummin(self, axis: int = 0) -> tuple[Self, Self]:
        """(values, indices): the minimum up to each element, and its last index; int32."""
        values, indices = self._mirror().cummax(axis)
        return values._mirror(), indices

    @axis_names
    @float_function
    def logcumsumexp(self, axis: int = 0) -> Self:
        """log(cumsum(exp(self))), without overflow."""
        return self._scan(axis, lambda w: w.logsumexp(-1), lambda x, y: x.logaddexp(y), -math.inf)
