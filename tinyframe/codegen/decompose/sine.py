"""SIN and COS for arguments of any size.

sin(x) needs x modulo pi, and for a large x that depends on bits far down in pi: for x = 2**100 the
result comes from bits 100 and later of 1/pi. Payne and Hanek's observation ("Radian reduction for
trigonometric functions", 1983): the bits of x * (1/pi) that are multiples of 2 turns don't matter,
so only a window of the bits of 1/pi is needed, and the exponent of x says which. The cosine is the
sine a quarter turn ahead; that is added after the reduction, where it is exact.
"""

from __future__ import annotations

import functools
import math

from tinyframe.codegen.decompose.elementary import absolute, polynomial, round_to
from tinyframe.codegen.decompose.pair import Pair
from tinyframe.dtype import dtypes
from tinyframe.uop.node import Ops, UOp

# *** 1/pi ***

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


def _bits_of_inverse(first: int, last: int) -> float:
    """The part of 1/pi whose bits are worth 2**-first down to 2**-last."""
    units = _inverse_of_pi() >> (_PI_BITS - last)
    return math.ldexp(units & ((1 << (last - first + 1)) - 1), -last)


# *** float32 ***

# sin(pi*r) = r*polynomial(r**2) for |r| <= 0.508, a minimax fit (see elementary.py), relative error
# 2**-35.2
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
    first = low - 23
    return [_SCALE * _bits_of_inverse(n, n + 23) for n in range(first, first + 120, 24)]


def sin_float32(x: UOp) -> UOp:
    return _sine_float32(x, -0.0)  # adding 0.0 would lose the sign of sin(-0.0)


def cos_float32(x: UOp) -> UOp:
    return _sine_float32(x, 0.5)


def _sine_float32(x: UOp, ahead: float) -> UOp:
    """sin(x + ahead*pi), via float64, using only + - *, which wide vectors have too."""
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
    r = (r.bitcast(dtypes.uint64) ^ sign).bitcast(dtypes.float64)
    return (r * polynomial(r * r, SIN_HALF_TURNS)).cast(dtypes.float32)


# *** float64 ***

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


def _u64(x: UOp, value: int) -> UOp:
    return UOp.const(dtypes.uint64.vec(x.dtype.count), value)


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
    chosen = [_u64(x, w & ((1 << 64) - 1)) for w in (0, *words)]
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
    bits = x.bitcast(dtypes.uint64)
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


def sin_float64(x: UOp) -> UOp:
    result, n = _sine_float64(x, 0)
    sign = ((n & 2) << 62) ^ (x.bitcast(dtypes.uint64) & (1 << 63))
    return _with_sign(x, result, sign)


def cos_float64(x: UOp) -> UOp:
    result, n = _sine_float64(x, 1)
    return _with_sign(x, result, (n & 2) << 62)


def _with_sign(x: UOp, result: UOp, sign: UOp) -> UOp:
    result = (result.bitcast(dtypes.uint64) ^ sign).bitcast(dtypes.float64)
    return (absolute(x) < math.inf).where(result, x.const_like(math.nan))


def _sine_float64(x: UOp, ahead: int) -> tuple[UOp, UOp]:
    """The sine of |x| + ahead*pi/2 without its sign, and its number n of quarter turns: the sign is
    minus if n & 2."""
    n, r = _quarter_turns(absolute(x))
    angle = r * Pair.const(x, 1.5707963109016418, 1.5893254773528196e-08)
    is_small = absolute(x) < 0.75
    n = is_small.where(_u64(x, 0), n) + ahead
    a = is_small.where(absolute(x), angle.value)
    b = is_small.where(x.const_like(0.0), (angle.high - a) + angle.low)  # the rounding error of a
    z = a * a
    sine = a + (a * z * polynomial(z, SIN_COEFFICIENTS) + b * (z * -0.5 + 1.0))
    near_one = z * -0.5 + 1.0
    lost = (-near_one + 1.0) + z * -0.5
    cosine = near_one + (lost + (z * z * polynomial(z, COS_COEFFICIENTS) - a * b))
    return (n & 1).ne(0).where(cosine, sine), n
