"""Elementary functions as arithmetic, without calls or branches, so that a compiler can vectorize
them: LOG2, SIN, COS and POW of float32 (a language has its own of float64), EXP2, SQRT and TRUNC of
both.

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

from tinyframe.algebra.symbolic import known_power
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


def round_to(x: UOp, step: int = 1) -> tuple[UOp, UOp]:
    """x rounded to a multiple of `step` (a power of two), as a float, and as bits whose low ones
    are that / step: the last mantissa bit of `shifted` is worth `step`."""
    rounder = math.ldexp(1.5, layout_of(x).mantissa_bits) * step
    shifted = x + rounder
    return shifted + -rounder, bits_of(shifted)


def absolute(x: UOp) -> UOp:
    """|x|, by its bits: no comparison, and right for -0.0."""
    return (bits_of(x) & (layout_of(x).sign_bit - 1)).bitcast(x.dtype.scalar())


def choose(condition: UOp, yes: UOp, no: UOp) -> UOp:
    """A WHERE, unless the bounds decide the condition."""
    never, always = condition.bounds
    return condition.where(yes, no) if never != always else yes if always else no


def special_values(x: UOp, result: UOp, at_zero: UOp) -> UOp:
    """`result` where x is positive and finite; x for inf and NaN, and NaN for negative numbers."""
    result = choose(x < math.inf, result, x)
    result = choose(x < 0, x.const_like(math.nan), result)
    return choose(x.eq(0), at_zero, result)


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
    enlarged = choose(is_small, x * math.ldexp(1.0, even), x)
    guess = ((bits_of(enlarged) >> 1) + (layout.one >> 1)).bitcast(x.dtype.scalar())
    for _ in range(3 if layout.mantissa_bits == 23 else 4):
        guess = (guess + enlarged / guess) * 0.5
    root = choose(is_small, guess * math.ldexp(1.0, -even // 2), guess)
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


def exp2(x: UOp) -> UOp:
    x = clamp(x, *exponent_range(x))
    nearest, bits = round_to(x, 2)
    return _power(x - nearest, bits, EXP2_COEFFICIENTS[x.dtype.scalar()])


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

SQRT_HALF_BITS = 0x3F3504F3

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
    """(e, m) with x = m * 2**e and sqrt(1/2) <= m < sqrt(2), for a float32 x > 0.

    With m on both sides of 1 there is no cancellation of e + log2(m): e = 0 for all x close to 1.
    """
    layout, dtype = layout_of(x), x.dtype.scalar()
    up = layout.mantissa_bits + 1
    is_denormal = x < layout.smallest_normal
    bits = bits_of(choose(is_denormal, x * math.ldexp(1.0, up), x))
    # relative to sqrt(1/2), exponent and mantissa are right where they should be
    bits = bits + (layout.one - SQRT_HALF_BITS)
    m = (bits & ((1 << layout.mantissa_bits) - 1)) + SQRT_HALF_BITS
    # An integer below 2**mantissa_bits becomes a float without a conversion, as the last bits of
    # 2**mantissa_bits. That and the bias are subtracted below.
    offset = math.ldexp(1.0, layout.mantissa_bits)
    offset_bits = (layout.bias + layout.mantissa_bits) << layout.mantissa_bits
    exponent = ((bits >> layout.mantissa_bits) | offset_bits).bitcast(dtype)
    excess = offset + layout.bias
    correction = choose(is_denormal, x.const_like(-excess - up), x.const_like(-excess))
    return exponent + correction, m.bitcast(dtype)


def log2_float32(x: UOp) -> UOp:
    e, m = split_exponent(x)
    t = m + -1.0
    first = (bits_of(t) & 0xFFFFF000).bitcast(dtypes.float32)
    rest = (t - first) * LOG2_E + t * polynomial(t, LOG2_COEFFICIENTS)
    return special_values(x, e + (first * LOG2_E + rest), at_zero=x.const_like(-math.inf))


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
    size, largest = absolute(x), max(-x.vmin, x.vmax)
    window = [x.const_like(c) for c in _window(_SEGMENTS[0])]
    for low in _SEGMENTS[1:]:
        if largest >= math.ldexp(1.0, low):
            is_smaller = size < math.ldexp(1.0, low)
            others = [x.const_like(c) for c in _window(low)]
            window = [is_smaller.where(*pair) for pair in zip(window, others, strict=True)]
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


# ---- POW of float32 ------------------------------------------------------------------------------
#
# x**y = 2 ** (y * log2(x)). An error of the product is an error of the result's exponent, so
# relative to the result it is up to 128 times as large: the logarithm needs 7 more bits than the
# result, and is computed in float64. The polynomial is for
# log2(m) = K*s*(1 + s**2/3 + s**4/5 + …), s = (m-1)/(m+1), K = 2/ln(2).

K = 2.8853900817779268
# z/3 + z**2/5 + … = z*polynomial(z), z = s**2 <= 0.0295; relative to 1 + that an error of 2**-37.6
SHORT_LOG2_COEFFICIENTS = (
    0.3333333282431779, 0.20000167269245958, 0.14268673348736224, 0.1179073863424707,
)  # fmt: skip


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


def _with_special_cases(x: UOp, y: UOp, power: UOp) -> UOp:
    """x ** y as C's pow defines it, from `power`: |x| ** y for |x| that is neither 0 nor inf."""
    size = absolute(x)
    infinite, zero = x.const_like(math.inf), x.const_like(0.0)
    power = size.eq(0).where((y < 0).where(infinite, zero), power)
    power = size.eq(math.inf).where((y < 0).where(zero, infinite), power)
    power = (x.ne(x) | y.ne(y)).where(x.const_like(math.nan), power)
    # whole numbers and odd ones; from 2**24 or 2**53 on, all are even
    limit = math.ldexp(1.0, layout_of(y).mantissa_bits + 1)
    inside = (y < limit).where(y, y.const_like(limit))  # NaN too: C has no integer for it
    inside = (inside < -limit).where(inside.const_like(-limit), inside)
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
    """Common constant exponents, without a logarithm: those that are exact, 3 and -2.

    Not 0.5: sqrt differs from pow at -0.0 and -inf.
    """
    if exponent.arg == 3:
        return x * x * x
    return (x * x).reciprocal() if exponent.arg == -2 else known_power(x, exponent)
