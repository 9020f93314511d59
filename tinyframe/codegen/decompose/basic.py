"""One op in terms of another, and conversions that C leaves undefined."""

from __future__ import annotations

import math

from tinyframe.codegen.decompose.elementary import absolute, layout_of
from tinyframe.dtype import dtypes
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop.node import Ops, UOp

x, y, z = UPat.var("x"), UPat.var("y"), UPat.var("z")
FLOATS, WIDE = set(dtypes.floats), {dtypes.float32, dtypes.float64}
FITS = "fits"


def unequal(x: UOp, y: UOp) -> UOp:
    equal = x.eq(y)
    return equal.where(equal.const_like(False), equal.const_like(True))


def larger(x: UOp, y: UOp) -> UOp:
    """The larger of two; NaN if either is."""
    if dtypes.is_float(x.dtype):
        return ((x < y) | y.ne(y)).where(y, x)
    return (x < y).where(y, x)


def truncate(x: UOp) -> UOp:
    """x without its fraction, but with its sign even if the result is 0: -0.5 gives -0.0."""
    layout = layout_of(x)
    step = math.ldexp(1.0, layout.mantissa_bits)  # floats this large have no fraction
    size = absolute(x)
    nearest = (size + step) + -step
    below = (nearest > size).where(nearest + -1.0, nearest)
    sign = x.bitcast(layout.unsigned) & layout.sign_bit
    signed = (below.bitcast(layout.unsigned) | sign).bitcast(x.dtype.scalar())
    return (size < step).where(signed, x)


def square_root(x: UOp) -> UOp:
    """Heron's method, from a first guess with half the exponent; the last bit may be wrong."""
    layout = layout_of(x)
    is_small = x < layout.smallest_normal
    even = layout.mantissa_bits + 1 & ~1
    scaled = is_small.where(x * math.ldexp(1.0, even), x)
    guess = ((scaled.bitcast(layout.unsigned) >> 1) + (layout.one >> 1)).bitcast(x.dtype.scalar())
    for _ in range(3 if layout.mantissa_bits == 23 else 4):
        guess = (guess + scaled / guess) * 0.5
    root = is_small.where(guess * math.ldexp(1.0, -even // 2), guess)
    root = (x < math.inf).where(root, x)
    root = (x < 0).where(x.const_like(math.nan), root)
    return x.eq(0).where(x, root)


def to_unsigned(x: UOp, u: UOp) -> UOp:
    """A float as uint32 or uint64, via the signed integer of that width."""
    signed = u.dtype.mask()
    half = 1 << (signed.bits - 1)
    is_above = x > float(half)
    number = is_above.where(x + -float(half), x).cast(signed).cast(u.dtype)
    return is_above.where(number ^ half, number)


def to_signed(x: UOp, u: UOp) -> UOp | None:
    """A float as int32 or int64, clamped to values that fit. The tag marks a cast that does."""
    if u.tag == FITS:
        return None
    low = float(u.dtype.min)
    return ((x > low) & (x < -low)).where(x, x.const_like(low)).cast(u.dtype).rtag(FITS)


def reduce_of_bools(u: UOp) -> UOp | None:
    """Any or all of some bools."""
    by = {Ops.ADD: Ops.OR, Ops.MAX: Ops.OR, Ops.MUL: Ops.AND}.get(u.arg)
    return None if by is None else u.replace(arg=by)


# op -> the rules that replace it with others
without: dict[Ops, PatternMatcher] = {
    Ops.NEG: PatternMatcher([(UPat(Ops.NEG, src=(x,)), lambda x: x * -1)]),
    Ops.SUB: PatternMatcher([(UPat(Ops.SUB, src=(x, y)), lambda x, y: x + y * -1)]),
    Ops.RECIP: PatternMatcher([(x.reciprocal(), lambda x: x.const_like(1.0) / x)]),
    Ops.FDIV: PatternMatcher([(x / y, lambda x, y: x * y.reciprocal())]),
    Ops.MAX: PatternMatcher([(x.maximum(y), larger)]),
    Ops.CMPEQ: PatternMatcher([(x.eq(y), lambda x, y: x.ne(y).ne(True))]),
    Ops.CMPNE: PatternMatcher([(x.ne(y), unequal)]),
    Ops.MULACC: PatternMatcher([(UPat(Ops.MULACC, src=(x, y, z)), lambda x, y, z: x * y + z)]),
    Ops.CMOD: PatternMatcher([
        (UPat(Ops.CMOD, src=(x, y)), lambda x, y: x - x.alu(Ops.CDIV, y) * y)]),
    Ops.TRUNC: PatternMatcher([(UPat(Ops.TRUNC, src=(UPat.var("x", WIDE),)), truncate)]),
    Ops.SQRT: PatternMatcher([(UPat.var("x", WIDE).sqrt(), square_root)]),
}  # fmt: skip

# op -> the rules that use it, for floats; the index rules write integers in their own form
idioms: dict[Ops, PatternMatcher] = {
    Ops.NEG: PatternMatcher([(UPat.var("x", FLOATS) * -1, lambda x: x.alu(Ops.NEG))]),
    Ops.SUB: PatternMatcher([
        (UPat.var("x", FLOATS) + UPat(Ops.NEG, src=(y,)), lambda x, y: x.alu(Ops.SUB, y))]),
}  # fmt: skip

bools = PatternMatcher(
    [
        (UPat((Ops.ADD, Ops.MAX), dtypes.bool, (x, y)), lambda x, y: x | y),
        (UPat(Ops.MUL, dtypes.bool, (x, y)), lambda x, y: x & y),
        (UPat(Ops.NEG, dtypes.bool, (x,)), lambda x: x.ne(True)),
        (UPat(Ops.REDUCE, dtypes.bool, name="u"), reduce_of_bools),
        # languages fuse floats only
        (UPat(Ops.MULACC, {dtypes.bool, *dtypes.ints}, (x, y, z)), lambda x, y, z: x * y + z),
    ]
)

# Casting a value out of the type's range is undefined in C; compilers and vector units differ.
casts = PatternMatcher([
    (UPat(Ops.CAST, {dtypes.int8, dtypes.int16, dtypes.uint8, dtypes.uint16},
          (UPat.var("x", WIDE),), name="u"),
     lambda x, u: x.cast(dtypes.int32).cast(u.dtype)),
    (UPat(Ops.CAST, {dtypes.uint32, dtypes.uint64},
          (UPat.var("x", WIDE),), name="u"), to_unsigned),
])  # fmt: skip
casts_that_fit = PatternMatcher([
    (UPat(Ops.CAST, {dtypes.int32, dtypes.int64}, (UPat.var("x", WIDE),), name="u"), to_signed),
])  # fmt: skip
