"""POW of floats, and LOG2 of float64, which is a part of it.

x**y = 2 ** (y * log2(x)). An error of the product is an error of the result's exponent, so relative
to the result it is up to 128 times as large in float32 and 1024 times in float64. The logarithm
must have 7 or 10 bits more than the result: for float32 it is computed in float64, for float64 as a
Pair.

The polynomials are for log2(m) = K*s*(1 + s**2/3 + s**4/5 + …), s = (m-1)/(m+1), K = 2/ln(2); see
elementary.py for how they were made.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tinyframe.codegen.decompose.elementary import (
    EXP2_COEFFICIENTS,
    absolute,
    clamp,
    exp2,
    exponent_range,
    layout_of,
    log2_special,
    polynomial,
    round_to,
    scaled,
    split_exponent,
)
from tinyframe.codegen.decompose.pair import Pair, leading
from tinyframe.dtype import dtypes
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop.node import UOp

# *** log2 ***

K = 2.8853900817779268
# z/3 + z**2/5 + … = z*polynomial(z), z = s**2 <= 0.0295; relative to 1 + that an error of 2**-37.6
SHORT_LOG2_COEFFICIENTS = (
    0.3333333282431779, 0.20000167269245958, 0.14268673348736224, 0.1179073863424707,
)  # fmt: skip
# z**2/5 + z**3/7 + … = z**2*polynomial(z); relative to 1 + z/3 + that an error of 2**-66.4
LONG_COEFFICIENTS = (
    0.1999999999999999, 0.14285714285722528, 0.11111111108774388, 0.09090909434442551,
    0.07692278481863347, 0.06668157006384871, 0.05837442385359096, 0.059942412854880764,
)  # fmt: skip


def log2_pair(x: UOp) -> Pair:
    """log2 of a positive, finite float64 to about 64 bits."""
    e, m = split_exponent(x)
    t = Pair.of(m + -1.0)
    s = t / (Pair.const(x, 2.0) + t)
    z = s * s
    tail = z.value * z.value * polynomial(z.value, LONG_COEFFICIENTS)
    series = z * Pair.const(x, 0.3333333283662796, 4.967053731282552e-09) + Pair.of(tail)
    log = s * Pair.const(x, 2.885390043258667, 3.851925982253235e-08)
    return Pair(e, x.const_like(0.0)) + log * (Pair.const(x, 1.0) + series)


def log2_float64(x: UOp) -> UOp:
    return log2_special(x, log2_pair(x).value)


# *** x ** y ***


def power_float32(x: UOp, y: UOp) -> UOp:
    """Via float64, using only + - * /, which wide vectors have too."""
    size = absolute(x)
    e, m = split_exponent(size)
    t = m.cast(dtypes.float64) + -1.0
    s = t / (t + 2.0)
    z = s * s
    log = e.cast(dtypes.float64) + s * K * (z * polynomial(z, SHORT_LOG2_COEFFICIENTS) + 1.0)
    # for |y| > 2**32 the result is 0, 1 or inf; so `exponent` is below 2**51 and can be rounded
    exponent = clamp(y, -(2.0**32), 2.0**32).cast(dtypes.float64) * log
    nearest, _ = round_to(exponent, 2)
    r = exponent - nearest
    fraction = r * polynomial(r, EXP2_COEFFICIENTS[dtypes.float32]) + 1.0
    _, bits = round_to(clamp(nearest.cast(dtypes.float32), *exponent_range(x)), 2)
    return _with_special_cases(x, y, scaled(fraction.cast(dtypes.float32), bits))


def power_float64(x: UOp, y: UOp) -> UOp:
    size = absolute(x)
    log = log2_pair(size)
    y = clamp(y, -(2.0**65), 2.0**65)  # beyond these the result is 0, 1 or inf
    # y * log as an exact product of leading bits, plus the rest; beyond 1100, 2**exponent is 0 or
    # inf, and the rest is left out because it could be inf - inf
    y_high = leading(y)
    rest = (y - y_high) * log.high + y * log.low
    exponent = y * log.value
    is_ordinary = absolute(exponent) < 1100.0
    exponent = is_ordinary.where(y_high * log.high, exponent)
    return _with_special_cases(x, y, exp2(exponent, is_ordinary.where(rest, x.const_like(0.0))))


def _with_special_cases(x: UOp, y: UOp, power: UOp) -> UOp:
    """x ** y as C's pow defines it, from `power`: |x| ** y for |x| that is neither 0 nor inf."""
    size, layout = absolute(x), layout_of(x)
    infinite, zero = x.const_like(math.inf), x.const_like(0.0)
    power = size.eq(0).where((y < 0).where(infinite, zero), power)
    power = size.eq(math.inf).where((y < 0).where(zero, infinite), power)
    power = (x.ne(x) | y.ne(y)).where(x.const_like(math.nan), power)
    # a negative base to a fraction is NaN, except for -0.0 and -inf
    whole, is_odd = _is_whole(y)
    is_undefined = (x < 0) & (x > -math.inf) & whole.ne(True)
    power = is_undefined.where(x.const_like(math.nan), power)
    # 1 ** NaN and NaN ** 0 too
    power = (x.eq(1) | y.eq(0)).where(x.const_like(1.0), power)
    # odd powers keep the sign, even that of -0.0
    sign = x.bitcast(layout.unsigned) & layout.sign_bit
    sign = is_odd.where(sign, sign.const_like(0))
    return (power.bitcast(layout.unsigned) ^ sign).bitcast(x.dtype.scalar())


def _is_whole(y: UOp) -> tuple[UOp, UOp]:
    """Whether y is an integer, and whether it is odd; from 2**24 or 2**53 on, all are even."""
    layout = layout_of(y)
    limit = math.ldexp(1.0, layout.mantissa_bits + 1)
    inside = clamp(y, -limit, limit)
    number = inside.cast(layout.signed)
    is_whole = number.cast(y.dtype.scalar()).eq(inside)
    return is_whole, is_whole & (number & 1).ne(0)


def power_by_constant(x: UOp, exponent: UOp) -> UOp | None:
    """Common constant exponents, without a logarithm.

    Not 0.5: sqrt differs from pow at -0.0 and -inf.
    """
    short: dict[float, Callable[[], UOp]] = {
        0.0: lambda: x.const_like(1.0),
        1.0: lambda: x,
        2.0: lambda: x * x,
        3.0: lambda: x * x * x,
        -1.0: lambda: x.reciprocal(),
        -2.0: lambda: (x * x).reciprocal(),
    }
    return short[exponent.arg]() if exponent.arg in short else None


float_power = PatternMatcher(
    [
        (UPat.var("x", dtypes.floats) ** UPat.cvar("exponent", dtypes.floats), power_by_constant),
        (UPat.var("x", dtypes.float32) ** UPat.var("y"), power_float32),
        (UPat.var("x", dtypes.float64) ** UPat.var("y"), power_float64),
    ]
)
