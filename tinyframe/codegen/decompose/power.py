"""POW of floats, and LOG2 of float64, which is a part of it.

x**y = 2 ** (y * log2(x)). An error of the product is an error of the result's exponent, times up to
128 in float32 and 1024 in float64 relative to the result, so the logarithm must have 7 or 10 bits
more than the result: for float32 it is computed in float64, for float64 as a Pair.

The polynomials are for log2(m) = K*s*(1 + s**2/3 + s**4/5 + …), s = (m-1)/(m+1), K = 2/ln(2); see
elementary.py for how they were made.
"""

from __future__ import annotations

import math

from tinyframe.codegen.decompose.elementary import (
    absolute, exp2, layout_of, log2_special, polynomial, split_exponent)
from tinyframe.codegen.decompose.pair import Pair, leading
from tinyframe.dtype import dtypes
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop.node import Ops, UOp

# *** log2 ***

K = 2.8853900817779268
# z/3 + z**2/5 + … = z*polynomial(z), z = s**2 <= 0.0295; relative to 1 + that an error of 2**-37.6
SHORT_COEFFICIENTS = (
    0.3333333282431779, 0.20000167269245958, 0.14268673348736224, 0.1179073863424707,
)  # fmt: skip
# z**2/5 + z**3/7 + … = z**2*polynomial(z); relative to 1 + z/3 + that an error of 2**-66.4
LONG_COEFFICIENTS = (
    0.1999999999999999, 0.14285714285722528, 0.11111111108774388, 0.09090909434442551,
    0.07692278481863347, 0.06668157006384871, 0.05837442385359096, 0.059942412854880764,
)  # fmt: skip


def log2_of_float32(x: UOp) -> UOp:
    """log2 of a float64 that was a float32, to about 37 bits."""
    e, m = split_exponent(x, may_be_denormal=False)
    t = m + -1.0
    s = t / (t + 2.0)
    z = s * s
    return log2_special(x, e + s * K * (z * polynomial(z, SHORT_COEFFICIENTS) + 1.0))


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
    x, y = x.cast(dtypes.float64), y.cast(dtypes.float64)
    log = log2_of_float32(absolute(x))
    return _with_special_cases(x, y, (_exponent_or_zero(log, y, y * log)).exp2()).cast(dtypes.float32)


def power_float64(x: UOp, y: UOp) -> UOp:
    size = absolute(x)
    pair = log2_pair(size)
    log = log2_special(size, pair.value)
    exponent = _exponent_or_zero(log, y, y * log)
    # y * log as an exact product of leading bits, and the rest; where 2**exponent is 0, 1, inf or
    # NaN the rest makes no difference, and inf - inf or 0 * inf would
    y_high = leading(y)
    exact = y_high * pair.high
    rest = (y - y_high) * pair.high + y * pair.low
    is_ordinary = (absolute(exponent) < 1100.0) & exponent.ne(0)
    exponent, rest = is_ordinary.where(exact, exponent), is_ordinary.where(rest, x.const_like(0.0))
    return _with_special_cases(x, y, exp2(exponent, rest))


def _exponent_or_zero(log: UOp, y: UOp, product: UOp) -> UOp:
    """y * log2(|x|), and 0 for 1**y and x**0 even where the other one is inf or NaN."""
    return (log.eq(0) | y.eq(0)).where(product.const_like(0.0), product)


def _with_special_cases(x: UOp, y: UOp, magnitude: UOp) -> UOp:
    """x ** y from |x| ** y, as C's pow and IEEE 754 have it.

    Negative bases, -0.0 and -inf keep their sign under odd powers; a negative base to a fraction is
    NaN, except -inf (and (-1) ** NaN is NaN, 1 ** NaN is 1). An infinite y counts as even.
    """
    layout, half = layout_of(x), y * 0.5
    is_integer = y.trunc().eq(y)
    is_odd = is_integer & half.trunc().ne(half)
    bits = magnitude.bitcast(layout.unsigned)
    sign = x.bitcast(layout.unsigned) & (1 << (layout.unsigned.bits - 1))
    signed = is_odd.where(bits ^ sign, bits).bitcast(x.dtype.scalar())
    is_undefined = (x < 0) & (x > -math.inf) & is_integer.ne(True)
    return is_undefined.where(x.const_like(math.nan), signed)


def power_by_constant(x: UOp, exponent: UOp) -> UOp | None:
    """The exponents that programs are full of, without a logarithm.

    Not 0.5: sqrt differs from pow at -0.0 and -inf.
    """
    y = exponent.arg
    short = {0.0: lambda: x.const_like(1.0), 1.0: lambda: x, 2.0: lambda: x * x, 3.0: lambda: x * x * x,
             -1.0: lambda: x.reciprocal(), -2.0: lambda: (x * x).reciprocal()}
    return short[y]() if y in short else None


float_power = PatternMatcher([
    (UPat.var("x", dtypes.floats) ** UPat.cvar("exponent", dtypes.floats), power_by_constant),
    (UPat.var("x", dtypes.float32) ** UPat.var("y"), power_float32),
    (UPat.var("x", dtypes.float64) ** UPat.var("y"), power_float64),
])
