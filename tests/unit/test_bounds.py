"""Bounds: never wrong, and as tight as index simplification needs them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.numpy_graph import compute
from tests.unit.expressions import (
    assignments,
    cannot_wrap,
    expressions,
    leaves,
    speaks_z3,
    to_z3,
    z3_refutes,
)
from tinyframe.dtype import dtypes
from tinyframe.uop.evaluate import evaluate, python_alu
from tinyframe.uop.node import Ops, UOp


def var(low: int, high: int, dtype=dtypes.int, name: str = "a") -> UOp:
    return UOp.variable(name, low, high, dtype)


NARROW = st.sampled_from([dtypes.int8, dtypes.uint8, dtypes.uint32])


@given(
    expressions(depth=4, wild=True)
    | NARROW.flatmap(lambda dtype: expressions(depth=4, wild=True, dtype=dtype, width=60))
)
@settings(max_examples=200)
def test_no_value_lies_outside_its_bounds_also_where_integers_wrap_around(e):
    parts = e.toposort()
    for values in assignments(leaves(e), most=300):
        for u in parts:
            low, high = u.bounds
            value = evaluate(u, values)
            assert low <= value <= high, (
                f"{u.render(simplify=False)} is {value}, outside {low}..{high}"
            )


@given(expressions(depth=3))
@settings(max_examples=60)
def test_bounds_are_proved(e):
    if not (cannot_wrap(e) and all(map(speaks_z3, e.toposort())) and dtypes.is_int(e.dtype)):
        return
    (value,), known = to_z3([e])
    low, high = e.bounds
    assert z3_refutes(value >= low, known) is not True
    assert z3_refutes(value <= high, known) is not True


SMALL = [(low, high) for low in range(-5, 6) for high in range(low, 6)]
EXACT = [Ops.ADD, Ops.SUB, Ops.MUL, Ops.IDIV, Ops.CDIV, Ops.MAX, Ops.MIN,
         Ops.CMPLT, Ops.CMPLE, Ops.CMPEQ, Ops.CMPNE]  # fmt: skip
WITHIN = [Ops.MOD, Ops.CMOD, Ops.AND, Ops.OR, Ops.XOR]


@pytest.mark.parametrize("op", EXACT + WITHIN)
def test_bounds_hold_for_every_pair_of_small_ranges_and_are_the_least_for_most_ops(op):
    values = range(-5, 6)
    result = {(x, y): python_alu[op](x, y) for x in values for y in values}
    for low, high in SMALL:
        for other, largest in SMALL:
            e = var(low, high).alu(op, var(other, largest, name="b"))
            found = [result[x, y] for x in range(low, high + 1) for y in range(other, largest + 1)]
            assert e.vmin <= min(found) and max(found) <= e.vmax, (op, low, high, other, largest)
            if op in EXACT:
                assert e.bounds == (min(found), max(found)), (op, low, high, other, largest)


a, b = var(-3, 5), var(2, 4, name="b")
nonneg = var(0, 20, name="n")


@pytest.mark.parametrize(("expression", "expected"), [
    (UOp.const(dtypes.int, 7), (7, 7)),
    (var(1, 10).bind(3), (1, 10)),
    (UOp.range(8, 0), (0, 7)),
    (UOp.range(var(1, 10), 0), (0, 9)),
    (UOp.range(0, 0), (0, 0)),
    (UOp.special("gidx0", 16), (0, 15)),
    (a.alu(Ops.NEG), (-5, 3)),
    (a % 4, (0, 3)),
    (nonneg % 32, (0, 20)),
    (var(33, 35) % 32, (1, 3)),
    (nonneg % b, (0, 3)),
    (a % -4, (-3, 0)),
    (a.alu(Ops.CMOD, b), (-3, 3)),
    (nonneg.alu(Ops.CMOD, a.const_like(30)), (0, 20)),
    ((a < 2).where(nonneg, b), (0, 20)),
    ((a < 9).where(nonneg, b), (0, 20)),
    ((a < 9).where(b, nonneg), (2, 4)),
    ((a < b).where(a, b), (-3, 4)),
    ((a < b).where(b, a), (2, 5)),
    ((b < nonneg).where(a, b), (-3, 5)),
    (nonneg & 7, (0, 7)),
    (a & 7, (0, 7)),
    (nonneg | 32, (32, 63)),
    (nonneg ^ 3, (0, 31)),
    ((a < 9) & (b < 9), (True, True)),
    ((a < 0) & (b < 0), (False, False)),
    ((a < 0) | (b < 9), (True, True)),
    ((a < 0) ^ (b < 9), (False, True)),
    (nonneg << 2, (0, 80)),
    (a >> 1, (-2, 2)),
    (a.cast(dtypes.int8), (-3, 5)),
    (a.cast(dtypes.uint8), (0, 255)),
    ((a < 2).cast(dtypes.int), (0, 1)),
    (nonneg.cast(dtypes.bool), (False, True)),
    (b.cast(dtypes.bool), (True, True)),
    (a.mulacc(b, nonneg), (-12, 40)),
    (UOp(Ops.VECTORIZE, dtypes.int.vec(2), (a, b)), (-3, 5)),
    (UOp(Ops.GEP, dtypes.int, (UOp(Ops.VECTORIZE, dtypes.int.vec(2), (a, b)),), 1), (-3, 5)),
    # what may wrap around may be anything
    (var(100, 100, dtypes.int8) + var(100, 101, dtypes.int8, "b"), (-128, 127)),
    (var(0, 3, dtypes.uint8) - UOp.const(dtypes.uint8, 1), (0, 255)),
    (var(-128, 0, dtypes.int8).alu(Ops.NEG), (-128, 127)),
    (var(0, 2**31 - 1) * 2, (-(2**31), 2**31 - 1)),
    (var(-128, -1, dtypes.int8) // UOp.const(dtypes.int8, -1), (-128, 127)),
    # floats
    (UOp.const(dtypes.float, 1.5), (1.5, 1.5)),
    (UOp.const(dtypes.float, float("nan")), (-float("inf"), float("inf"))),
    (a.cast(dtypes.float), (-3.0, 5.0)),
    (a.cast(dtypes.double), (-float("inf"), float("inf"))),
    (a.cast(dtypes.float) * -0.5 + 1.0, (-1.5, 2.5)),
    (UOp.const(dtypes.float, 1).maximum(2.0), (-float("inf"), float("inf"))),
    (a.cast(dtypes.float) < math.inf, (True, True)),
    (a.bitcast(dtypes.float) < math.inf, (False, True)),
    (a.bitcast(dtypes.float).alu(Ops.CMPLE, UOp.const(dtypes.float, math.inf)), (False, True)),
    (UOp.const(dtypes.float, 1) < 2.0, (True, True)),
    (UOp.const(dtypes.float, 0.1), (np.float32(0.1), np.float32(0.1))),
    (UOp.const(dtypes.float, 3e38) * 2.0, (-float("inf"), float("inf"))),
    (UOp.const(dtypes.double, 1) + 2.0, (-float("inf"), float("inf"))),
])  # fmt: skip
def test_bounds_of(expression, expected):
    assert expression.bounds == expected
    assert (expression.vmin, expression.vmax) == expected


FACTORS = st.floats(width=32, allow_nan=False) | st.sampled_from([0.0, -0.0, 1.0, 2.0**-126])


@st.composite
def floats_of_ints(draw) -> tuple[UOp, UOp]:
    """Some arithmetic on an integer as a float32, and that integer."""
    low, high = sorted(draw(st.integers(-(2**31), 2**31 - 1)) for _ in range(2))
    number = var(low, high)
    x = number.cast(dtypes.float)
    for _ in range(draw(st.integers(0, 4))):
        other = draw(st.just(x) | FACTORS.map(x.const_like))
        op = draw(st.sampled_from([Ops.ADD, Ops.SUB, Ops.MUL]))
        x = x.alu(op, other) if draw(st.booleans()) else other.alu(op, x)
        x = x.alu(Ops.NEG) if draw(st.booleans()) else x
    return x, number


@given(floats_of_ints(), st.integers(0), st.booleans())
@settings(max_examples=400)
def test_no_float_lies_outside_its_bounds_also_where_a_product_is_not_rounded(made, seed, fused):
    x, number = made
    inside = np.random.default_rng(seed).integers(*number.bounds, 200, endpoint=True)
    values = np.concatenate([number.bounds, inside]).astype(np.int32)
    for u in x.toposort():
        if dtypes.is_float(u.dtype) and u.bounds != (-math.inf, math.inf):
            found = compute(u, {number: values}, fused)
            assert (found >= u.vmin).all() and (found <= u.vmax).all(), u.render(simplify=False)


def test_every_node_of_a_kernel_has_bounds():
    i = UOp.range(4, 0)
    memory = UOp(Ops.DEFINE_GLOBAL, dtypes.uint8.ptr(4), (), 0)
    kernel = memory.index(i, shape=(4,)).store(memory.index(i, shape=(4,)).load() + 1, i).sink()
    assert all(len(u.bounds) == 2 for u in kernel.toposort())
    assert memory.index(i, shape=(4,)).load().bounds == (0, 255)
    x = UOp.new_buffer("CPU", 6, dtypes.bool)
    assert x.reshape((2, 3)).permute((1, 0)).bounds == (False, True)
