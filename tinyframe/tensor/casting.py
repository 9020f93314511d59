"""Casts by name, `t.half()`, `t.int()`, and bitcast; in a file of their own, since they shadow
Python's names."""

from __future__ import annotations

from typing import Any, Self

from tinyframe.dtype import dtypes, to_dtype
from tinyframe.errors import DTypeError, ShapeError
from tinyframe.tensor.base import TensorBase


class Casting(TensorBase):
    """Methods that change the dtype."""

    def bitcast(self, dtype: Any) -> Self:
        """The same bits read as another dtype.

        If the item sizes differ, the last axis grows or shrinks by their ratio, with the least
        significant part first; ShapeError if it does not divide.

            Tensor([1.0]).bitcast("int32")    # [0x3F800000]
        """
        wanted = to_dtype(dtype)
        if dtypes.bool in (wanted, self.dtype) and wanted is not self.dtype:
            raise DTypeError("a bool has no bits to read as something else; use cast")
        old, new = self.dtype.itemsize, wanted.itemsize
        if old == new:
            return self._apply(lambda x: x.bitcast(wanted))
        if self.ndim == 0 or (self.shape[-1] * old) % new:
            raise ShapeError(
                f"cannot read {self.dtype} of shape {self._dims} as {wanted}: the last axis does "
                f"not divide into {new} bytes"
            )
        ratio = max(old, new) // min(old, new)
        narrow, wide = sorted((self.dtype.unsigned(), wanted.unsigned()))
        bits = narrow.bits
        if old > new:
            whole = self._apply(lambda x: x.bitcast(wide))
            parts = [whole.rshift(bits * part).cast(narrow) for part in range(ratio)]
            joined = parts[0].stack(*parts[1:], dim=-1).flatten(-2)
        else:
            grouped = self._apply(lambda x: x.bitcast(narrow)).cast(wide)
            grouped = grouped.reshape((*self.shape[:-1], -1, ratio))
            lanes = [piece.squeeze(-1) for piece in grouped.split(1, dim=-1)]
            joined = lanes[0]
            for part, lane in enumerate(lanes[1:], 1):
                joined = joined | lane.lshift(bits * part)
        return joined._apply(lambda x: x.bitcast(wanted))

    def half(self) -> Self:
        """As float16."""
        return self.cast(dtypes.half)

    def bfloat16(self) -> Self:
        """As bfloat16."""
        return self.cast(dtypes.bfloat16)

    def float(self) -> Self:
        """As float32."""
        return self.cast(dtypes.float32)

    def double(self) -> Self:
        """As float64."""
        return self.cast(dtypes.float64)

    def short(self) -> Self:
        """As int16."""
        return self.cast(dtypes.int16)

    def int(self) -> Self:
        """As int32."""
        return self.cast(dtypes.int32)

    def long(self) -> Self:
        """As int64."""
        return self.cast(dtypes.int64)

    def bool(self) -> Self:
        """As bool: False for 0."""
        return self.cast(dtypes.bool)
