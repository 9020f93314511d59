"""Elementary functions as arithmetic: EXP2, LOG2, SIN, COS, POW, SQRT and TRUNC of float32 and
float64. There are no calls and no branches, so a compiler can vectorize them.

Most have the same three steps: *reduce* the argument to a short interval, exactly; approximate
there by a *polynomial*; reconstruct the result. Special values (NaN, inf, 0, denormals) come out
right by themselves where possible and by WHERE otherwise.

The polynomials are minimax fits, made for this file: Remez' exchange algorithm in 50 digits on the
relative error, with the coefficients rounded to the dtype one after another, lowest first, and the
others fitted again after each rounding if that helped. Each table gives the fit's error.

C compilers may fuse a*b + c (`-ffp-contract=fast`) or not. So no step relies on a product being
rounded: where a difference must be exact, it contains either no product or an exact one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tinyframe.dtype import DType, dtypes, truncate
from tinyframe.uop.node import Ops, UOp


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


def bits_of(x: UOp) -> UOp:
    return x.bitcast(layout_of(x).unsigned)


def sign_of(x: UOp) -> UOp:
    """The sign bit of x; the other bits are 0."""
    return bits_of(x) & layout_of(x).sign_bit


def with_sign_of(x: UOp, size: UOp) -> UOp:
    """`size`, which is not negative, with the sign of x."""
    return (bits_of(size) | sign_of(x)).bitcast(x.dtype.scalar())


def uint64_like(x: UOp, value: int) -> UOp:
    """A uint64 constant with as many lanes as x."""
    return UOp.const(dtypes.uint64.vec(x.dtype.count), value)


def round_to(x: UOp, step: int = 1) -> tuple[UOp, UOp]:
    """x rounded to a multiple of `step` (a power of two), as a float, and as bits whose low ones
    are that / step: the last mantissa bit of `shifted` is worth `step`."""
    rounder = math.ldexp(1.5, layout_of(x).mantissa_bits) * step
    shifted = x + rounder
    return shifted + -rounder, bits_of(shifted)


def absolute(x: UOp) -> UOp:
    """|x|, by its bits: no comparison, and right for -0.0."""
    return (bits_of(x) & (layout_of(x).sign_bit - 1)).bitcast(x.dtype.scalar())


def special_values(x: UOp, result: UOp, at_zero: UOp) -> UOp:
    """`result` where x is positive and finite; x for inf and NaN, and NaN for negative numbers."""
    result = (x < math.inf).where(result, x)
    result = (x < 0).where(x.const_like(math.nan), result)
    return x.eq(0).where(at_zero, result)


def clamp(x: UOp, lowest: float, highest: float) -> UOp:
    """x limited to lowest … highest; NaN stays NaN."""
    x = (x < lowest).where(x.const_like(lowest), x)
    return (x > highest).where(x.const_like(highest), x)


# ---- TRUNC and SQRT ------------------------------------------------------------------------------


def truncated(x: UOp) -> UOp:
    """x without its fraction, but with its sign even if the result is 0: -0.5 gives -0.0."""
    step = math.ldexp(1.0, layout_of(x).mantissa_bits)  # floats this large have no fraction
    size = absolute(x)
    nearest = (size + step) + -step
    below = (nearest > size).where(nearest + -1.0, nearest)
    return (size < step).where(with_sign_of(x, below), x)


def square_root(x: UOp) -> UOp:
    """Heron's method, from a first guess with half the exponent; the last bit may be wrong."""
    layout = layout_of(x)
    is_small = x < layout.smallest_normal
    even = layout.mantissa_bits + 1 & ~1
    enlarged = is_small.where(x * math.ldexp(1.0, even), x)
    guess = ((bits_of(enlarged) >> 1) + (layout.one >> 1)).bitcast(x.dtype.scalar())
    for _ in range(3 if layout.mantissa_bits == 23 else 4):
        guess = (guess + enlarged / guess) * 0.5
    root = is_small.where(guess * math.ldexp(1.0, -even // 2), guess)
    return special_values(x, root, at_zero=x)


# ---- EXP2 ----------------------------------------------------------------------------------------

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
    inverse = 1 / Fraction(factor.arg)
    if truncate[dtype](abs(factor.arg)) == truncate[dtype](1 / math.log(2)):
        inverse = LN_2 if factor.arg > 0 else -LN_2  # the closest number to log2(e) stands for it
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


def exponent_range(x: UOp) -> tuple[float, float]:
    """Outside of these limits 2**x is 0 or inf."""
    layout = layout_of(x)
    return -layout.bias - layout.mantissa_bits - 4.0, layout.bias + 3.0


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


# ---- LOG2 of float32 -----------------------------------------------------------------------------

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


def log2_of_float32(x: UOp) -> UOp:
    """log2 of a positive, finite float32."""
    e, m = split_exponent(x)
    t = m + -1.0
    first = (bits_of(t) & 0xFFFFF000).bitcast(dtypes.float32)
    rest = (t - first) * LOG2_E + t * polynomial(t, LOG2_COEFFICIENTS)
    return e + (first * LOG2_E + rest)


# ---- pairs ---------------------------------------------------------------------------------------
#
# Numbers with about 79 bits of precision, as the sum of two float64. `high` keeps the leading 26
# bits and `low` the rest. So a product of two highs has at most 52 bits and is *exact*, and every
# difference that must be exact is one of such numbers: the result is the same whether or not a C
# compiler fuses multiplications and additions. (The usual ways to get the rounding error of a
# product, Dekker's or fma's, need to know which of the two happens.)


def leading(x: UOp) -> UOp:
    """x truncated to 26 bits."""
    return (bits_of(x) & ((1 << 64) - (1 << 27))).bitcast(dtypes.float64)


@dataclass(frozen=True)
class Pair:
    """high + low, both float64; |low| is at most about 2**-26 * |high|."""

    high: UOp
    low: UOp

    @staticmethod
    def of(x: UOp) -> Pair:
        high = leading(x)
        return Pair(high, x - high)

    @staticmethod
    def sum_of(large: UOp, small: UOp) -> Pair:
        """large + small, for large with at most 52 bits, or exact as a product."""
        high = leading(large + small)
        return Pair(high, (large - high) + small)

    @staticmethod
    def const(like: UOp, high: float, low: float = 0.0) -> Pair:
        return Pair(like.const_like(high), like.const_like(low))

    def __add__(self, other: Pair) -> Pair:
        """For |self| >= |other|, or self = 0."""
        high = leading(self.high + other.high)
        return Pair(high, ((self.high - high) + other.high) + (self.low + other.low))

    def __mul__(self, other: Pair) -> Pair:
        crossed = self.high * other.low + self.low * other.high + self.low * other.low
        return Pair.sum_of(self.high * other.high, crossed)

    def __truediv__(self, other: Pair) -> Pair:
        divisor = other.value
        quotient = leading(self.value / divisor)
        rest = ((self.high - quotient * other.high) + self.low) - quotient * other.low
        return Pair(quotient, rest / divisor)

    @property
    def value(self) -> UOp:
        """Rounded to one float64."""
        return self.high + self.low


# ---- SIN and COS, for arguments of any size ------------------------------------------------------
#
# sin(x) needs x modulo pi, and for a large x that depends on bits far down in pi: for x = 2**100
# the result comes from bits 100 and later of 1/pi. Payne and Hanek's observation ("Radian reduction
# for trigonometric functions", 1983): the bits of x * (1/pi) that are multiples of 2 turns don't
# matter, so only a window of the bits of 1/pi is needed, and the exponent of x says which. The
# cosine is the sine a quarter turn ahead; that is added after the reduction, where it is exact.

_PI_BITS = 1400


@functools.cache
def _inverse_of_pi() -> int:
    """1/pi in units of 2**-_PI_BITS, by Machin's formula pi = 16 atan(1/5) - 4 atan(1/239)."""
    unit = 1 << (_PI_BITS + 32)

    def arctangent_of_inverse(n: int) -> int:
        total = power = unit // n
        for k in range(3, 2 * _PI_BITS, 2):
            power //= -n * n
            total += power // k
        return total

    pi = 16 * arctangent_of_inverse(5) - 4 * arctangent_of_inverse(239)
    return (unit << _PI_BITS) // pi


# sin(pi*r) = r*polynomial(r**2) for |r| <= 0.508, relative error 2**-35.2
SIN_HALF_TURNS = (
    3.141592653508898, -5.1677127589452425, 2.5501631298120535, -0.5992499922765767,
    0.08203991446535203, -0.00701096083155719,
)  # fmt: skip

# A float32 from 2**low on is a multiple of 2**(low-23), so the bits of 1/pi worth 2**(24-low) and
# more give whole turns. The window is the next five times 24 bits: their products with x are
# exact, and up to 2**(low+27) the largest is below 2**51, so that it can be rounded. For arguments
# below 2**52 all bits of 1/pi count. The scale keeps the last pieces from being denormal float32s.
_SEGMENTS = (25, 52, 79, 106)
_SCALE = 2.0**64


@functools.cache
def _window(low: int) -> list[float]:
    """The five parts of 1/pi, times _SCALE, whose first bits are worth 2**(23-low), 24 bits less
    and so on."""
    first = low - 23
    parts = [
        (_inverse_of_pi() >> (_PI_BITS - n - 23), n + 23) for n in range(first, first + 120, 24)
    ]
    return [_SCALE * math.ldexp(units & ((1 << 24) - 1), -last) for units, last in parts]


def sine_float32(x: UOp, ahead: float) -> UOp:
    """sin(x + ahead*pi), via float64, using only + - *, which wide vectors have too. For the sine
    itself `ahead` is -0.0: adding 0.0 would lose the sign of sin(-0.0)."""
    size = absolute(x)
    window = [x.const_like(c) for c in _window(_SEGMENTS[0])]
    for low in _SEGMENTS[1:]:
        is_smaller = size < math.ldexp(1.0, low)
        window = [
            is_smaller.where(w, x.const_like(c)) for w, c in zip(window, _window(low), strict=True)
        ]
    x = x.cast(dtypes.float64) * (1 / _SCALE)
    *pieces, smallest = (w.cast(dtypes.float64) for w in window)
    first, second, third, fourth = (x * p for p in (*pieces[:3], pieces[3] + smallest))
    # x/pi = whole + r with |r| <= 1/2; of the integer `whole` only the parity matters
    whole_1, bits_1 = round_to(first)
    whole_2, bits_2 = round_to(second)
    first, second = first - whole_1, second - whole_2
    whole_3, bits_3 = round_to(first + second + third + ahead)
    # in this order: near 0 the sum is exact until the last step
    r = ((first - whole_3 + ahead) + second + third) + fourth
    sign = (bits_1 ^ bits_2 ^ bits_3) << 63
    r = (bits_of(r) ^ sign).bitcast(dtypes.float64)
    return (r * polynomial(r * r, SIN_HALF_TURNS)).cast(dtypes.float32)


# for |a| <= pi/4, z = a*a, each to 2**-59 of the result:
# sin(a) = a + a*z*polynomial(z), cos(a) = 1 - z/2 + z*z*polynomial(z)
SIN_COEFFICIENTS = (
    -0.16666666666666666, 0.008333333333333323, -0.0001984126984125465, 2.755731921398487e-06,
    -2.5052104860709523e-08, 1.605836043248777e-10, -7.578402940304317e-13,
)  # fmt: skip
COS_COEFFICIENTS = (
    0.041666666666666595, -0.0013888888888872895, 2.4801587288748156e-05, -2.755731414861744e-07,
    2.087569657207771e-09, -1.13583104763117e-11,
)  # fmt: skip


def _high_product(a: UOp, b: UOp) -> UOp:
    """The upper 64 of the 128 bits of a * b, uint64."""
    mask = 0xFFFFFFFF
    a1, a0, b1, b0 = a >> 32, a & mask, b >> 32, b & mask
    low, cross_1, cross_2 = a0 * b0, a0 * b1, a1 * b0
    carry = ((low >> 32) + (cross_1 & mask) + (cross_2 & mask)) >> 32
    return a1 * b1 + (cross_1 >> 32) + (cross_2 >> 32) + carry


def _four_words(x: UOp, index: UOp) -> list[UOp]:
    """Words index … index+3 of a word of zeros and then 2/pi, as a long binary fraction.

    `index` is at most 16. Without a lookup table, all words are shifted by each bit of `index`.
    """
    words = [_inverse_of_pi() * 2 >> (_PI_BITS - 64 * n) for n in range(1, 20)]
    chosen = [uint64_like(x, w & ((1 << 64) - 1)) for w in (0, *words)]
    for step in (16, 8, 4, 2, 1):
        is_set = (index & step).ne(0)
        # how many words the later steps can still reach; 16 is the largest index
        moved = 4 if step == 16 else step + 3
        chosen = [
            is_set.where(chosen[i + step], w) if i < moved else w
            for i, w in enumerate(chosen[: step + 3])
        ]
    return chosen


def _quarter_turns(x: UOp) -> tuple[UOp, Pair]:
    """(n, r): x = (n + r) * pi/2, n an integer modulo 4 (as uint64) and |r| <= 1/2; for x >= 1/2.

    x = m * 2**(e-52) with an integer m. 192 bits of 2/pi, from the one worth 2**(53-e) on, times m,
    modulo 2**192, are 2 bits of whole quarter turns and 190 fraction bits. The lowest 64 are
    dropped: 126 fraction bits are enough for the worst case, where r begins with 62 zeros.
    """
    bits = bits_of(x)
    m = (bits & ((1 << 52) - 1)) | (1 << 52)
    position = (bits >> 52) + ((1 << 64) - (1023 - 10))
    words, shift = _four_words(x, position >> 6), position & 63
    # in two steps, because shifting by 64 is undefined
    w0, w1, w2 = ((words[i] << shift) | ((words[i + 1] >> 1) >> (shift ^ 63)) for i in range(3))
    carried = _high_product(m, w2)
    low = m * w1 + carried
    high = m * w0 + _high_product(m, w1) + (low < carried).cast(dtypes.uint64)
    n = (high + (1 << 61)) >> 62
    high = high.alu(Ops.SUB, n << 62)
    # as float64: 32 bits at a time are exact
    parts = [
        (high.bitcast(dtypes.int64) >> 32).cast(dtypes.int32),
        high.cast(dtypes.uint32),
        (low >> 32).cast(dtypes.uint32),
        low.cast(dtypes.uint32),
    ]
    a, b, c, d = (p.cast(dtypes.float64) * 2.0 ** (-30 - 32 * i) for i, p in enumerate(parts))
    total = a + b
    return n, Pair.sum_of(total, ((a - total) + b) + (c + d))


def sine_float64(x: UOp, ahead: int) -> UOp:
    """sin(x + ahead*pi/2), for ahead 0 or 1. The sine of |x| is found first: of its number n of
    quarter turns, bit 0 decides between sine and cosine, and bit 1 is the sign."""
    n, r = _quarter_turns(absolute(x))
    angle = r * Pair.const(x, 1.5707963109016418, 1.5893254773528196e-08)
    is_small = absolute(x) < 0.75
    n = is_small.where(uint64_like(x, 0), n) + ahead
    a = is_small.where(absolute(x), angle.value)
    b = is_small.where(x.const_like(0.0), (angle.high - a) + angle.low)  # the rounding error of a
    z = a * a
    sine = a + (a * z * polynomial(z, SIN_COEFFICIENTS) + b * (z * -0.5 + 1.0))
    near_one = z * -0.5 + 1.0
    lost = (-near_one + 1.0) + z * -0.5
    cosine = near_one + (lost + (z * z * polynomial(z, COS_COEFFICIENTS) - a * b))
    result = (n & 1).ne(0).where(cosine, sine)
    sign = (n & 2) << 62
    if ahead == 0:
        sign = sign ^ sign_of(x)
    result = (bits_of(result) ^ sign).bitcast(dtypes.float64)
    return (absolute(x) < math.inf).where(result, x.const_like(math.nan))


# ---- POW, and LOG2 of float64 --------------------------------------------------------------------
#
# x**y = 2 ** (y * log2(x)). An error of the product is an error of the result's exponent, so
# relative to the result it is up to 128 times as large in float32 and 1024 times in float64. The
# logarithm must have 7 or 10 bits more than the result: for float32 it is computed in float64, for
# float64 as a Pair. The polynomials are for log2(m) = K*s*(1 + s**2/3 + s**4/5 + …),
# s = (m-1)/(m+1), K = 2/ln(2).

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


def log2(x: UOp) -> UOp:
    log = log2_of_float32(x) if x.dtype.scalar() is dtypes.float32 else log2_pair(x).value
    return special_values(x, log, at_zero=x.const_like(-math.inf))


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
    size = absolute(x)
    infinite, zero = x.const_like(math.inf), x.const_like(0.0)
    power = size.eq(0).where((y < 0).where(infinite, zero), power)
    power = size.eq(math.inf).where((y < 0).where(zero, infinite), power)
    power = (x.ne(x) | y.ne(y)).where(x.const_like(math.nan), power)
    # whole numbers and odd ones; from 2**24 or 2**53 on, all are even
    limit = math.ldexp(1.0, layout_of(y).mantissa_bits + 1)
    inside = clamp(y, -limit, limit)
    number = inside.cast(layout_of(y).signed)
    whole = number.cast(y.dtype.scalar()).eq(inside)
    is_odd = whole & (number & 1).ne(0)
    # a negative base to a fraction is NaN, except for -0.0 and -inf
    is_undefined = (x < 0) & (x > -math.inf) & whole.ne(True)
    power = is_undefined.where(x.const_like(math.nan), power)
    # 1 ** NaN and NaN ** 0 too
    power = (x.eq(1) | y.eq(0)).where(x.const_like(1.0), power)
    # odd powers keep the sign, even that of -0.0
    sign = is_odd.where(sign_of(x), sign_of(x).const_like(0))
    return (bits_of(power) ^ sign).bitcast(x.dtype.scalar())


def power_by_constant(x: UOp, exponent: UOp) -> UOp | None:
    """Common constant exponents, without a logarithm.

    Not 0.5: sqrt differs from pow at -0.0 and -inf.
    """
    short = {
        0.0: lambda: x.const_like(1.0),
        1.0: lambda: x,
        2.0: lambda: x * x,
        3.0: lambda: x * x * x,
        -1.0: lambda: x.reciprocal(),
        -2.0: lambda: (x * x).reciprocal(),
    }
    return short[exponent.arg]() if exponent.arg in short else None
