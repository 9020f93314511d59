"""EXP2, LOG2 and SIN as arithmetic: no calls, no branches, so a compiler can vectorize them.

Each has the same three steps: *reduce* the argument to a short interval, exactly; approximate there
by a *polynomial*; reconstruct the result. Special values (NaN, inf, 0, denormals) come out right
by themselves where possible and by WHERE otherwise.

The polynomials are minimax fits, made for this file: Remez' exchange algorithm in 50 digits on the
relative error, with the coefficients rounded to the dtype one after another, lowest first, and the
others fitted again after each rounding if that helped. Each table gives the fit's error.

C compilers may fuse a*b + c (`-ffp-contract=fast`) or not. So no step relies on a product being
rounded: where a difference must be exact, it contains either no product or an exact one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tinyframe.dtype import DType, dtypes, truncate
from tinyframe.uop.node import UOp


@dataclass(frozen=True)
class FloatLayout:
    """The bit layout of a float dtype: a sign, the exponent (plus bias), then the mantissa."""

    unsigned: DType
    signed: DType
    mantissa_bits: int
    bias: int

    @property
    def one(self) -> int:
        """The bits of 1.0."""
        return self.bias << self.mantissa_bits

    @property
    def sign_bit(self) -> int:
        return 1 << (self.unsigned.bits - 1)

    @property
    def smallest_normal(self) -> float:
        return math.ldexp(1.0, 1 - self.bias)

    def rounder(self, step: int = 1) -> float:
        """Adding this to x and subtracting it rounds x to a multiple of `step` (a power of two).

        The sum's last mantissa bit is worth `step`, so its low bits are x / step as an integer.
        """
        return math.ldexp(1.5, self.mantissa_bits) * step


LAYOUTS = {
    dtypes.float32: FloatLayout(dtypes.uint32, dtypes.int32, 23, 127),
    dtypes.float64: FloatLayout(dtypes.uint64, dtypes.int64, 52, 1023),
}


def layout_of(x: UOp) -> FloatLayout:
    return LAYOUTS[x.dtype.scalar()]


def polynomial(x: UOp, coefficients: Sequence[float]) -> UOp:
    """c[0] + c[1]*x + c[2]*x**2 + …, by Horner's rule: one multiply-add per coefficient."""
    result = x.const_like(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        result = result * x + c
    return result


def round_to(x: UOp, step: int = 1) -> tuple[UOp, UOp]:
    """x rounded to a multiple of `step`, as a float, and as bits whose low ones are that / step."""
    rounder = layout_of(x).rounder(step)
    shifted = x + rounder
    return shifted + -rounder, shifted.bitcast(layout_of(x).unsigned)


def absolute(x: UOp) -> UOp:
    """|x|, by its bits: no comparison, and right for -0.0."""
    layout = layout_of(x)
    size = x.bitcast(layout.unsigned) & (layout.sign_bit - 1)
    return size.bitcast(x.dtype.scalar())


# *** EXP2 ***

LN_2 = Fraction(0xB17217F7D1CF79ABC9E3B39803F2F6AF, 1 << 128)

# 2**r = 1 + r*polynomial(r) for -1 <= r <= 1
EXP2_COEFFICIENTS = {
    # relative error 2**-28.9
    dtypes.float32: (
        0.6931471824645996, 0.24022650718688965, 0.05550414323806763, 0.009618154726922512,
        0.0013331767404451966, 0.0001539524382678792, 1.5498802895308472e-05,
        1.3878761819796637e-06,
    ),
    # relative error 2**-58.8
    dtypes.float64: (
        0.6931471805599453, 0.2402265069591007, 0.05550410866482216, 0.009618129107629048,
        0.001333355814638794, 0.00015403530392892091, 1.5252733815629495e-05, 1.321548696582547e-06,
        1.017808461439037e-07, 7.054881478716892e-09, 4.4455742842730946e-10,
        2.5702885244751567e-11, 1.3745579786339787e-12, 6.03889759175605e-14,
    ),
}  # fmt: skip


def exp2(x: UOp, low: UOp | None = None) -> UOp:
    """2 ** (x + low); `low` is the part of the argument lost when it was rounded to x."""
    x = clamp(x, *exponent_range(x))
    nearest, bits = round_to(x, 2)
    r = x - nearest if low is None else (x - nearest) + low
    return _power(r, bits, EXP2_COEFFICIENTS[x.dtype.scalar()])


def exp2_of_multiple(x: UOp, factor: UOp) -> UOp | None:
    """2 ** (x * factor) for a constant factor; with log2(e) it is exp(x).

    Rounding the product x * factor would be an error of the exponent, up to 50 units in the last
    place for large x. So x itself is reduced, by multiples of 1/factor, instead of the product.
    """
    layout, dtype = layout_of(x), x.dtype.scalar()
    if not 2.0**-16 < abs(factor.arg) < 2.0**16:
        return None
    inverse = _inverse(factor.arg, dtype)
    c = float(1 / inverse)
    # `nearest` is a multiple of 2 below 256 or 2048, so nearest * high is exact
    spare = 8 if layout.mantissa_bits == 23 else 11
    unit = Fraction(2) ** (math.frexp(inverse)[1] - (layout.mantissa_bits + 1 - spare))
    high = round(inverse / unit) * unit
    low = float(inverse - high)
    lowest, highest = sorted(limit / c for limit in exponent_range(x))
    x = clamp(x, truncate[dtype](lowest), truncate[dtype](highest))
    nearest, bits = round_to(x * c, 2)
    r = (x - nearest * float(high)) - nearest * low
    return _power(r, bits, [a * c ** (n + 1) for n, a in enumerate(EXP2_COEFFICIENTS[dtype])])


def _inverse(factor: float, dtype: DType) -> Fraction:
    """1 / factor. The dtype's closest number to log2(e) counts as log2(e) itself."""
    if truncate[dtype](abs(factor)) == truncate[dtype](1 / math.log(2)):
        return LN_2 if factor > 0 else -LN_2
    return 1 / Fraction(factor)


def exponent_range(x: UOp) -> tuple[float, float]:
    """Outside of these limits 2**x is 0 or inf."""
    layout = layout_of(x)
    return -layout.bias - layout.mantissa_bits - 4.0, layout.bias + 3.0


def clamp(x: UOp, lowest: float, highest: float) -> UOp:
    """x limited to lowest … highest; NaN stays NaN."""
    x = (x < lowest).where(x.const_like(lowest), x)
    return (x > highest).where(x.const_like(highest), x)


def _power(r: UOp, bits: UOp, coefficients: Sequence[float]) -> UOp:
    """2 ** (r + nearest) from r and the bits of `nearest` as round_to(…, 2) gives them."""
    coefficients = [truncate[r.dtype.scalar()](c) for c in coefficients]
    return scaled(r * polynomial(r, coefficients) + 1.0, bits)


def scaled(x: UOp, bits: UOp) -> UOp:
    """x * 2**nearest, for 1/2 <= x <= 2, from the bits of `nearest` as round_to(…, 2) gives them.

    `nearest` is even, 2*half, so this is x * 2**half * 2**half: the exponent of 2**half fits even
    if the result is denormal or inf, and only the last product rounds.
    """
    layout = layout_of(x)
    scale = ((bits << layout.mantissa_bits) + layout.one).bitcast(x.dtype.scalar())
    return x * scale * scale


# *** LOG2 ***

SQRT_HALF_BITS = {dtypes.float32: 0x3F3504F3, dtypes.float64: 0x3FE6A09E667F3BCD}

# log2(1 + t) = t*LOG2_E + t*polynomial(t) for sqrt(1/2) <= 1 + t <= sqrt(2), relative
# error 2**-27.5. LOG2_E has 12 bits, so that its product with 12 bits of t is exact; the difference
# to log2(e) is in the first coefficient.
LOG2_E = 1.44287109375
LOG2_COEFFICIENTS = (
    -0.0001760529266903177, -0.7213473320007324, 0.4808982312679291, -0.3606986701488495,
    0.28856974840164185, -0.23956596851348877, 0.20451900362968445, -0.19143599271774292,
    0.18689116835594177, -0.109894298017025,
)  # fmt: skip


def split_exponent(x: UOp) -> tuple[UOp, UOp]:
    """(e, m) with x = m * 2**e and sqrt(1/2) <= m < sqrt(2), for x > 0; both have x's dtype.

    With m on both sides of 1 there is no cancellation of e + log2(m): e = 0 for all x close to 1.
    """
    layout, dtype = layout_of(x), x.dtype.scalar()
    up = layout.mantissa_bits + 1
    is_denormal = x < layout.smallest_normal
    bits = is_denormal.where(x * math.ldexp(1.0, up), x).bitcast(layout.unsigned)
    # relative to sqrt(1/2), exponent and mantissa are right where they should be
    bits = bits + (layout.one - SQRT_HALF_BITS[dtype])
    m = (bits & ((1 << layout.mantissa_bits) - 1)) + SQRT_HALF_BITS[dtype]
    # An integer below 2**mantissa_bits becomes a float without a conversion (AVX2 has none for 64
    # bits) as the last bits of 2**mantissa_bits. That and the bias are subtracted below.
    offset = math.ldexp(1.0, layout.mantissa_bits)
    offset_bits = (layout.bias + layout.mantissa_bits) << layout.mantissa_bits
    exponent = ((bits >> layout.mantissa_bits) | offset_bits).bitcast(dtype)
    excess = offset + layout.bias
    correction = is_denormal.where(x.const_like(-excess - up), x.const_like(-excess))
    return exponent + correction, m.bitcast(dtype)


def log2_special(x: UOp, log: UOp) -> UOp:
    """`log` where x is positive and finite; log2 of inf, NaN, negative numbers and zero."""
    log = (x < math.inf).where(log, x)
    log = (x < 0).where(x.const_like(math.nan), log)
    return x.eq(0).where(x.const_like(-math.inf), log)


def log2_float32(x: UOp) -> UOp:
    e, m = split_exponent(x)
    t = m + -1.0
    leading = (t.bitcast(dtypes.uint32) & 0xFFFFF000).bitcast(dtypes.float32)
    rest = (t - leading) * LOG2_E + t * polynomial(t, LOG2_COEFFICIENTS)
    return log2_special(x, e + (leading * LOG2_E + rest))
