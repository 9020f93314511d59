"""erf, tanh, sinh, cosh, expm1 and log1p from arithmetic, EXP2 and LOG2, to about 3 units in the
last place.

What they share: near 0 the obvious formula subtracts two numbers that are almost equal (tanh(1e-6)
as 1 - 2/(exp(2e-6) + 1) has one digit left), and so there a polynomial in x takes its place, and a
WHERE chooses. A gradient flows through both sides of a WHERE, and 0 * inf is NaN: so each side gets
an argument for which it is finite, whichever is chosen.

The polynomials are minimax fits made for this file: Remez' exchange algorithm in 50 digits, with
the coefficients rounded to the dtype one after another and the rest fitted again where that helped.

All work on a Tensor or a UOp of float32 or float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tinyframe.dtype import dtypes


def _polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """c[0] + c[1]*x + c[2]*x**2 + …"""
    *rest, result = coefficients
    for c in reversed(rest):
        result = x * result + c
    return result


def _magnitude(x: Any) -> Any:
    return (x < 0).where(-x, x)


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


def tanh(x: Any) -> Any:
    """The hyperbolic tangent: (1 - u) / (1 + u) with u = exp(-2|x|), which cannot overflow."""
    size = _magnitude(x)
    is_small = size < 0.55
    u = (size * (-2 / math.log(2))).exp2()
    large = 1 - 2 * u / (u + 1)
    s = is_small.where(x, 0.0)
    z = s * s
    small = s * (z * _polynomial(z, _TANH[x.dtype]) + 1)
    return is_small.where(small, (x < 0).where(-large, large))


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


def erf(x: Any) -> Any:
    """The error function, 2/sqrt(pi) times the integral of exp(-t*t) from 0 to x."""
    size = _magnitude(x)
    is_small = size < 1
    s = is_small.where(x, 0.0)
    small = s + s * _polynomial(s * s, _ERF[x.dtype])
    limit = 4.0 if x.dtype is dtypes.float32 else 6.0
    t = (size > limit).where(limit, size) - 1
    large = 1 - _polynomial(t, _ERFC[x.dtype]).exp2()
    return is_small.where(small, (x < 0).where(-large, large))


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


def expm1(x: Any) -> Any:
    """exp(x) - 1, to the last places also for small x."""
    is_small = _magnitude(x) < 0.5
    s = is_small.where(x, 0.0)
    small = s * (s * (s * _polynomial(s, _EXPM1[x.dtype]) + 0.5) + 1)
    large = (x * (1 / math.log(2))).exp2() - 1
    return is_small.where(small, large)


def log1p(x: Any) -> Any:
    """log(1 + x), to the last places also for small x.

    1 + x is rounded, and what it loses of x, relative to 1 + x, is just what log(1 + x) lacks. Its
    gradient, 1 / (1 + x), is that of the first part alone.
    """
    u = x + 1
    lost = ((u > 0) & (u < math.inf)).where((x - (u - 1)) / u, 0.0)
    log = u.log2() * math.log(2) + lost.detach()
    s = u.eq(1).where(x, 0.0)
    # So small an x is its own logarithm, and keeps -0.0. The square only counts when this is
    # differentiated twice.
    return u.eq(1).where(s - s * s * 0.5, log)


def _half_exp(x: Any) -> Any:
    """exp(x) / 2 for x >= 1, which overflows no earlier than the result; x - 1 is exact."""
    return ((x - 1) * (1 / math.log(2))).exp2() * (math.e / 2)


def sinh(x: Any) -> Any:
    """The hyperbolic sine: (exp(x) - exp(-x)) / 2, and by expm1 where these are almost equal."""
    size = _magnitude(x)
    is_small = size < 1
    s, t = is_small.where(x, 0.0), is_small.where(1.0, size)
    large = _half_exp(t) - (t * (-1 / math.log(2))).exp2() * 0.5
    small = (expm1(s) - expm1(-s)) * 0.5
    return is_small.where(small, (x < 0).where(-large, large))


def cosh(x: Any) -> Any:
    """The hyperbolic cosine: (exp(x) + exp(-x)) / 2. Where these are almost equal, so that their
    difference, the gradient, would be lost, it is 1 + 2 sinh(x/2)**2."""
    size = _magnitude(x)
    is_small = size < 1
    s, t = is_small.where(x, 0.0) * 0.5, is_small.where(1.0, size)
    large = _half_exp(t) + (t * (-1 / math.log(2))).exp2() * 0.5
    half = (expm1(s) - expm1(-s)) * 0.5
    return is_small.where(half * half * 2 + 1, large)
