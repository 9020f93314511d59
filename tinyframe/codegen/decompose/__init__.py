"""Decompositions: replace ops that a device lacks with ops that it has.

A backend says which elementwise ops it can express (`Renderer.code_for_op`); `decompositions`
collects the rules for the others. The smallest backend needs these: ADD MUL FDIV CDIV CMPLT CMPNE
AND OR XOR SHL SHR WHERE CAST BITCAST. All others become those, by the rows of `for_missing_op`:

    elementary.py   EXP2, LOG2, SIN, COS, POW, SQRT, TRUNC
    integers.py     floor division, integer powers, shifts by any count, casts, FMOD, random bits
    narrow.py       float16 and bfloat16, computed in float32
    idioms.py       the other direction: a - b, min, a <= b, if the device has them

LOG2, SIN, COS, POW and FMOD of float64 aren't made of others: they're the language's own functions
(`Renderer.code_for_double`), or it has none.

They are all elementwise arithmetic without branches, so they work on scalars and on vectors, before
or after lanes are expanded.
"""

from __future__ import annotations

import functools

from tinyframe.codegen.decompose import elementary, idioms, integers, narrow
from tinyframe.dtype import dtypes
from tinyframe.rewrite.matcher import PatternMatcher, UPat
from tinyframe.uop.node import GroupOp, Ops, UOp

FLOATS, WIDE = set(dtypes.floats), {dtypes.float32, dtypes.float64}
x, y, z = UPat.var("x"), UPat.var("y"), UPat.var("z")
wide, single = (UPat.var("x", t) for t in (WIDE, dtypes.float32))
i, j, exponent = UPat.var("x", dtypes.ints), UPat.var("y", dtypes.ints), UPat.var("exponent")


def unequal(x: UOp, y: UOp) -> UOp:
    equal = x.eq(y)
    return equal.where(equal.const_like(False), equal.const_like(True))


def larger(x: UOp, y: UOp) -> UOp:
    """The larger of two; NaN if either is."""
    if dtypes.is_float(x.dtype):
        return ((x < y) | y.ne(y)).where(y, x)
    return (x < y).where(y, x)


def reduce_of_bools(u: UOp) -> UOp | None:
    """Any or all of some bools."""
    by = {Ops.ADD: Ops.OR, Ops.MAX: Ops.OR, Ops.MUL: Ops.AND}.get(u.arg)
    return None if by is None else u.replace(arg=by)


# op -> the rules that replace it with others
for_missing_op: dict[Ops, PatternMatcher] = {
    Ops.EXP2: PatternMatcher([
        ((wide * UPat.cvar("factor")).exp2(), elementary.exp2_of_multiple),
        (wide.exp2(), lambda x: elementary.exp2(x))]),
    Ops.LOG2: PatternMatcher([(single.log2(), elementary.log2_float32)]),
    Ops.SIN: PatternMatcher([(single.sin(), lambda x: elementary.sine_float32(x, -0.0))]),
    Ops.COS: PatternMatcher([(single.alu(Ops.COS), lambda x: elementary.sine_float32(x, 0.5))]),
    Ops.POW: PatternMatcher([
        (UPat.var("x", dtypes.floats) ** UPat.cvar("exponent", dtypes.floats),
         elementary.power_by_constant),
        (single ** y, elementary.power_float32)]),
    Ops.FMOD: PatternMatcher([(single.alu(Ops.FMOD, y), integers.fmod_float32)]),
    Ops.THREEFRY: PatternMatcher([
        (UPat(Ops.THREEFRY, src=(UPat.var("counter"), UPat.var("key"))), integers.threefry)]),
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
    Ops.TRUNC: PatternMatcher([(UPat(Ops.TRUNC, src=(wide,)), elementary.truncated)]),
    Ops.SQRT: PatternMatcher([(wide.sqrt(), elementary.square_root)]),
}  # fmt: skip

# op -> the rules that use it, for floats; the index rules write integers in their own form
for_native_op: dict[Ops, PatternMatcher] = {
    Ops.NEG: PatternMatcher([(UPat.var("x", FLOATS) * -1, lambda x: x.alu(Ops.NEG))]),
    Ops.SUB: PatternMatcher([
        (UPat.var("x", FLOATS) + UPat(Ops.NEG, src=(y,)), lambda x, y: x.alu(Ops.SUB, y))]),
}  # fmt: skip

# 64 bits made of two words of 32
low, high = UPat.var("low", dtypes.uint32), UPat.var("high", dtypes.uint32)
packed = UPat(Ops.OR, dtypes.uint64, src=[
    low.cast(dtypes.uint64),
    UPat(Ops.SHL, src=(high.cast(dtypes.uint64), UPat.const(None, 32)))])  # fmt: skip

