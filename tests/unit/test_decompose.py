"""What an op becomes must compute the same: decomposed graphs are run on NumPy arrays, op by op."""

from __future__ import annotations

import math
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.numpy_graph import compute, leaf
from tests.ulp import bit_patterns, ulps
from tinyframe.codegen.decompose import decompositions
from tinyframe.dtype import AddrSpace, DType, dtypes, to_np_dtype
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.rewrite.matcher import graph_rewrite
from tinyframe.uop import GroupOp, Ops, UOp
from tinyframe.uop.evaluate import exec_alu

FREE = {Ops.CAST, Ops.BITCAST, Ops.CONST, Ops.DEFINE_VAR}
SMALLEST = {Ops.ADD, Ops.MUL, Ops.FDIV, Ops.CDIV, Ops.CMPLT, Ops.CMPNE, Ops.AND, Ops.OR, Ops.XOR,
            Ops.SHL, Ops.SHR, Ops.WHERE}  # fmt: skip
C = set(CStyleLanguage.code_for_op)
INTS = dtypes.ints


def decompose(u: UOp, ops: set[Ops] = C, native_half: bool = True) -> UOp:
    return graph_rewrite(u, decompositions(frozenset(ops), native_half))


def ops_of(u: UOp) -> set[Ops]:
    return {x.op for x in u.toposort()} - FREE


