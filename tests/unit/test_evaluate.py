"""exec_alu against NumPy, on edge values; it is what every backend is compared with."""

from __future__ import annotations

import itertools
import math
import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.reference import ALU
from tinyframe.dtype import DType, dtypes, to_np_dtype, truncate
from tinyframe.uop.evaluate import evaluate, exec_alu, sym_infer
from tinyframe.uop.node import Ops, UOp

INF, NAN = math.inf, math.nan
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1 / 3, 2.0, -2.0, 3.0, -3.0, -10.0, 999.0, 1e-45, 1e9,
         1e30, -1e30, 3.4e38, INF, -INF, NAN, 126.5, -149.5]  # fmt: skip
int_dtypes = st.sampled_from(dtypes.ints)


def same(x: float, y: float) -> bool:
    return (math.isnan(x) and math.isnan(y)) or struct.pack("d", x) == struct.pack("d", y)


@st.composite
def int_operands(draw) -> tuple[DType, int, int]:
    dtype = draw(int_dtypes)
    values = st.one_of(
        st.sampled_from([0, 1, 2, 3, 7, int(dtype.min), int(dtype.max), int(dtype.min) // 2 - 1]),
        st.integers(int(dtype.min), int(dtype.max)),
    )
    values = values.map(lambda v: truncate[dtype](v))
    return dtype, draw(values), draw(values)


# ---- integers -----------------------------------------------------------------------------------

OF_INTS = [Ops.ADD, Ops.SUB, Ops.MUL, Ops.IDIV, Ops.MOD, Ops.MAX, Ops.AND, Ops.OR, Ops.XOR]


@given(int_operands(), st.sampled_from(OF_INTS))
def test_integer_ops_agree_with_numpy(operands, op):
    dtype, x, y = operands
    np_dtype = to_np_dtype(dtype)
    with np.errstate(all="ignore"):
        expected = ALU[op](np_dtype.type(x), np_dtype.type(y))
    value = exec_alu(op, dtype, (x, y))
    assert type(value) is int and value == int(expected)


@given(int_operands())
def test_division_floors_or_truncates_and_by_zero_is_zero(operands):
    dtype, x, y = operands
    floor, rest, quotient, remainder = (
        exec_alu(op, dtypes.long, (x, y)) for op in (Ops.IDIV, Ops.MOD, Ops.CDIV, Ops.CMOD)
    )
    if y == 0:
        assert floor == rest == quotient == remainder == 0
    elif (x, y) != (dtypes.long.min, -1):
        assert (floor, rest) == tuple(map(truncate[dtypes.long], divmod(x, y)))
        toward_zero = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        assert quotient == truncate[dtypes.long](toward_zero)
        assert remainder == truncate[dtypes.long](x - y * toward_zero)


@given(int_operands(), st.integers(-2, 70))
def test_shifts(operands, count):
    dtype, x, _ = operands
    left, right = exec_alu(Ops.SHL, dtype, (x, count)), exec_alu(Ops.SHR, dtype, (x, count))
    if 0 <= count < dtype.bits:
        assert left == truncate[dtype](x << count) and right == x >> count
    else:
        assert left == 0 and right == (-1 if x < 0 else 0)


def test_results_wrap_unless_told_not_to():
    assert exec_alu(Ops.ADD, dtypes.int8, (100, 100)) == -56
    assert exec_alu(Ops.ADD, dtypes.int8, (100, 100), truncate_output=False) == 200
    assert exec_alu(Ops.NEG, dtypes.uint8, (1,)) == 255
    assert exec_alu(Ops.MULACC, dtypes.uint8, (16, 16, 3)) == 3


@given(int_operands(), st.integers(-5, 100))
@example((dtypes.int, -1, 0), -5)
@example((dtypes.int, 0, 0), -1)
@example((dtypes.int, 0, 0), 0)
def test_integer_powers_wrap_and_those_below_1_are_cut_off(operands, exponent):
    dtype, x, _ = operands
    power = x**exponent if exponent >= 0 else 0 if abs(x) != 1 else x**-exponent
    assert exec_alu(Ops.POW, dtype, (x, exponent)) == truncate[dtype](power)


# ---- floats -------------------------------------------------------------------------------------

OF_FLOATS = [Ops.ADD, Ops.SUB, Ops.MUL, Ops.FDIV, Ops.FMOD, Ops.MAX,
             Ops.CMPLT, Ops.CMPLE, Ops.CMPNE, Ops.CMPEQ]  # fmt: skip
OF_ONE, NEAR = [Ops.NEG, Ops.SQRT, Ops.TRUNC, Ops.RECIP], [Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS]


PAIRS = list(itertools.product(EDGES, repeat=2))


@pytest.mark.parametrize("op", OF_FLOATS)
def test_binary_float_ops_agree_with_numpy(op):
    for pair in PAIRS:
        x, y = map(truncate[dtypes.float], pair)
        with np.errstate(all="ignore"):
            expected = ALU[op](np.float32(x), np.float32(y)).item()
        value = exec_alu(op, dtypes.bool if isinstance(expected, bool) else dtypes.float, (x, y))
        assert type(value) is type(expected)
        # max(0.0, -0.0) is either
        assert same(value, expected) or (op is Ops.MAX and value == expected == 0), (x, y)


@pytest.mark.parametrize("op", OF_ONE)
def test_unary_float_ops_agree_with_numpy(op):
    for x in map(truncate[dtypes.float], EDGES):
        with np.errstate(all="ignore"):
            expected = ALU[op](np.float32(x)).item()
        assert same(exec_alu(op, dtypes.float, (x,)), expected), x


def is_near(value: float, expected: float) -> bool:
    if math.isnan(value) or math.isnan(expected):
        return math.isnan(value) and math.isnan(expected)
    return value == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("op", NEAR)
def test_transcendental_ops_are_near_numpy(op):
    for x in EDGES:
        with np.errstate(all="ignore"):
            assert is_near(exec_alu(op, dtypes.double, (x,)), ALU[op](np.float64(x)).item()), x


def test_float_powers_are_c_s():
    for x, y in PAIRS:
        if y == 0.5:  # NumPy takes sqrt, which keeps the sign of -0.0
            continue
        with np.errstate(all="ignore"):
            expected = np.power(np.float64(x), np.float64(y)).item()
        value = exec_alu(Ops.POW, dtypes.double, (x, y))
        signs = math.copysign(1, value) == math.copysign(1, expected)
        assert is_near(value, expected) and (signs or math.isnan(value)), (x, y)


def test_floats_are_rounded_to_the_dtype():
    assert exec_alu(Ops.ADD, dtypes.half, (2048.0, 1.0)) == 2048.0
    assert exec_alu(Ops.MUL, dtypes.half, (300.0, 300.0)) == INF
    assert exec_alu(Ops.FDIV, dtypes.bfloat16, (1.0, 3.0)) == 0.333984375


@given(int_dtypes, st.sampled_from([NAN, INF, -INF, 1e30, -1e30]))
def test_floats_beyond_an_integer_give_its_smallest_or_the_low_bits_of_that_of_32(dtype, value):
    bits_of_smallest = {32: 1 << 31, 64: 1 << 63}.get(dtype.bits, 0)
    if dtypes.is_unsigned(dtype) and value > 0:
        bits_of_smallest = 0
    found = exec_alu(Ops.CAST, dtype, (value,))
    assert found % (1 << dtype.bits) == bits_of_smallest
    assert dtype.min <= found <= dtype.max


# ---- casts and the rest -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", dtypes.all, ids=str)
def test_casts_truncate(dtype):
    """What truncate gives is test_dtype.py's subject."""
    for value in (2.9, -2.9, 300, -1, 0.5, NAN, INF, -1e30, 1e6, True, 0.0, 16777217):
        out, expected = exec_alu(Ops.CAST, dtype, (value,)), truncate[dtype](value)
        assert same(out, expected) and type(out) is type(expected)


def test_vectors_lane_by_lane():
    assert exec_alu(Ops.ADD, dtypes.int8.vec(3), ((100, 1, 2), (100, 1, 3))) == (-56, 2, 5)


# ---- expressions --------------------------------------------------------------------------------

a, b = UOp.variable("a", -1000, 1000), UOp.variable("b", 0, 9)


def test_evaluate_an_expression():
    i = UOp.range(8, 0)
    e = (a * 3 + i) // 4 + (i < b).where(i, 100)
    assert evaluate(e, {a: -3, i: 2, b: 5}) == (-9 + 2) // 4 + 2
    assert evaluate(UOp.const(dtypes.uint8, -1), {}) == 255
    with pytest.raises(RuntimeError, match="unbound b"):
        evaluate(a + b, {a: 1})


def test_sym_infer():
    assert sym_infer(5, {}) == 5
    assert sym_infer(a * b + 1, {a: 2, b: 3}) == sym_infer(a * b + 1, {"a": 2, "b": 3}) == 7
    assert sym_infer(b.bind(4) + 1, {}) == 5
    assert sym_infer(a // b, {a: -7, b: 2}) == -4
    with pytest.raises(RuntimeError, match="unbound b"):
        sym_infer(a + b, {"a": 1})
