"""Idioms mean the same as what the algebra writes: z3's opinion, all of int8, and the floats that
break rules."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings

from tests.kernels import kernels_of
from tests.unit.expressions import assert_equal_everywhere, constant, expressions, variable
from tinyframe import Tensor
from tinyframe.codegen import get_program
from tinyframe.codegen.decompose import idioms_with
from tinyframe.dtype import AddrSpace, dtypes
from tinyframe.renderer import Target
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite import graph_rewrite
from tinyframe.uop.evaluate import evaluate
from tinyframe.uop.node import GroupOp, Ops, UOp

EVERYTHING = frozenset(GroupOp.Elementwise)


def with_idioms(u: UOp, *ops: Ops) -> UOp:
    return graph_rewrite(u, idioms_with(frozenset(ops) if ops else EVERYTHING))


def ops_of(u: UOp) -> set[Ops]:
    return {x.op for x in u.toposort()}


@given(expressions(depth=4))
@settings(max_examples=200)
def test_simplified_index_expressions_mean_the_same_said_shorter(e):
    e = e.simplify()
    assert_equal_everywhere(e, with_idioms(e))


@given(expressions(depth=3, wild=True, dtype=dtypes.int8, width=200))
@settings(max_examples=100)
def test_narrow_expressions_that_wrap_mean_the_same(e):
    assert_equal_everywhere(e, with_idioms(e))
    assert_equal_everywhere(e.simplify(), with_idioms(e.simplify()))


def test_what_is_never_read_or_stored_is_left_out():
    panel = UOp(Ops.DEFINE_LOCAL, dtypes.float.ptr(4, AddrSpace.LOCAL), (), 0)
    k = UOp.range(4, 0)
    for condition in (False, True):
        valid, outside = UOp.const(dtypes.bool, condition), UOp.const(dtypes.int, 4)
        place = UOp(Ops.INDEX, panel.dtype, (panel, valid, outside))
        vector = UOp(Ops.LOAD, dtypes.float.vec(2), (place,))
        stage = UOp(Ops.STAGE, panel.dtype, (place.store(UOp.const(dtypes.float, 1)), k))
        zeros = UOp.const(dtypes.float.vec(2), 0)
        assert with_idioms(vector) is (vector if condition else zeros)
        assert with_idioms(stage, Ops.SUB) is (stage if condition else panel)


x, y = variable("x", -128, 127, dtypes.int8), variable("y", -128, 127, dtypes.int8)
SMALL = variable("s", -100, 127, dtypes.int8)


def minimum(a: UOp, b: UOp) -> UOp:
    return a.minimum(b).simplify()


ROWS = {
    "less a product": (x + y * -4, {Ops.SUB}),
    "a product less": (x * -4 + y, {Ops.SUB}),
    "less a number": (x + -5, {Ops.SUB}),
    "from a number": (x * -1 + 5, {Ops.SUB}),
    "negative": (x * -1, {Ops.NEG}),
    "twice negative": ((x * -1) * -3, {Ops.MUL}),
    "the smaller": (minimum(x, y), {Ops.MIN}),
    "the smaller, scaled": (minimum(x, y) * 3, {Ops.MIN}),
    "at most a number": (minimum(x, constant(5, dtypes.int8)), {Ops.MIN}),
    "the smaller by its bits": ((x ^ -1).maximum(y ^ -1) ^ -1, {Ops.MIN}),
    "a tail": ((SMALL * -1).maximum(-20) * -1 + y, {Ops.MIN}),
    "beside a tail": ((SMALL * -1).maximum(-20) + y, {Ops.MIN, Ops.SUB}),
    "a condition on a tail": ((SMALL * -1).maximum(-20) < -3, {Ops.MIN}),
    "the other way": (((SMALL * -1).maximum(-20) < -3).logical_not(), {Ops.MIN, Ops.CMPLE}),
    "at most": ((x < y) | x.eq(y), {Ops.CMPLE}),
    "at most, turned": (y.eq(x) | (x < y), {Ops.CMPLE}),
    "at least": ((x < y).logical_not(), {Ops.CMPLE}),
}


@pytest.mark.parametrize("name", ROWS)
def test_each_row_holds_for_int8(name):
    """For every x, and with each for every seventh y and those at the edges."""
    before, said = ROWS[name]
    after = with_idioms(before)
    assert said <= ops_of(after) and Ops.MAX not in ops_of(after)
    names = sorted({u for u in before.toposort() if u.op is Ops.DEFINE_VAR}, key=lambda u: u.arg)
    ranges = [range(u.vmin, u.vmax + 1) for u in names]
    ranges[1:] = [sorted({*r[:2], *r[::7], *r[-2:], -1, 0, 1}) for r in ranges[1:]]
    for values in itertools.product(*ranges):
        given = dict(zip(names, values, strict=True))
        assert evaluate(before, given) == evaluate(after, given), given


def test_what_could_be_at_its_limit_is_not_turned_around():
    assert with_idioms((x * -1).maximum(-20)).op is Ops.MAX
    assert Ops.MIN not in ops_of(with_idioms((x * -1).maximum(-20) * -1))


def test_unsigned_bits_turned_are_the_smaller_too():
    a, b = (variable(name, 0, 255, dtypes.uint8) for name in "ab")
    after = with_idioms((a ^ 255).maximum(b ^ 255) ^ 255)
    assert after is a.alu(Ops.MIN, b)


NUMBERS = (0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 5e-324)
f, g = (UOp.variable(name, 0, 1, dtypes.double) for name in "fg")
FLOATS = {
    "the smaller": f.alu(Ops.NEG).maximum(g.alu(Ops.NEG)).alu(Ops.NEG),
    "at most a number": f.alu(Ops.NEG).maximum(f.const_like(-1.0)).alu(Ops.NEG),
    "less a number": f + -1.5,
    "at most": (f < g) | f.eq(g),
    "not less": (f < g).logical_not(),
}


@pytest.mark.parametrize("name", FLOATS)
def test_floats_give_the_same_bits(name):
    before = FLOATS[name]
    after = with_idioms(before)
    assert (after is before) == (name == "not less"), "of a NaN, not less is not at least"
    for values in itertools.product(NUMBERS, repeat=2):
        given = dict(zip((f, g), values, strict=True))
        a, b = evaluate(before, given), evaluate(after, given)
        same = a == b and math.copysign(1, a) == math.copysign(1, b)
        assert same or (a != a and b != b), (values, a, b)


def test_a_device_is_only_told_what_it_has():
    e = minimum(x, y) + (x < y).logical_not().cast(dtypes.int8) + -5
    assert with_idioms(e, Ops.ADD) is e
    assert ops_of(with_idioms(e, Ops.SUB)).isdisjoint({Ops.MIN, Ops.CMPLE, Ops.NEG})


def test_a_step_of_an_unrolled_sum_stays_one():
    step = (x + y * -4).rtag("unrolled")
    assert with_idioms(step, Ops.SUB) is step


@pytest.mark.parametrize("dtype", [dtypes.float, dtypes.double])
def test_vectors_of_floats_lose_their_sign_by_a_bit(dtype):
    edges = [0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 1e-45, -1e-45]
    values = np.array([*edges, -3.0] * 16, dtype=np.float32 if dtype is dtypes.float else float)
    made = Tensor(values).realize().abs()
    wide = Target(vector_bytes=64, vector_registers=32, threads=1, l1=1 << 15, l2=1 << 20)
    source = get_program(kernels_of(made)[0], CStyleLanguage(wide)).src
    assert "where" not in source and " & " in source
    found = made.numpy()
    np.testing.assert_array_equal(found, np.abs(values))
    assert not np.signbit(found).any()
