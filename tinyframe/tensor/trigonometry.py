"""Inverse trigonometric and hyperbolic functions, from arithmetic, SQRT and LOG2.

Each brings its argument into a range where a polynomial, or a quotient of two, is exact to the last
places (the coefficients are those of Moshier's Cephes library), and adds the rest: atan(x) is
π/2 - atan(1/x) where x is large. As in `special`, both sides of a WHERE get an argument for which
their gradient is finite.
"""

from __future__ import annotations

import math
from typing import Any, Self

from tinyframe.dtype import dtypes
from tinyframe.tensor import special
from tinyframe.tensor.elementwise import Elementwise, float_function

# f(x) = x + x*z*P(z)/Q(z) with z = x*x; coefficients of P and of Q, lowest power first
_ATAN = {
    dtypes.float32: (
        (-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2),
        (1.0,),
    ),
    dtypes.float64: (
        (
            -6.485021904942025371773e1, -1.228866684490136173410e2, -7.500855792314704667340e1,
            -1.615753718733365076637e1, -8.750608600031904122785e-1,
        ),
        (
            1.945506571482613964425e2, 4.853903996359136964868e2, 4.328810604912902668951e2,
            1.650270098316988542046e2, 2.485846490142306297962e1, 1.0,
        ),
    ),
}  # fmt: skip
_ASIN = {
    dtypes.float32: (
        (1.6666752422e-1, 7.4953002686e-2, 4.5470025998e-2, 2.4181311049e-2, 4.2163199048e-2),
        (1.0,),
    ),
    dtypes.float64: (
        (
            -8.198089802484824371615e0, 1.956261983317594739197e1, -1.626247967210700244449e1,
            5.444622390564711410273e0, -6.019598008014123785661e-1, 4.253011369004428248960e-3,
        ),
        (
            -4.918853881490881290097e1, 1.395105614657485689735e2, -1.471791292232726029859e2,
            7.049610280856842141659e1, -1.474091372988853791896e1, 1.0,
        ),
    ),
}  # fmt: skip


def _near_zero(x: Any, table: dict) -> Any:
    """The function of a table, where its argument is small: at most tan(π/8), or ½."""
    above, below = table[x.dtype]
    z = x * x
    quotient = special._polynomial(z, above)
    if len(below) > 1:
        quotient = quotient / special._polynomial(z, below)
    return x + x * (z * quotient)


class Trigonometry(Elementwise):
    """Methods on each element."""

    @float_function
    def atan(self) -> Self:
        """The angle in radians, from -π/2 to π/2, whose tangent this is."""
        size = self._magnitude()
        is_large, is_small = size.gt(math.tan(3 * math.pi / 8)), size.le(math.tan(math.pi / 8))
        inverse = -1 / is_large.where(size, 1.0)
        between = (is_large + is_small).where(1.0, size)
        middle = (between - 1) / (between + 1)
        reduced = is_small.where(size, is_large.where(inverse, middle))
        quarter = self._number(math.pi / 4, self.dtype)
        offset = is_small.where(0.0, is_large.where(2 * quarter, quarter))
        # not the inverse of infinity, 0, whose gradient would be 0 * inf
        angle = size.isinf().where(2 * quarter, offset + _near_zero(reduced, _ATAN))
        return self._signed(angle)

    def _signed(self, size: Self) -> Self:
        """`size` with the sign of this; this where it is 0, whose sign no comparison sees."""
        return self.eq(0).where(self, self.lt(0).where(-size, size))

    @float_function
    def atan2(self, other: Any) -> Self:
        """The angle of the point (other, self), from -π to π: atan(self / other), by quadrant."""
        y, x = self._operands(other, to_float=True)
        # by their signs, as the quadrant is: -0.0 < 0 is false
        height, width = (v.signbit().where(-v, v) for v in (y, x))
        is_steep = height.gt(width)
        small, large = is_steep.where(width, height), is_steep.where(height, width)
        is_origin, is_diagonal = small.eq(0) * large.eq(0), small.isinf() * large.isinf()
        # neither the origin nor two infinities have a gradient
        above = is_origin.where(0.0, is_diagonal.where(1.0, small))
        angle = (above / (is_origin + is_diagonal).where(1.0, large)).atan()
        angle = is_steep.where(math.pi / 2 - angle, angle)
        angle = x.signbit().where(math.pi - angle, angle)
        return y.signbit().where(-angle, angle)

    @float_function
    def asin(self) -> Self:
        """The angle in radians, from -π/2 to π/2, whose sine this is; NaN beyond ±1."""
        size = self._magnitude()
        is_small = size.lt(0.5)
        small = _near_zero(is_small.where(self, 0.0), _ASIN)
        half: Any = (1 - is_small.where(0.5, size)) / 2
        return is_small.where(small, self._signed(math.pi / 2 - 2 * _near_zero(half.sqrt(), _ASIN)))

    @float_function
    def acos(self) -> Self:
        """The angle in radians, from 0 to π, whose cosine this is; NaN beyond ±1."""
        size = self._magnitude()
        is_small = size.lt(0.5)
        small = math.pi / 2 - _near_zero(is_small.where(self, 0.0), _ASIN)
        half: Any = (1 - is_small.where(0.5, size)) / 2
        angle = 2 * _near_zero(half.sqrt(), _ASIN)
        return is_small.where(small, self.lt(0).where(math.pi - angle, angle))

    @float_function
    def asinh(self) -> Self:
        """The inverse of sinh."""
        size = self._magnitude()
        is_large = size.gt(1e9)
        s = is_large.where(1.0, size)
        square = s * s
        small = special.log1p(s + square / (1 + (square + 1).sqrt()))
        return self._signed(is_large.where(is_large.where(size, 1.0).log() + math.log(2), small))

    @float_function
    def acosh(self) -> Self:
        """The inverse of cosh, 0 or positive; NaN below 1."""
        is_large = self.gt(1e9)
        t = is_large.where(2.0, self) - 1
        # two roots: that of t * (t + 2) has the gradient 0 * inf at 1
        small = special.log1p(t + t.sqrt() * (t + 2).sqrt())
        return is_large.where(is_large.where(self, 1.0).log() + math.log(2), small)

    @float_function
    def atanh(self) -> Self:
        """The inverse of tanh; NaN beyond ±1."""
        return (special.log1p(self) - special.log1p(-self)) / 2

    @float_function
    def hypot(self, other: Any) -> Self:
        """sqrt(self² + other²), without overflow; of an infinity and anything inf."""
        x, y = self._operands(other, to_float=True)
        x, y = x._magnitude(), y._magnitude()
        scale = x.maximum(y).detach()
        scale = (scale.eq(0) + scale.isfinite().logical_not()).where(1.0, scale)
        length = ((x / scale).square() + (y / scale).square()).sqrt() * scale
        return (x.isinf() + y.isinf()).where(math.inf, length)

    arctan, arctan2, arcsin, arccos = atan, atan2, asin, acos
    arcsinh, arccosh, arctanh = asinh, acosh, atanh
