"""exec_alu against NumPy, on edge values; it is what every backend is compared with."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import ALU
from tinyframe.dtype import DType, dtypes, to_np_dtype, truncate
from tinyframe.uop.evaluate import evaluate, exec_alu, sym_infer, threefry
from tinyframe.uop.node import Ops, UOp

INF, NAN = math.inf, math.nan
EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    1e-45,
    1e30,
    -1e30,
    3.4e38,
    INF,
    -INF,
    NAN,
    126.5,
    -149.5,
]
any_float = st.one_of(st.sampled_from(EDGES), st.floats(width=32))
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
    if y == 0:
        assert all(
            exec_alu(op, dtype, (x, y)) == 0 for op in (Ops.IDIV, Ops.MOD, Ops.CDIV, Ops.CMOD)
        )
    else:
        exact = math.floor(x / y) if abs(x) < 2**50 else x // y
        assert exec_alu(Ops.IDIV, dtypes.long, (x, y)) == truncate[dtypes.long](exact)
        assert x == truncate[dtypes.long](
            y * exec_alu(Ops.CDIV, dtypes.long, (x, y)) + exec_alu(Ops.CMOD, dtypes.long, (x, y))
        )
    assert (
        exec_alu(Ops.IDIV, dtypes.int, (-7, 2)) == -4
        and exec_alu(Ops.CDIV, dtypes.int, (-7, 2)) == -3
    )
    assert (
        exec_alu(Ops.MOD, dtypes.int, (-7, 2)) == 1
        and exec_alu(Ops.CMOD, dtypes.int, (-7, 2)) == -1
    )


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


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (2, 10, 1024),
        (-2, 3, -8),
        (0, 0, 1),
        (3, 0, 1),
        (2, -1, 0),
        (1, -5, 1),
        (-1, -5, -1),
        (-1, -4, 1),
        (0, -1, 0),
        (3, 100, truncate[dtypes.int](3**100)),
    ],
)
def test_integer_powers(x, y, expected):
    assert exec_alu(Ops.POW, dtypes.int, (x, y)) == expected


def test_booleans():
    t, f = True, False
    assert [exec_alu(Ops.ADD, dtypes.bool, (x, y)) for x in (f, t) for y in (f, t)] == [f, t, t, t]
    assert [exec_alu(Ops.MUL, dtypes.bool, (x, y)) for x in (f, t) for y in (f, t)] == [f, f, f, t]
    assert [exec_alu(Ops.XOR, dtypes.bool, (x, y)) for x in (f, t) for y in (f, t)] == [f, t, t, f]
    assert (
        exec_alu(Ops.NEG, dtypes.bool, (t,)) is f and exec_alu(Ops.CMPLT, dtypes.bool, (f, t)) is t
    )


# ---- floats -------------------------------------------------------------------------------------

OF_FLOATS = [Ops.ADD, Ops.SUB, Ops.MUL, Ops.FDIV, Ops.FMOD, Ops.MAX,
             Ops.CMPLT, Ops.CMPLE, Ops.CMPNE, Ops.CMPEQ]  # fmt: skip
OF_ONE, NEAR = [Ops.NEG, Ops.SQRT, Ops.TRUNC, Ops.RECIP], [Ops.EXP2, Ops.LOG2, Ops.SIN, Ops.COS]


@given(any_float, any_float, st.sampled_from(OF_FLOATS))
def test_binary_float_ops_agree_with_numpy(x, y, op):
    with np.errstate(all="ignore"):
        expected = ALU[op](np.float32(x), np.float32(y)).item()
    x, y = truncate[dtypes.float](x), truncate[dtypes.float](y)
    value = exec_alu(op, dtypes.bool if isinstance(expected, bool) else dtypes.float, (x, y))
    assert type(value) is type(expected)
    assert same(value, expected) or (
        op is Ops.MAX and value == expected == 0
    )  # max(0.0, -0.0) is either


@given(any_float, st.sampled_from(OF_ONE))
def test_unary_float_ops_agree_with_numpy(x, op):
    with np.errstate(all="ignore"):
        expected = ALU[op](np.float32(x)).item()
    assert same(exec_alu(op, dtypes.float, (truncate[dtypes.float](x),)), expected)


@given(any_float, st.sampled_from(NEAR))
def test_transcendental_ops_are_near_numpy(x, op):
    x = truncate[dtypes.float](x)
    with np.errstate(all="ignore"):
        expected = ALU[op](np.float64(x)).item()
    value = exec_alu(op, dtypes.double, (x,))
    assert (math.isnan(value) and math.isnan(expected)) or value == pytest.approx(
        expected, rel=1e-12, abs=1e-12
    )


@given(any_float, any_float)
def test_float_powers_are_c_s(x, y):
    with np.errstate(all="ignore"):
        expected = np.power(np.float64(x), np.float64(y)).item()
    value = exec_alu(Ops.POW, dtypes.double, (x, y))
    assert (math.isnan(value) and math.isnan(expected)) or value == pytest.approx(
        expected, rel=1e-12
    )
    assert math.copysign(1, value) == math.copysign(1, expected) or math.isnan(value)


@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [
        (Ops.FDIV, (1.0, 0.0), INF),
        (Ops.FDIV, (1.0, -0.0), -INF),
        (Ops.FDIV, (0.0, 0.0), NAN),
        (Ops.FDIV, (NAN, 0.0), NAN),
        (Ops.RECIP, (-0.0,), -INF),
        (Ops.RECIP, (INF,), 0.0),
        (Ops.SQRT, (-1.0,), NAN),
        (Ops.SQRT, (-0.0,), -0.0),
        (Ops.SQRT, (-INF,), NAN),
        (Ops.EXP2, (1e9,), INF),
        (Ops.EXP2, (-INF,), 0.0),
        (Ops.LOG2, (0.0,), -INF),
        (Ops.LOG2, (-0.0,), -INF),
        (Ops.LOG2, (-1.0,), NAN),
        (Ops.LOG2, (INF,), INF),
        (Ops.SIN, (INF,), NAN),
        (Ops.TRUNC, (-0.5,), -0.0),
        (Ops.TRUNC, (INF,), INF),
        (Ops.MAX, (NAN, 1.0), NAN),
        (Ops.MAX, (1.0, NAN), NAN),
        (Ops.MUL, (1e308, 10.0), INF),
        (Ops.POW, (NAN, 0.0), 1.0),
        (Ops.POW, (-8.0, 1 / 3), NAN),
        (Ops.POW, (0.0, -1.0), INF),
        (Ops.POW, (-0.0, -3.0), -INF),
        (Ops.POW, (-10.0, 999.0), -INF),
        (Ops.POW, (10.0, 999.0), INF),
        (Ops.WHERE, (True, 1.0, NAN), 1.0),
        (Ops.WHERE, (False, NAN, 2.0), 2.0),
        (Ops.MULACC, (2.0, 3.0, 4.0), 10.0),
    ],
)
def test_edges_of_floats(op, operands, expected):
    assert same(exec_alu(op, dtypes.double, operands), expected)


def test_floats_are_rounded_to_the_dtype():
    assert exec_alu(Ops.ADD, dtypes.half, (2048.0, 1.0)) == 2048.0
    assert exec_alu(Ops.MUL, dtypes.half, (300.0, 300.0)) == INF
    assert exec_alu(Ops.FDIV, dtypes.bfloat16, (1.0, 3.0)) == 0.333984375


# ---- casts and the rest -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        (dtypes.int, 2.9, 2),
        (dtypes.int, -2.9, -2),
        (dtypes.uint8, 300, 44),
        (dtypes.int8, 200, -56),
        (dtypes.bool, 0.5, True),
        (dtypes.bool, NAN, True),
        (dtypes.float, True, 1.0),
        (dtypes.int, True, 1),
        (dtypes.float, 16777217, 16777216.0),
        (dtypes.half, 1e6, INF),
        (dtypes.bool, 0.0, False),
        (dtypes.uint, -1, 2**32 - 1),
    ],
)
def test_casts(dtype, value, expected):
    out = exec_alu(Ops.CAST, dtype, (value,))
    assert out == expected and type(out) is type(expected)


@given(int_dtypes, st.sampled_from([NAN, INF, -INF, 1e30, -1e30]))
def test_floats_beyond_an_integer_give_its_smallest_or_the_low_bits_of_that_of_32(dtype, value):
    bits_of_smallest = {32: 1 << 31, 64: 1 << 63}.get(dtype.bits, 0)
    if dtypes.is_unsigned(dtype) and value > 0:
        bits_of_smallest = 0
    found = exec_alu(Ops.CAST, dtype, (value,))
    assert found % (1 << dtype.bits) == bits_of_smallest
    assert dtype.min <= found <= dtype.max


def test_vectors_lane_by_lane():
    assert exec_alu(Ops.ADD, dtypes.int8.vec(3), ((100, 1, 2), (100, 1, 3))) == (-56, 2, 5)


# the known answers of Random123 (kat_vectors, threefry 2x32 with 20 rounds)
@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_threefry_gives_the_published_numbers(counter, key, expected):
    def joined(halves):
        return halves[1] << 32 | halves[0]

    assert threefry(joined(counter), joined(key)) == joined(expected)
    assert exec_alu(Ops.THREEFRY, dtypes.uint64, (joined(counter), joined(key))) == joined(expected)


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
