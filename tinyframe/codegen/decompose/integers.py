"""Whole numbers: floor division, integer powers, shifts by any count, casts from floats to ints,
the exact remainder of floats (FMOD), and random bits (THREEFRY).
"""

from __future__ import annotations

import math

from tinyframe.codegen.decompose.elementary import LAYOUTS, absolute, bits_of, with_sign_of
from tinyframe.dtype import dtypes
from tinyframe.uop.evaluate import threefry_halves
from tinyframe.uop.node import Ops, UOp

FITS = "fits"  # marks a cast whose operand fits

# ---- IDIV and MOD --------------------------------------------------------------------------------
#
# IDIV and MOD round towards minus infinity, C's `/` and `%` (CDIV and CMOD) towards zero; they
# agree if nothing is negative:
#
#     i // 4   with i in 0..31           i >> 2
#     i // 3   with i in 0..31           CDIV(i, 3)
#     x // 3   with x of any sign        CDIV(x, 3) - (CMOD(x, 3) < 0)
#     x // y   nothing known             the same by the signs of the remainder and of y, and with 1
#                                        for y where C traps: y = 0, and INT_MIN // -1
#
# Division by zero gives 0, and so does its remainder; INT_MIN // -1 wraps around to INT_MIN.


def log2_of(y: UOp) -> int | None:
    """n if y is the constant 2**n, else None."""
    is_power = y.op is Ops.CONST and y.arg > 0 and y.arg & (y.arg - 1) == 0
    return y.arg.bit_length() - 1 if is_power else None


def _traps(x: UOp, y: UOp) -> UOp | None:
    """The condition under which C's division traps; None if the bounds rule that out."""
    traps = []
    if y.vmin <= 0 <= y.vmax:
        traps.append(y.eq(0))
    if y.vmin <= -1 <= y.vmax and x.vmin == x.dtype.min:
        traps.append(y.eq(-1))
    return traps[0] | traps[1] if len(traps) == 2 else traps[0] if traps else None


def floor_divide(x: UOp, y: UOp) -> UOp:
    if y.op is Ops.CONST and y.arg in (0, 1, -1):
        return x * y  # 0, x and -x
    traps = _traps(x, y)
    divisor = y if traps is None else traps.where(y.const_like(1), y)
    quotient = x.alu(Ops.CDIV, divisor)
    if not (x.vmin >= 0 and y.vmin >= 0):
        quotient = quotient - _was_rounded_up(x.alu(Ops.CMOD, divisor), y).cast(x.dtype)
    # where it traps, y is 0 or -1, and x * y is the result for both
    return quotient if traps is None else traps.where(x * y, quotient)


def floor_modulo(x: UOp, y: UOp) -> UOp:
    if y.op is Ops.CONST and y.arg in (0, 1, -1):
        return x.const_like(0)
    traps = _traps(x, y)
    # where it traps, the result is 0, and so is x % 1
    divisor = y if traps is None else traps.where(y.const_like(1), y)
    rest = x.alu(Ops.CMOD, divisor)
    if x.vmin >= 0 and y.vmin >= 0:
        return rest
    return rest + _was_rounded_up(rest, y).where(y, y.const_like(0))


def _was_rounded_up(rest: UOp, y: UOp) -> UOp:
    """Whether truncation rounded up: the remainder is not 0 and its sign differs from y's."""
    if y.vmin >= 0:
        return rest < 0
    if y.vmax <= 0:
        return rest > 0
    return ((rest ^ y) < 0) & rest.ne(0)


def power(x: UOp, exponent: UOp) -> UOp:
    """x ** exponent by repeated squaring; it wraps around, as multiplication does.

    With a negative exponent the result is 1 / x**-exponent rounded towards zero: 1 for an x of
    1, ±1 for -1, else 0.
    """
    if exponent.op is Ops.CONST and exponent.arg >= 0:
        constant, product = exponent.arg, None
        while constant:
            if constant & 1:
                product = x if product is None else product * x
            constant, x = constant >> 1, x * x
        return x.const_like(1) if product is None else product
    result, square = x.const_like(1), x
    for bit in range(max(1, int(exponent.vmax).bit_length())):
        is_set = ((exponent >> bit) & 1).ne(0)
        result = is_set.where(result * square, result)
        square = square * square
    if exponent.vmin >= 0:
        return result
    # x ** (exponent & 1), which is right for 1 and -1, as they are their own inverses
    of_unit = (exponent & 1).ne(0).where(x, x.const_like(1))
    is_unit = x.eq(1) | x.eq(-1)
    return (exponent < 0).where(is_unit.where(of_unit, x.const_like(0)), result)