# Casting a value out of the type's range is undefined in C (compilers and vector units differ), and
# so is shifting by more than the bits that there are.
always = PatternMatcher([
    (UPat((Ops.ADD, Ops.MAX), dtypes.bool, (x, y)), lambda x, y: x | y),
    (UPat(Ops.MUL, dtypes.bool, (x, y)), lambda x, y: x & y),
    (UPat(Ops.NEG, dtypes.bool, (x,)), lambda x: x.ne(True)),
    (UPat((Ops.REDUCE, Ops.SCAN), dtypes.bool, name="u"), reduce_of_bools),
    # languages fuse floats only
    (UPat(Ops.MULACC, {dtypes.bool, *dtypes.ints}, (x, y, z)), lambda x, y, z: x * y + z),
    (UPat(Ops.CAST, {dtypes.int8, dtypes.int16, dtypes.uint8, dtypes.uint16}, (wide,), name="u"),
     lambda x, u: x.cast(dtypes.int32).cast(u.dtype)),
    (UPat(Ops.CAST, {dtypes.uint32, dtypes.uint64}, (wide,), name="u"), integers.to_unsigned),
    (UPat((Ops.SHL, Ops.SHR), dtypes.ints, (i, j), name="u"), integers.shift),
    # a word of what was made of words: no 64-bit lanes, which are half as many
    (UPat(Ops.CAST, dtypes.uint32, (packed,)), lambda low, high: low),
    (UPat(Ops.CAST, dtypes.uint32, (UPat(Ops.SHR, src=(packed, UPat.const(None, 32))),)),
     lambda low, high: high),
])  # fmt: skip
saturating_casts = PatternMatcher([
    (UPat(Ops.CAST, {dtypes.int32, dtypes.int64}, (wide,), name="u"), integers.to_signed),
])  # fmt: skip

# exact for negative numbers too: an arithmetic shift rounds down, and so does two's complement
by_power_of_two = PatternMatcher([
    (i // UPat.cvar("y"), lambda x, y: None if (n := integers.log2_of(y)) is None else x >> n),
    (i % UPat.cvar("y"), lambda x, y: None if integers.log2_of(y) is None else x & (y.arg - 1)),
])  # fmt: skip

# for a language that has neither floor division nor POW of integers
of_integers = PatternMatcher([
    (i // j, integers.floor_divide),
    (i % j, integers.floor_modulo),
    (UPat(Ops.POW, dtypes.ints, (x, exponent)), integers.power),
    (UPat(Ops.POW, dtypes.bool, (x, exponent)), lambda x, exponent: x | exponent.ne(True)),
])  # fmt: skip


@functools.cache
def decompositions(
    code_for_op: frozenset[Ops], native_half: bool = True, native_casts: bool = False
) -> PatternMatcher:
    """The rules for a device that can express the ops `code_for_op`, for graph_rewrite.

    native_half: the device has the type float16, and converts between it and float32.
    native_casts: it casts a float that doesn't fit into an int as spec.py specifies.
    """
    tables = [narrow.in_float32, narrow.as_bits(dtypes.bfloat16)]
    if not native_half:
        tables.append(narrow.as_bits(dtypes.float16))
    tables.append(always)
    if not native_casts:
        tables.append(saturating_casts)
    tables += [table for op, table in for_missing_op.items() if op not in code_for_op]
    tables += [table for op, table in for_native_op.items() if op in code_for_op]
    if {Ops.SHR, Ops.AND} <= code_for_op:
        tables.append(by_power_of_two)
    if not {Ops.IDIV, Ops.MOD} <= code_for_op:
        tables.append(of_integers)
    return sum(tables, PatternMatcher([]))


@functools.cache
def idioms_with(code_for_op: frozenset[Ops]) -> PatternMatcher:
    """The rules that use the ops of a device that the algebra doesn't write, such as SUB and
    MIN."""
    tables = [table for op, table in idioms.with_op.items() if op in code_for_op]
    return sum(tables, idioms.in_every_language)


@functools.cache
def accumulation_with(code_for_op: frozenset[Ops]) -> PatternMatcher:
    """The rules for what accumulates in a program, which was a REDUCE or a SCAN before: without the
    ops that a device lacks, with those that it has for that alone. For `rewrite_program`."""
    tables = [
        for_missing_op[op] for op in GroupOp.Scan & for_missing_op.keys() if op not in code_for_op
    ]
    tables += [table for op, table in idioms.in_program.items() if op in code_for_op]
    return sum(tables, PatternMatcher([]))
