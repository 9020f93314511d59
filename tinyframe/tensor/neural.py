"""What networks are built of besides windows: linear maps, tables, dropout, chains of layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from tinyframe.dtype import dtypes
from tinyframe.errors import DTypeError, ShapeError
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.windows import one_per_axis

__all__ = ["Neural", "one_per_axis"]


class Neural(TensorBase):
    """Methods that layers are made of."""

    def linear(self, weight: Self, bias: Self | None = None, dtype: Any = None) -> Self:
        """self @ weight + bias, with weight (in, out); a weight of one axis multiplies element by
        element."""
        x, w = (self, weight) if dtype is None else (self.cast(dtype), weight.cast(dtype))
        product = x * w if w.ndim == 1 else x.dot(w)
        return product if bias is None else product + bias

    def sequential(self, layers: Sequence[Any]) -> Self:
        """Each function applied to the result of the one before."""
        result = self
        for layer in layers:
            result = layer(result)
        return result

    def embedding(self, weight: Self) -> Self:
        """Row i of a table for each number i: (…,) of ints to (…, size), with weight (rows, size).

        A number outside the table gives zeros. DTypeError where the numbers are no ints.
        """
        if not dtypes.is_int(self.dtype):
            raise DTypeError(f"a table is indexed with ints, not with {self.dtype}")
        if weight.ndim != 2:
            raise ShapeError(f"a table has two axes (rows, size), not {weight.shape}")
        rows = self._range(weight.shape[0])
        is_row = (self._index_tensor(self).unsqueeze(-1) == rows).unsqueeze(-1)
        return is_row.where(weight, 0).sum(-2)

    def dropout(self, p: float = 0.5) -> Self:
        """In training, each element is 0 with probability p, and else grows by 1 / (1 - p).

        So the mean stays. Outside `Tensor.train()` nothing happens. ValueError where p is no
        probability. Srivastava et al., "Dropout" (2014).
        """
        if not 0 <= p <= 1:
            raise ValueError(f"dropout needs a probability from 0 to 1, not {p}")
        if not self.training or p == 0:
            return self._value()
        if p == 1:
            return self.zeros_like()
        # Stored, a byte for each: the gradient reads it again, which is cheaper than to draw again.
        kept = (self.rand(self.shape, dtype=dtypes.float32, device=self.device) >= p).contiguous()
        return kept.where(self, 0) / (1 - p)
