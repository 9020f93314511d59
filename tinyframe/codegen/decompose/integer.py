"""Floor division, integer powers and shifts by any count, in terms of C's integer operators.

IDIV and MOD round towards minus infinity, C's `/` and `%` (CDIV and CMOD) towards zero; they agree
if nothing is negative:

    i // 4   with i in 0..31           i >> 2
    i // 3   with i in 0..31           CDIV(i, 3)
    x // 3   with x of any sign        CDIV(x, 3) - (CMOD(x, 3) < 0)
    x // y   nothing known             the same by the signs of the remainder and of y, and with 1
                                       for y where C traps: y = 0, and INT_MIN // -1

Division by zero gives 0, and so does its remainder; INT_MIN // -1 wraps around to INT_MIN.
"""

from __future__ import annotations

from tinyframe.dtype import dtypes
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop.node import Ops, UOp


def _truncating(x: UOp, y: UOp) -> tuple[UOp, UOp]:
    """Quotient and remainder as C computes them."""
    return x.alu(Ops.CDIV, y), x.alu(Ops.CMOD, y)


def _is_power_of_two(y: UOp) -> bool:
    return y.op is Ops.CONST and y.arg > 0 and y.arg & (y.arg - 1) == 0


def _log2(y: UOp) -> int:
    return y.arg.bit_length() - 1


def _stops_the_process(x: UOp, y: UOp) -> UOp | None:
    """The condition under which C's division traps; None if the bounds rule that out."""
    traps = []
    if y.vmin <= 0 <= y.vmax:
        traps.append(y.eq(0))
    if y.vmin <= -1 <= y.vmax and x.vmin == dtypes.min(x.dtype):
        traps.append(y.eq(-1))
    return traps[0] | traps[1] if len(traps) == 2 else traps[0] if traps else None


def floor_divide(x: UOp, y: UOp) -> UOp:
    if y.op is Ops.CONST and y.arg in (0, 1, -1):
        return x * y  # 0, x and -x
    traps = _stops_the_process(x, y)
    divisor = y if traps is None else traps.where(y.const_like(1), y)
    quotient, rest = _truncating(x, divisor)
    if not (x.vmin >= 0 and y.vmin >= 0):
        quotient = quotient - _was_rounded_up(rest, y).cast(x.dtype)
    # where it traps, y is 0 or -1, and x * y is the result for both
    return quotient if traps is None else traps.where(x * y, quotient)


def floor_modulo(x: UOp, y: UOp) -> UOp:
    if y.op is Ops.CONST and y.arg in (0, 1, -1):
        return x.const_like(0)
    traps = _stops_the_process(x, y)
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


def power(base: UOp, exponent: UOp) -> UOp:
    """base ** exponent by repeated squaring; it wraps around, as multiplication does.

    With a negative exponent the result is 1 / base**-exponent rounded towards zero: 1 for a base of
    1, ±1 for -1, else 0.
    """
    if exponent.op is Ops.CONST and exponent.arg >= 0:
        return _power_by_constant(base, exponent.arg)
    result, square = base.const_like(1), base
    for bit in range(max(1, int(exponent.vmax).bit_length())):
        is_set = ((exponent >> bit) & 1).ne(0)
        result = is_set.where(result * square, result)
        square = square * square
    if exponent.vmin >= 0:
        return result
    # base ** (exponent & 1), which is right for 1 and -1, as they are their own inverses
    of_unit = (exponent & 1).ne(0).where(base, base.const_like(1))
    is_unit = base.eq(1) | base.eq(-1)
    return (exponent < 0).where(is_unit.where(of_unit, base.const_like(0)), result)


def _power_by_constant(base: UOp, exponent: int) -> UOp:
    result = None
    while exponent:
        if exponent & 1:
            result = base if result is None else result * base
        exponent >>= 1
        base = base * base
    return base.const_like(1) if result is None else result


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


x, y = UPat.var("x", dtypes.ints), UPat.var("y", dtypes.ints)
base, exponent = UPat.var("base"), UPat.var("exponent")

# exact for negative numbers too: an arithmetic shift rounds down, and so does two's complement
by_power_of_two = PatternMatcher([
    (x // UPat.cvar("y"), lambda x, y: x >> _log2(y) if _is_power_of_two(y) else None),
    (x % UPat.cvar("y"), lambda x, y: x & (y.arg - 1) if _is_power_of_two(y) else None),
])  # fmt: skip

floor_division = PatternMatcher([
    (x // y, floor_divide),
    (x % y, floor_modulo),
])  # fmt: skip

shifts = PatternMatcher([
    (UPat((Ops.SHL, Ops.SHR), dtypes.ints, (x, y), name="u"), shift),
])  # fmt: skip

integer_power = PatternMatcher([
    (UPat(Ops.POW, dtypes.ints, (base, exponent)), power),
    (UPat(Ops.POW, dtypes.bool, (base, exponent)), lambda base, exponent: base | exponent.ne(True)),
])  # fmt: skip