def shift(u: UOp, x: UOp, y: UOp) -> UOp | None:
    """A shift whose count is in 0 to bits-1, the only ones that C defines; None if it is already.

    Vectors are left alone: a user's shifts are decomposed before lanes are expanded.
    """
    bits = u.dtype.scalar().bits
    if (y.vmin >= 0 and y.vmax < bits) or u.dtype.count > 1:
        return None
    beyond = (1 << bits) - bits if dtypes.is_unsigned(y.dtype) else -bits  # all but the low bits
    stays = (y & beyond).eq(0)
    if u.op is Ops.SHR and not dtypes.is_unsigned(u.dtype):
        return x >> (stays.where(y, y.const_like(bits - 1)) & (bits - 1))
    return stays.where(x.alu(u.op, y & (bits - 1)), x.const_like(0))


def to_unsigned(x: UOp, u: UOp) -> UOp:
    """A float as uint32 or uint64, via the signed integer of that width."""
    signed = u.dtype.mask()
    half = 1 << (signed.bits - 1)
    is_above = x > float(half)
    number = is_above.where(x + -float(half), x).cast(signed).cast(u.dtype)
    return is_above.where(number ^ half, number)


def to_signed(x: UOp, u: UOp) -> UOp | None:
    """A float as int32 or int64, clamped to values that fit."""
    if u.tag == FITS:
        return None
    low = float(u.dtype.min)
    return ((x > low) & (x < -low)).where(x, x.const_like(low)).cast(u.dtype).rtag(FITS)


# ---- FMOD of float32 -----------------------------------------------------------------------------
#
# It is exact and has no loop, however much larger x is than y. The remainder of x / y is a multiple
# of the smaller of their last places, so it is a float, and the exact result is representable.
# x - trunc(x / y) * y is not exact: the quotient has only as many bits as a float.
#
# Let x = m * 2**e * unit and y = n * unit, with integers m and n of 24 bits. Then
#
#     x mod y = (m * 2**e mod n) * unit
#
# and 2**e mod n comes from repeated squaring: e has 9 bits, the first 5 of which only shift a 1.
# The rest is a few products of two numbers below n, modulo n.

_DOUBLE = LAYOUTS[dtypes.float64]
_MANTISSA = (1 << 52) - 1
SQUARINGS = 4


def _power_of_two(exponent: UOp) -> UOp:
    """2**exponent as float64; the exponent is a uint64 that may have wrapped around below 0."""
    return ((exponent + _DOUBLE.bias) << 52).bitcast(dtypes.float64)


def _exponent(x: UOp) -> UOp:
    """The biased exponent of a positive float64, uint64."""
    return bits_of(x) >> 52


def fmod_float32(x: UOp, y: UOp) -> UOp:
    """In float64, where a product of two numbers of 24 bits is exact, and so is the integer part of
    its quotient: a fraction of n-ths is farther from 1 than float64 rounds."""
    a, b = (absolute(v).cast(dtypes.float64) for v in (x, y))
    # scaled by powers of two to be between 2**23 and 2**24
    exponent = (_DOUBLE.bias + 23) << 52
    n, m = (((bits_of(v) & _MANTISSA) | exponent).bitcast(dtypes.float64) for v in (b, a))

    def modulo(product: UOp) -> UOp:
        return product - (product / n).alu(Ops.TRUNC) * n

    e = (a < b).where(bits_of(a).const_like(0), _exponent(a).alu(Ops.SUB, _exponent(b)))
    power = _power_of_two(e >> SQUARINGS)  # e is below 277, so this is below 2**18
    for bit in reversed(range(SQUARINGS)):
        twice = ((e >> bit) & 1).ne(0).where(power.const_like(2.0), power.const_like(1.0))
        power = modulo(power * power * twice)
    rest = modulo(m * power) * _power_of_two(_exponent(b) - (_DOUBLE.bias + 23))
    # with the sign of x; x itself where it is smaller than y, NaN where there is no remainder
    a, b = absolute(x), absolute(y)
    exists = (a < math.inf) & b.ne(0) & b.eq(b)
    result = (a < b).where(x, with_sign_of(x, rest.cast(dtypes.float32)))
    return exists.where(result, x.const_like(math.nan))


# ---- THREEFRY ------------------------------------------------------------------------------------


def threefry(counter: UOp, key: UOp) -> UOp:
    key_halves, halves = (
        (x.cast(dtypes.uint32), (x >> 32).cast(dtypes.uint32)) for x in (key, counter)
    )
    low, high = threefry_halves(halves, key_halves)
    return (high.cast(dtypes.uint64) << 32) | low.cast(dtypes.uint64)
