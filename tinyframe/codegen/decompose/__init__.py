"""Decompositions: replace ops that a device lacks with ops that it has.

A backend says which elementwise ops it can express (`Renderer.code_for_op`); `decompositions`
collects the rules for the others. The smallest backend needs these: ADD MUL FDIV CDIV CMPLT CMPNE
AND OR XOR SHL SHR WHERE CAST BITCAST. All others become those:

    basic.py        one op in terms of another: RECIP(x) = 1 / x; casts that C leaves undefined
    integer.py      floor division, integer powers, shifts by any count
    elementary.py   EXP2, LOG2
    sine.py         SIN, COS
    power.py        POW; LOG2 of float64
    remainder.py    FMOD
    threefry.py     random numbers
    idioms.py       the other direction: a - b, min, a <= b, if the device has them
    narrow.py       float16 and bfloat16, computed in float32

They are all elementwise arithmetic without branches, so they work on scalars and on vectors, before
or after lanes are expanded.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from tinyframe.codegen.decompose import basic, idioms, narrow
from tinyframe.codegen.decompose.elementary import exp2, exp2_of_multiple, log2_float32
from tinyframe.codegen.decompose.integer import (
    by_power_of_two,
    floor_division,
    integer_power,
    shifts,
)
from tinyframe.codegen.decompose.power import float_power, log2_float64
from tinyframe.codegen.decompose.remainder import fmod_float32, fmod_float64
from tinyframe.codegen.decompose.sine import cos_float32, cos_float64, sin_float32, sin_float64
from tinyframe.codegen.decompose.threefry import random_numbers
from tinyframe.dtype import dtypes
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop.node import GroupOp, Ops

_F32, _F64 = UPat.var("x", dtypes.float32), UPat.var("x", dtypes.float64)

# op -> the rules that replace it
without: dict[Ops, PatternMatcher] = {
    Ops.EXP2: PatternMatcher([
        ((_F32 * UPat.cvar("factor")).exp2(), exp2_of_multiple),
        ((_F64 * UPat.cvar("factor")).exp2(), exp2_of_multiple),
        (_F32.exp2(), lambda x: exp2(x)),
        (_F64.exp2(), lambda x: exp2(x)),
    ]),
    Ops.LOG2: PatternMatcher([(_F32.log2(), log2_float32), (_F64.log2(), log2_float64)]),
    Ops.SIN: PatternMatcher([(_F32.sin(), sin_float32), (_F64.sin(), sin_float64)]),
    Ops.COS: PatternMatcher([(_F32.alu(Ops.COS), cos_float32), (_F64.alu(Ops.COS), cos_float64)]),
    Ops.POW: float_power,
    Ops.FMOD: PatternMatcher([
        (_F32.alu(Ops.FMOD, UPat.var("y")), fmod_float32),
        (_F64.alu(Ops.FMOD, UPat.var("y")), fmod_float64)]),
    Ops.THREEFRY: random_numbers,
    **basic.without,
}  # fmt: skip


def decompositions(
    code_for_op: Iterable[Ops], native_half: bool = True, native_casts: bool = False
) -> PatternMatcher:
    """The rules for a device that can express the ops `code_for_op`, for graph_rewrite.

    native_half: the device has the type float16, and converts between it and float32.
    native_casts: it casts a float that doesn't fit into an int as spec.py specifies.
    """
    return _decompositions(frozenset(code_for_op), native_half, native_casts)


@functools.cache
def reduces_without(code_for_op: frozenset[Ops]) -> PatternMatcher:
    """The same for `rewrite_program`, for the ops of reduces."""
    tables = [without[op] for op in GroupOp.Reduce & without.keys() if op not in code_for_op]
    return sum(tables, PatternMatcher([]))


@functools.cache
def idioms_with(code_for_op: frozenset[Ops]) -> PatternMatcher:
    """The rules that use the ops of a device that the algebra doesn't write, such as SUB and
    MIN."""
    tables = [table for op, table in idioms.with_op.items() if op in code_for_op]
    return sum(tables, idioms.in_every_language)


@functools.cache
def program_idioms_with(code_for_op: frozenset[Ops]) -> PatternMatcher:
    """The same for `rewrite_program`."""
    tables = [table for op, table in idioms.in_program.items() if op in code_for_op]
    return sum(tables, PatternMatcher([]))


@functools.cache
def _decompositions(ops: frozenset[Ops], native_half: bool, native_casts: bool) -> PatternMatcher:
    tables = [narrow.in_float32, narrow.as_bits(dtypes.bfloat16)]
    if not native_half:
        tables.append(narrow.as_bits(dtypes.float16))
    tables += [basic.bools, basic.casts, shifts]
    if not native_casts:
        tables.append(basic.casts_that_fit)
    tables += [table for op, table in without.items() if op not in ops]
    tables += [table for op, table in basic.idioms.items() if op in ops]
    if {Ops.SHR, Ops.AND} <= ops:
        tables.append(by_power_of_two)
    if not {Ops.IDIV, Ops.MOD} <= ops:  # such a language's POW is for floats only
        tables += [floor_division, integer_power]
    return sum(tables, PatternMatcher([]))