def edge_values(dtype) -> np.ndarray:
    """Small numbers, and those at the ends of the range."""
    low, high = int(dtypes.min(dtype)), int(dtypes.max(dtype))
    near = range(-9, 10)
    values = {n for base in (0, low, high, low // 2, high // 3) for n in (base + d for d in near)}
    return np.array(sorted(n for n in values if low <= n <= high), to_np_dtype(dtype))


def all_pairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.meshgrid(x, y)
    return a.ravel(), b.ravel()


# *** what is left ***


@pytest.mark.parametrize("ops", [SMALLEST, C], ids=["smallest", "C"])
@pytest.mark.parametrize("dtype", dtypes.all, ids=str)
def test_only_ops_of_the_device_are_left(ops, dtype):
    x, y, z = (leaf(name, dtype) for name in "xyz")
    binary = Ops.ADD, Ops.MUL, Ops.MAX, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ, Ops.POW
    values = [x.alu(op, y) for op in binary] + [x.alu(Ops.MULACC, y, z), x.alu(Ops.NEG)]
    if dtype is not dtypes.bool:
        values += [x.alu(Ops.SUB, y)]
    if dtypes.is_int(dtype):
        values += [x.alu(op, y) for op in (Ops.IDIV, Ops.MOD, Ops.CMOD)]
    if dtypes.is_float(dtype):
        values += [x.alu(op) for op in GroupOp.Unary - {Ops.NEG, Ops.CAST, Ops.BITCAST}]
        values += [x.alu(Ops.FMOD, y)]
    of_language = set(CStyleLanguage.code_for_double) if dtype is dtypes.float64 else set()
    for u in values:
        assert ops_of(decompose(u, ops, native_half=False)) <= ops | of_language, u.op


# *** integers ***


def check_division(x: np.ndarray, y: np.ndarray, dtype, ops: set[Ops] = C) -> None:
    """The evaluator raises Trap where a CPU would stop the process."""
    a, b = leaf("a", dtype), leaf("b", dtype)
    with np.errstate(all="ignore"):
        # NumPy's int_min // -1 is int_min too, and x // 0 is 0
        assert np.array_equal(compute(decompose(a // b, ops), {a: x, b: y}), x // y)
        rest = np.where(y == 0, 0, x % np.where(y == 0, 1, y)).astype(x.dtype)
        assert np.array_equal(compute(decompose(a % b, ops), {a: x, b: y}), rest)


@pytest.mark.parametrize("ops", [SMALLEST, C], ids=["smallest", "C"])
@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.uint8], ids=str)
def test_floor_division_of_all_pairs_of_bytes(dtype, ops):
    info = np.iinfo(to_np_dtype(dtype))
    every = np.arange(info.min, info.max + 1).astype(info.dtype)
    check_division(*all_pairs(every, every), dtype, ops)


@pytest.mark.parametrize("dtype", INTS, ids=str)
def test_floor_division_at_the_ends_of_each_dtype(dtype):
    check_division(*all_pairs(edge_values(dtype), edge_values(dtype)), dtype)


@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.uint8, dtypes.int32], ids=str)
def test_floor_division_by_a_constant(dtype):
    x = leaf("x", dtype)
    values = edge_values(dtype)
    for n in edge_values(dtype).tolist():
        with np.errstate(all="ignore"):
            divisor = values.dtype.type(n)
            rest = values % divisor if n else np.zeros_like(values)
            assert np.array_equal(compute(decompose(x // n), {x: values}), values // divisor), n
            assert np.array_equal(compute(decompose(x % n), {x: values}), rest), n


def test_division_of_what_is_not_negative_is_C_division():
    i, n = UOp.variable("i", 0, 31), UOp.variable("n", 1, 7)
    assert decompose(i // 3) is i.alu(Ops.CDIV, i.const_like(3))
    assert decompose(i % n) is i.alu(Ops.CMOD, n)
    assert ops_of(decompose(UOp.variable("i", -3, 31) // 3)) > {Ops.CDIV}


def test_division_by_a_power_of_two_is_a_shift_also_of_negative_numbers():
    x = leaf("x", dtypes.int32)
    assert decompose(x // 8) is x >> 3
    assert decompose(x % 8) is x & 7
    assert ops_of(decompose(x // 8, C - {Ops.SHR})) > {Ops.CDIV}


def test_division_that_cannot_trap_pays_for_no_check():
    x, n = leaf("x", dtypes.int32), UOp.variable("n", 1, 9)
    assert Ops.WHERE not in ops_of(decompose(x // n))


@given(st.data(), st.sampled_from(INTS))
def test_integer_power_wraps_around_and_rounds_towards_zero(data, dtype):
    np_dtype = to_np_dtype(dtype)
    x = data.draw(arrays(np_dtype, 8))
    y = data.draw(arrays(np_dtype, 8, elements=st.integers(-9 * (dtype.min < 0), 127)))
    a, b = leaf("a", dtype), leaf("b", dtype)
    powers = [exec_alu(Ops.POW, dtype, (int(p), int(q))) for p, q in zip(x, y, strict=True)]
    expected = np.array(powers, np_dtype)
    assert np.array_equal(compute(decompose(a**b), {a: x, b: y}), expected)
    constant = int(y[0])
    assert np.array_equal(compute(decompose(a**constant), {a: x[:1]}), expected[:1])


# *** functions of floats ***

WIDE = [dtypes.float32, dtypes.float64]
# a fused multiply-add rounds once where two operations round twice; both have to be right
FUSED = pytest.mark.parametrize("fused", [False, True], ids=["rounded twice", "fused"])


def numbers(dtype) -> np.ndarray:
    np_dtype = to_np_dtype(dtype).type
    random = np.random.default_rng(1)
    limit = 1100 if dtype is dtypes.float64 else 160
    around_1 = 1 + random.normal(size=4000) * 10.0 ** -random.uniform(0, 9, 4000)
    parts = [bit_patterns(np_dtype, 8192), random.uniform(-limit, limit, 8192),
             random.uniform(-2, 2, 8192), around_1, np.arange(-500, 500) * math.pi / 4]  # fmt: skip
    return np.concatenate([np.asarray(p).astype(np_dtype) for p in parts])


def exponential(sign: int) -> Callable[[UOp], UOp]:
    return lambda x: (x * (sign / math.log(2))).exp2()


FUNCTIONS = [  # the formula, the function, the worst error in last places, and dtypes
    (UOp.exp2, np.exp2, 1.5, WIDE),
    (UOp.log2, np.log2, 1.2, WIDE[:1]),
    (UOp.sin, np.sin, 0.8, WIDE[:1]),
    (lambda x: x.alu(Ops.COS), np.cos, 0.8, WIDE[:1]),
    (exponential(1), np.exp, 2.2, WIDE),
    (exponential(-1), lambda x: np.exp(-x), 2.2, WIDE),
]


@FUSED
@pytest.mark.parametrize(("formula", "reference", "limit", "of"), FUNCTIONS)
def test_functions_are_right_to_the_last_places(formula, reference, limit, of, fused):
    for dtype in of:
        x, values = leaf("x", dtype), numbers(dtype)
        with np.errstate(all="ignore"):
            exact = reference(values.astype(np.longdouble))
        worst = ulps(compute(decompose(formula(x)), {x: values}, fused), exact)
        # where long double is no wider than double, the reference has an error of its own
        own = 0.6 if dtype is dtypes.float64 and np.finfo(np.longdouble).nmant == 52 else 0
        assert worst.max() <= limit + own, values[worst.argmax()]


@pytest.mark.parametrize("formula", [UOp.log2, UOp.sin, UOp.cos, UOp.sqrt])
def test_what_the_bounds_of_an_argument_rule_out_is_left_out(formula):
    bits = leaf("bits", dtypes.uint32)
    x, free = (bits >> 9).cast(dtypes.float32) * -(2.0**-23) + 1, leaf("x", dtypes.float32)
    values = np.concatenate(
        [edge_values(dtypes.uint32), bit_patterns(np.float32, 8192).view(np.uint32)]
    )
    arguments = compute(x, {bits: values})
    shorter, longer = (decompose(formula(u), SMALLEST) for u in (x, free))
    assert Ops.WHERE in ops_of(longer) and Ops.WHERE not in ops_of(shorter)
    expected = compute(longer, {free: arguments})
    np.testing.assert_array_equal(compute(shorter, {bits: values}), expected)


@FUSED
def test_power_is_right_to_the_last_places(fused):
    random = np.random.default_rng(2)
    x, y = leaf("x", dtypes.float32), leaf("y", dtypes.float32)
    base = np.exp2(random.uniform(-126, 126, 20000)).astype(np.float32)
    near_1 = (1 + random.normal(size=20000) * 1e-4).astype(np.float32)
    for b in (base, near_1):
        with np.errstate(all="ignore"):
            exponent = random.uniform(-1.1, 1.1, b.size) * 126 / np.log2(b.astype(np.longdouble))
            exponent = exponent.astype(np.float32)
            exact = np.power(b.astype(np.longdouble), exponent.astype(np.longdouble))
        assert ulps(compute(decompose(x**y), {x: b, y: exponent}, fused), exact).max() <= 2


@FUSED
def test_power_has_the_special_cases_of_C(fused):
    info = np.finfo(np.float32)
    values = [0.0, 1, 0.5, 1 / 3, 1.5, 2, 3, 7, 10.5, 2.0**24, 2.0**24 + 2, 2.0**53, info.max,
              info.tiny, info.smallest_subnormal, np.inf, np.nan]  # fmt: skip
    every = np.array(values + [-v for v in values], info.dtype)
    b, e = all_pairs(every, every)
    with np.errstate(all="ignore"):
        exact = np.power(b.astype(np.longdouble), e.astype(np.longdouble))
    x, y = leaf("x", dtypes.float32), leaf("y", dtypes.float32)
    assert ulps(compute(decompose(x**y), {x: b, y: e}, fused), exact).max() <= 2
    for constant in (0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5):
        with np.errstate(all="ignore"):
            exact = np.power(every.astype(np.longdouble), np.longdouble(constant))
        got = compute(decompose(x**constant), {x: every}, fused)
        assert ulps(got, exact).max() <= 2, constant


@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_ops_that_the_smallest_device_lacks(dtype):
    x, y = leaf("x", dtype), leaf("y", dtype)
    a = numbers(dtype)
    b = np.random.default_rng(3).permutation(a)
    rounded = {Ops.TRUNC: np.trunc, Ops.RECIP: np.reciprocal, Ops.NEG: np.negative}
    with np.errstate(all="ignore"):
        for op, reference in rounded.items():
            got = compute(decompose(x.alu(op), SMALLEST), {x: a})
            assert ulps(got, reference(a).astype(np.longdouble)).max() == 0, op
        root = compute(decompose(x.sqrt(), SMALLEST), {x: a})
        assert ulps(root, np.sqrt(a.astype(np.longdouble))).max() <= 1.1
        both = {x: a, y: b}
        got = compute(decompose(x.maximum(y), SMALLEST), both)
        assert np.array_equal(got, np.maximum(a, b), equal_nan=True)
        got = compute(decompose(x.alu(Ops.SUB, y), SMALLEST), both)
        assert np.array_equal(got, a - b, equal_nan=True)
        assert np.array_equal(compute(decompose(x.eq(y), SMALLEST), both), a == b)
        other = SMALLEST - {Ops.CMPNE} | {Ops.CMPEQ}
        assert np.array_equal(compute(decompose(x.ne(y), other), both), a != b)


# *** conversions ***


def test_every_float16_as_float32_and_back():
    h, f = leaf("h", dtypes.float16), leaf("f", dtypes.float32)
    every = np.arange(1 << 16).astype(np.uint16).view(np.float16)
    wide = every.astype(np.float32)
    got = compute(decompose(h.cast(dtypes.float32), native_half=False), {h: every})
    assert np.array_equal(got, wide, equal_nan=True)
    got = compute(decompose(f.cast(dtypes.float16), native_half=False), {f: wide})
    assert np.array_equal(got, every, equal_nan=True)
    assert np.array_equal(np.signbit(got), np.signbit(every))


def as_bfloat16(bits: np.ndarray) -> np.ndarray:
    return bits.view(ml_dtypes.bfloat16).astype(np.float32)


def around(narrow: np.ndarray, wide: DType) -> np.ndarray:
    """The middles between neighbours, what is next to them, and other numbers."""
    middle = narrow[1:] / 2 + narrow[:-1] / 2
    beside = [np.nextafter(middle, to) for to in (0, np.inf)]
    return np.concatenate([middle, *beside, -middle, narrow, numbers(wide)], dtype=middle.dtype)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("source", WIDE, ids=str)
def test_rounding_to_float16_is_to_nearest_even(source, native):
    halves = np.arange(0x7C01).astype(np.uint16).view(np.float16).astype(to_np_dtype(source))
    halves[-1] = 65536
    x, values = leaf("x", source), around(halves, source)
    with np.errstate(all="ignore"):
        expected = values.astype(np.float16)
    got = compute(decompose(x.cast(dtypes.float16), native_half=native), {x: values})
    assert np.array_equal(got, expected, equal_nan=True)


def test_rounding_to_bfloat16_is_to_nearest_even():
    x = leaf("x", dtypes.float32)
    values = around(as_bfloat16(np.arange(0x7F80).astype(np.uint16)), dtypes.float32)
    bits = compute(decompose(x.cast(dtypes.bfloat16).bitcast(dtypes.uint16)), {x: values})
    with np.errstate(all="ignore"):
        expected = values.astype(ml_dtypes.bfloat16).astype(np.float32)
    assert np.array_equal(as_bfloat16(bits), expected, equal_nan=True)


# *** the rest of a division ***


@pytest.mark.parametrize("ops", [SMALLEST, C], ids=["smallest", "C"])
def test_fmod_is_exact(ops):
    a, b = leaf("a", dtypes.float32), leaf("b", dtypes.float32)
    count = 1 << (11 if ops is SMALLEST else 14)
    x, y = (bit_patterns(np.float32, count) for _ in range(2))
    y = np.random.default_rng(0).permutation(y)
    pairs = all_pairs(x[-100:], y[-100:])  # the special numbers
    x, y = (np.concatenate(both) for both in zip((x, y), pairs, strict=True))
    with np.errstate(all="ignore"):
        expected = np.fmod(x, y)
    for fused in (False, True):
        got = compute(decompose(a.alu(Ops.FMOD, b), ops), {a: x, b: y}, fused)
        np.testing.assert_array_equal(got, expected)
        signs = np.signbit(got) == np.signbit(expected)
        assert (signs | np.isnan(expected)).all()


# *** arithmetic of narrow floats ***


def narrow_inputs(dtype, count: int = 4096) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(4)
    kind = np.float16 if dtype is dtypes.float16 else ml_dtypes.bfloat16
    x, y = (random.normal(size=count) * 10.0 ** random.uniform(-4, 4, count) for _ in range(2))
    return x.astype(kind), y.astype(kind)


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16], ids=str)
def test_narrow_floats_are_rounded_after_every_operation(dtype):
    a, b = narrow_inputs(dtype)
    xb, yb = leaf("x", dtypes.uint16), leaf("y", dtypes.uint16)
    x, y = xb.bitcast(dtype), yb.bitcast(dtype)
    with np.errstate(over="ignore"):
        results = {
            (x * y + x): a * b + a, (x / y): a / b, (x * 1.5): a * a.dtype.type(1.5),
            x.maximum(y): np.maximum(a, b), (x < y).where(x, y): np.minimum(a, b), -x: -a,
        }  # fmt: skip
    for u, expected in results.items():
        u = decompose(u.bitcast(dtypes.uint16), native_half=False)
        assert all(v.dtype not in (dtypes.float16, dtypes.bfloat16) for v in u.toposort())
        got = compute(u, {xb: a.view(np.uint16), yb: b.view(np.uint16)}).view(a.dtype)
        assert np.array_equal(got.astype(float), expected.astype(float), equal_nan=True), u


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16], ids=str)
def test_a_narrow_float_moves_between_memories_as_its_bits(dtype):
    source, target = (UOp(Ops.DEFINE_GLOBAL, dtype.ptr(8), (), n) for n in (1, 0))
    i = UOp.range(8, 0)
    load = source.index(i, shape=(8,)).load()
    plain = decompose(target.index(i, shape=(8,)).store(load, i).sink(), native_half=False)
    assert not ops_of(plain) & (GroupOp.Elementwise - FREE)
    assert {u.dtype for u in plain.toposort()} <= {
        dtypes.uint16.ptr(8), dtypes.uint16, dtypes.int, dtypes.bool, dtypes.void}  # fmt: skip


def test_a_reduce_of_narrow_floats_is_rounded_once_at_its_end():
    source = UOp(Ops.DEFINE_GLOBAL, dtypes.float16.ptr(8), (), 1)
    k = UOp.range(8, 0)
    total = decompose(source.index(k, shape=(8,)).load().reduce(Ops.ADD, k))
    assert total.op is Ops.CAST and total.dtype is dtypes.float16
    assert total.src[0].op is Ops.REDUCE and total.src[0].dtype is dtypes.float32


def test_a_staged_bfloat16_is_staged_as_its_bits():
    source = UOp(Ops.DEFINE_GLOBAL, dtypes.bfloat16.ptr(8), (), 1)
    i, j = UOp.range(8, 0), UOp.range(8, 1)
    stage = (source.index(i, shape=(8,)).load() * 2).stage(AddrSpace.LOCAL, i)
    u = decompose(stage.index(j, shape=(8,)).load().cast(dtypes.float32))
    assert all(x.dtype.scalar() is not dtypes.bfloat16 for x in u.toposort())


def test_decompositions_of_a_device_are_made_once():
    assert decompositions(frozenset(list(C))) is decompositions(frozenset(C))
