"""Special functions, from arithmetic, SQRT, EXP2 and LOG2: erf, expm1, log1p, the hyperbolic
functions, and the inverse trigonometric and hyperbolic ones; to about 3 units in the last place.

Near 0 the textbook formulas subtract two numbers that are almost equal (tanh(1e-6) as
1 - 2/(exp(2e-6) + 1) keeps one digit). So a polynomial in x replaces them there, chosen by a WHERE.
A gradient flows through both branches of a WHERE, and 0 * inf is NaN: so each branch gets an
argument for which it is finite, even where it is not chosen.

The polynomials of the first four are minimax fits made for this file: Remez' exchange algorithm in
50 digits, with the coefficients rounded to the dtype one after another and the rest fitted again
where that helped. Those of the inverse functions, some of them quotients, are from Moshier's Cephes
library: the argument is reduced to their range, and the result corrected (atan(x) is
π/2 - atan(1/x) for large x).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

from tinyframe.dtype import dtypes
from tinyframe.tensor.elementwise import Elementwise, float_function

# tanh(x) = x*(1 + z*polynomial(z)), z = x*x, |x| <= 0.56; relative error 2**-29.4 and 2**-57.7
_TANH = {
    dtypes.float32: (
        -0.3333331346511841, 0.13332436978816986, -0.053835757076740265, 0.021000375971198082,
        -0.0061696115881204605,
    ),
    dtypes.float64: (
        -0.3333333333333328, 0.13333333333323943, -0.053968253962190134, 0.02186948834045202,
        -0.008863231850421687, 0.0035920843761727663, -0.0014554931460740933, 0.0005882384147877874,
        -0.00023285347640353952, 8.255457435772416e-05, -1.9021551152402688e-05,
    ),
}  # fmt: skip

# erf(x) = x + x*polynomial(x*x), |x| <= 1; relative error 2**-28.7 and 2**-56.3
_ERF = {
    dtypes.float32: (
        0.12837916612625122, -0.3761262595653534, 0.11283578723669052, -0.026853350922465324,
        0.0051871719770133495, -0.0007997967186383903, 7.807368092471734e-05,
    ),
    dtypes.float64: (
        0.1283791670955126, -0.3761263890318375, 0.11283791670954857, -0.026866170645072896,
        0.005223977624780875, -0.0008548326978742633, 0.00012055331036913794,
        -1.4925593507190661e-05, 1.6460972821184672e-06, -1.6350025260055095e-07,
        1.465788005199366e-08, -1.1365666624567702e-09, 5.945262640753955e-11,
    ),
}  # fmt: skip

# erf(x) = 1 - 2**polynomial(x - 1), 1 <= x <= 4 or 6 (from where on it rounds to 1); absolute error
# 2**-27.1 and 2**-56.6
_ERFC = {
    dtypes.float32: (
        -2.668416738510132, -3.807225227355957, -1.2163463830947876, -0.05996342748403549,
        0.014493965543806553, -0.0029026526027427746, 0.00041769983363337815,
        -3.1287250749301165e-05,
    ),
    dtypes.float64: (
        -2.6684166967815997, -3.8072253458536083, -1.2163466576859048, -0.05995999004498065,
        0.014475750185275143, -0.002853510793578584, 0.00034238670740320093,
        3.790186448298382e-05, -3.916077646338991e-05, 1.3825371736898996e-05,
        -2.9234159055778995e-06, 1.592963037629248e-07, 1.7510887965387317e-07,
        -9.411205827874663e-08, 2.9395216013064857e-08, -6.528647109363117e-09,
        1.0495007337584466e-09, -1.1685235490586285e-10, 8.073591724791873e-12,
        -2.6044913085757597e-13,
    ),
}  # fmt: skip

# exp(x) - 1 = x*(1 + x*(1/2 + x*polynomial(x))), |x| <= 0.51; relative error 2**-26.5 and 2**-58.8
_EXPM1 = {
    dtypes.float32: (
        0.16666676104068756, 0.04166552424430847, 0.008331441320478916, 0.0013998291688039899,
        0.0002056133234873414,
    ),
    dtypes.float64: (
        0.16666666666666669, 0.04166666666666724, 0.008333333333332443, 0.0013888888888630997,
        0.00019841269842848486, 2.4801587703491e-05, 2.755731808624298e-06, 2.7557035621386284e-07,
        2.5052425353315274e-08, 2.0969642297091238e-09, 1.6053685564633465e-10,
    ),
}  # fmt: skip

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


def _polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """c[0] + c[1]*x + c[2]*x**2 + …"""
    *rest, result = coefficients
    for c in reversed(rest):
        result = x * result + c
    return result


def _near_zero(x: Any, table: dict) -> Any:
    """A function of the tables above for small arguments: at most tan(π/8), or ½."""
    above, below = table[x.dtype]
    z = x * x
    quotient = _polynomial(z, above)
    if len(below) > 1:
        quotient = quotient / _polynomial(z, below)
    return x + x * (z * quotient)


def _half_exp(x: Any) -> Any:
    """exp(x) / 2 for x >= 1, which overflows only if the result does; x - 1 is exact."""
    return ((x - 1) * (1 / math.log(2))).exp2() * (math.e / 2)


class Special(Elementwise):
    """One result for each element, or each pair of elements."""

    @float_function
    def tanh(self) -> Self:
        """The hyperbolic tangent."""
        # (1 - u) / (1 + u) with u = exp(-2|x|), which cannot overflow
        size = self._magnitude()
        is_small = size < 0.55
        u = (size * (-2 / math.log(2))).exp2()
        large = 1 - 2 * u / (u + 1)
        s = is_small.where(self, 0.0)
        z = s * s
        small = s * (z * _polynomial(z, _TANH[self.dtype]) + 1)
        return is_small.where(small, (self < 0).where(-large, large))

    @float_function
    def sinh(self) -> Self:
        """The hyperbolic sine."""
        # (exp(x) - exp(-x)) / 2; by expm1 where these are almost equal
        size = self._magnitude()
        is_small = size < 1
        s, t = is_small.where(self, 0.0), is_small.where(1.0, size)
        large = _half_exp(t) - (t * (-1 / math.log(2))).exp2() * 0.5
        small = (s.expm1() - (-s).expm1()) * 0.5
        return is_small.where(small, (self < 0).where(-large, large))

    @float_function
    def cosh(self) -> Self:
        """The hyperbolic cosine."""
        # (exp(x) + exp(-x)) / 2. Where these are almost equal, so that their difference, the
        # gradient, would be lost, it is 1 + 2 sinh(x/2)**2.
        size = self._magnitude()
        is_small = size < 1
        s, t = is_small.where(self, 0.0) * 0.5, is_small.where(1.0, size)
        large = _half_exp(t) + (t * (-1 / math.log(2))).exp2() * 0.5
        half = (s.expm1() - (-s).expm1()) * 0.5
        return is_small.where(half * half * 2 + 1, large)

    @float_function
    def erf(self) -> Self:
        """The error function: 2/sqrt(pi) times the integral of exp(-t*t) from 0 to self."""
        size = self._magnitude()
        is_small = size < 1
        s = is_small.where(self, 0.0)
        small = s + s * _polynomial(s * s, _ERF[self.dtype])
        limit = 4.0 if self.dtype is dtypes.float32 else 6.0
        t = (size > limit).where(limit, size) - 1
        large = 1 - _polynomial(t, _ERFC[self.dtype]).exp2()
        return is_small.where(small, (self < 0).where(-large, large))

    @float_function
    def expm1(self) -> Self:
        """exp(self) - 1, accurate near 0."""
        is_small = self._magnitude() < 0.5
        s = is_small.where(self, 0.0)
        small = s * (s * (s * _polynomial(s, _EXPM1[self.dtype]) + 0.5) + 1)
        large = (self * (1 / math.log(2))).exp2() - 1
        return is_small.where(small, large)

    @float_function
    def log1p(self) -> Self:
        """log(1 + self), accurate near 0.

        1 + x is rounded; the rounding error, relative to 1 + x, corrects log(1 + x). The gradient,
        1 / (1 + x), is that of the logarithm alone.
        """
        u = self + 1
        lost = ((u > 0) & (u < math.inf)).where((self - (u - 1)) / u, 0.0)
        log = u.log2() * math.log(2) + lost.detach()
        s = u.eq(1).where(self, 0.0)
        # Such a small x is its own logarithm, also for -0.0. The square is for the second
        # derivative.
        return u.eq(1).where(s - s * s * 0.5, log)

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
        # not through 1 / inf, where the gradient would be 0 * inf
        angle = size.isinf().where(2 * quarter, offset + _near_zero(reduced, _ATAN))
        return self._signed(angle)

    def _signed(self, size: Self) -> Self:
        """`size` with the sign of self; self where it is ±0, whose sign no comparison sees."""
        return self.eq(0).where(self, self.lt(0).where(-size, size))

    @float_function
    def asin(self) -> Self:
        """The angle in radians, from -π/2 to π/2, whose sine this is; NaN beyond ±1."""
        is_small, small, angle = self._arcs()
        return is_small.where(small, self._signed(math.pi / 2 - angle))

    @float_function
    def acos(self) -> Self:
        """The angle in radians, from 0 to π, whose cosine this is; NaN beyond ±1."""
        is_small, small, angle = self._arcs()
        return is_small.where(math.pi / 2 - small, self.lt(0).where(math.pi - angle, angle))

    def _arcs(self) -> tuple[Any, Any, Any]:
        """Whether |self| is below ½; then its asin; and otherwise the acos of |self|."""
        size = self._magnitude()
        is_small = size.lt(0.5)
        half: Any = (1 - is_small.where(0.5, size)) / 2
        small = _near_zero(is_small.where(self, 0.0), _ASIN)
        return is_small, small, 2 * _near_zero(half.sqrt(), _ASIN)

    @float_function
    def asinh(self) -> Self:
        """The inverse of sinh."""
        size = self._magnitude()
        is_large = size.gt(1e9)
        s = is_large.where(1.0, size)
        square = s * s
        small = (s + square / (1 + (square + 1).sqrt())).log1p()
        return self._signed(is_large.where(is_large.where(size, 1.0).log() + math.log(2), small))

    @float_function
    def acosh(self) -> Self:
        """The inverse of cosh, 0 or positive; NaN below 1."""
        is_large = self.gt(1e9)
        t = is_large.where(2.0, self) - 1
        # two roots: that of t * (t + 2) has the gradient 0 * inf at 1
        small = (t + t.sqrt() * (t + 2).sqrt()).log1p()
        return is_large.where(is_large.where(self, 1.0).log() + math.log(2), small)

    @float_function
    def atanh(self) -> Self:
        """The inverse of tanh; NaN beyond ±1."""
        return (self.log1p() - (-self).log1p()) / 2

    @float_function
    def hypot(self, other: Any) -> Self:
        """sqrt(self² + other²), without overflow; of an infinity and anything inf."""
        x, y = self._operands(other, to_float=True)
        x, y = x._magnitude(), y._magnitude()
        scale = x.maximum(y).detach()
        scale = (scale.eq(0) + scale.isfinite().logical_not()).where(1.0, scale)
        length = ((x / scale).square() + (y / scale).square()).sqrt() * scale
        return (x.isinf() + y.isinf()).where(math.inf, length)
