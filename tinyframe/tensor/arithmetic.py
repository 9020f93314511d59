"""More arithmetic on each element: fractions, signs, what is close, and logic on truth values."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from tinyframe.dtype import dtypes, to_np_dtype
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.elementwise import Elementwise


class Arithmetic(Elementwise):
    """One result for each element, or each pair of elements."""

    def float_power(self, exponent: Any) -> Self:
        """self ** exponent in float64."""
        power = exponent.cast(dtypes.float64) if hasattr(exponent, "cast") else float(exponent)
        return self.cast(dtypes.float64).pow(power)

    def frac(self) -> Self:
        """What trunc takes away, with the sign of self."""
        return self - self.trunc().detach()

    # ---- signs and special values ----------------------------------------------------------------

    def signbit(self) -> Self:
        """True for what has a minus sign, -0.0 included."""
        if not dtypes.is_float(self.dtype):
            return self.lt(0)
        ints = {2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}
        return self.bitcast(ints[self.dtype.itemsize]).lt(0)

    def copysign(self, other: Any) -> Self:
        """The size of self with the sign of other; the gradient at 0 is 0."""
        x, y = self._operands(other, to_float=True)
        signed = x.signbit().ne(y.signbit()).where(-x, x)
        return x.eq(0).where(signed.detach(), signed)

    def nan_to_num(
        self, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
    ) -> Self:
        """Without NaN and infinities: these become `nan`, `posinf` and `neginf`, by default 0 and
        the largest and smallest finite number of the dtype."""
        if not dtypes.is_float(self.dtype):
            return self._value()
        numpy_dtype = to_np_dtype(self.dtype)
        # bfloat16, which NumPy does not have: 8 bits of precision, the exponents of float32
        largest = 2.0**128 - 2.0**120 if numpy_dtype is None else float(np.finfo(numpy_dtype).max)
        high = largest if posinf is None else posinf
        low = -largest if neginf is None else neginf
        infinite = self.eq(math.inf).where(high, self.eq(-math.inf).where(low, self))
        return self.isnan().where(nan, infinite)

    def allclose(
        self, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> bool:
        """Whether all elements are close, as `isclose` says. Realizes."""
        return self.isclose(other, rtol, atol, equal_nan).all().item()

    # ---- truth values ----------------------------------------------------------------------------

    def _truths(self, other: Any) -> tuple[Self, Self]:
        x, y = self._operands(other)
        return x.cast(dtypes.bool), y.cast(dtypes.bool)

    def logical_and(self, other: Any) -> Self:
        """True where neither is 0."""
        x, y = self._truths(other)
        return x & y

    def logical_or(self, other: Any) -> Self:
        """True where one is not 0."""
        x, y = self._truths(other)
        return x | y

    def logical_xor(self, other: Any) -> Self:
        """True where one is 0 and the other is not."""
        x, y = self._truths(other)
        return x ^ y

    # ---- in place --------------------------------------------------------------------------------

    def fill_(self, value: Any) -> Self:
        """Writes `value` everywhere."""
        return self.assign(self.full_like(value))

    def zero_(self) -> Self:
        """Writes 0 everywhere."""
        return self.fill_(0)

    def copy_(self, src: Any) -> Self:
        """Copies the values of `src` into this Tensor, broadcast and converted to its dtype and
        device.

        src: a Tensor, a NumPy array or a number. (`assign` refuses a different dtype.)
        """
        values = self._tensor(src)
        if not isinstance(values, TensorBase):
            return self.fill_(values)
        return self.assign(values.to(self.device).cast(self.dtype))
