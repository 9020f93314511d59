"""Elementwise operations agree with NumPy: every dtype, broadcasting, values that break things."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.elementwise import ALIASES, ALL, BINARY, DIVISIONS, UNARY, Op, ours
from tests.every_op import edge_values
from tests.reference import evaluate, rounded
from tests.values import (
    FLOATS,
    TURNS,
    arrays,
    check,
    check_all,
    computed,
    shapes,
    sometimes,
    tensor,
)
from tinyframe import Context, Tensor, dtypes
from tinyframe.dtype import DType, least_upper_dtype, to_np_dtype

# where formulas turn, and numbers of every size between
ORDINARY = np.array([*np.random.default_rng(0).uniform(-1, 1, 40), *TURNS])


def arguments(op: Op) -> np.ndarray:
    """Numbers within the bounds of a row, the turns of formulas among them; and NaN."""
    low, high = op.between
    x = np.concatenate([(ORDINARY[:40] + 1) / 2 * (high - low) + low, ORDINARY[40:]])
    return np.append(x[(low <= x) & (x <= high)], np.nan)


@pytest.mark.parametrize("name", UNARY)
def test_function_of_one_number(name):
    op, rows = UNARY[name], []
    for dtype in FLOATS:
        x = rounded(arguments(op), dtype)
        out = ours(name)(tensor(x, dtype))
        assert out.dtype is dtype if op.gradient else dtypes.bool
        with np.errstate(all="ignore"):
            expected = op.numpy(x.astype(np.float64))
        expected = rounded(expected, dtype) if out.dtype is dtype else expected
        rows.append((out, expected, op.scale, f"{name} of {dtype}"))
    check_all(rows[:2])
    check_all(rows[2:], compiled=True)  # wide floats on the device: tests/torch


@pytest.mark.parametrize("name", ALIASES)
def test_a_second_name_means_the_same(name):
    x, y = Tensor([0.5]), [Tensor([1.5])] * (name == "arctan2")
    assert getattr(Tensor, name)(x, *y).uop is getattr(Tensor, ALIASES[name])(x, *y).uop


@st.composite
def pairs(draw, dtype):
    """Two arrays whose shapes broadcast."""
    whole = draw(shapes(max_ndim=3, max_size=3))
    kept = [tuple(n if draw(st.booleans()) or n == 0 else 1 for n in whole) for _ in range(2)]
    return [draw(arrays(dtype, shape[draw(st.integers(0, len(shape))) :])) for shape in kept]


OF_TWO = [name for name, op in BINARY.items() if op.dtypes]


def row_of_two(name: str, dtype: DType, x: np.ndarray, y: np.ndarray) -> tuple:
    """What `check_all` takes: a function of two arrays, and NumPy's value."""
    op = BINARY[name]
    with np.errstate(all="ignore"):
        if name in DIVISIONS:
            y = np.where(y == 0, 1, y).astype(y.dtype)
        wide = [a.astype(np.float32) if dtype is dtypes.half else a for a in (x, y)]
        expected = op.numpy(*wide)
        s, t = tensor(x, dtype), tensor(y, dtype)
        out = ours(name)(s, t)
        if hasattr(Tensor, name):  # the operator and the method
            assert getattr(Tensor, name)(s, t).uop is out.uop
        assert out.dtype is (dtypes.bool if expected.dtype == bool else dtype)
        expected = rounded(expected, dtype) if out.dtype is dtype else expected
    return out, expected, op.scale, f"{x.tolist()} {name} {y.tolist()} of {dtype}"


@pytest.mark.parametrize("name", OF_TWO)
def test_function_of_two_numbers(name):
    kinds = BINARY[name].dtypes
    rows = [
        row_of_two(name, dtype, edge_values(dtype, 1), edge_values(dtype, 2)) for dtype in kinds
    ]
    check_all(rows)
    check_all(rows[:1], compiled=True)  # of each dtype by each op: tests/backends


@given(data=st.data(), name=st.sampled_from(OF_TWO), compiled=sometimes)
@settings(max_examples=100)
def test_operands_broadcast(data, name, compiled):
    dtype = data.draw(st.sampled_from(BINARY[name].dtypes))
    check_all([row_of_two(name, dtype, *data.draw(pairs(dtype)))], compiled)


def test_quotients_are_rounded_in_two_ways():
    x, y = np.array([7, -7, 7.5, -7.5], np.float32), np.array([2, 2, -2, -2], np.float32)
    s, t = Tensor(x), Tensor(y)
    for found in (s.idiv(t), s.div(t, rounding_mode="trunc")):
        check(found, np.trunc(x / y))
    check(s.div(t, rounding_mode="floor"), np.floor(x / y))
    with pytest.raises(RuntimeError, match="rounding_mode"):
        s.div(t, rounding_mode="up")


def shifted(x: np.ndarray, count: np.ndarray, left: bool) -> np.ndarray:
    """By whole numbers of any size, wrapped at the end; a count out of range shifts all out."""
    info, out = np.iinfo(x.dtype), []
    for a, n in zip(x.tolist(), count.tolist(), strict=True):
        n = n if 0 <= n < info.bits else info.bits
        out.append(((a << n if left else a >> n) - info.min) % (1 << info.bits) + info.min)
    return np.array(out, x.dtype)


@pytest.mark.parametrize(("device", "noopt"), [("CPU", 0), ("PYTHON", 1)])
def test_shifts_by_any_count(device, noopt):
    made, expected = [], []
    for dtype in dtypes.ints:
        kind = to_np_dtype(dtype)
        info = np.iinfo(kind)
        values = np.array([0, 1, 3, info.max, info.min, info.max // 3], kind)
        edges = [0, 1, info.bits - 1, info.bits, info.bits + 1, 100, -1, -info.bits]
        counts = np.array([n for n in (*edges, info.max, info.min) if info.min <= n], kind)
        x, count = (a.reshape(-1) for a in np.meshgrid(values, counts))
        t, n = Tensor(x, device=device), Tensor(count, device=device)
        edge = Tensor(-1 if info.min else 1, dtype=dtype)  # a constant, as the count is
        one = np.array([edge.item()], kind)
        for left, way in ((True, Tensor.__lshift__), (False, Tensor.__rshift__)):
            by_one = [(Tensor(values, device=device), values), (edge.reshape(1), one)]
            made += [way(t, n), *[Tensor.stack(*[way(u, k) for k in counts.tolist()]).flatten()
                                  for u, _ in by_one]]  # fmt: skip
            expected += [shifted(x, count, left)]
            expected += [np.concatenate([shifted(a, np.full_like(a, k), left) for k in counts])
                         for _, a in by_one]  # fmt: skip
    with Context(NOOPT=noopt):
        for found, wanted in zip(computed(*made), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_inverting_every_bit():
    arrays = [edge_values(dtype, 1) for dtype in (*dtypes.ints, dtypes.bool)]
    check_all([(~Tensor(x), ~x, 1, str(x.dtype)) for x in arrays], compiled=True)


@pytest.mark.parametrize("name", ["lshift", "rshift", "bitwise_and", "bitwise_xor"])
def test_bits_of_floats_are_refused(name):
    function = getattr(Tensor, name)
    for other in (1, 1.5, Tensor([1.0])):
        with pytest.raises(RuntimeError):
            function(Tensor([1.0]), other)
    with pytest.raises(TypeError):
        function(Tensor([1]), 1.5)
    with pytest.raises(TypeError):
        ~Tensor([1.0])


def test_powers_at_the_edges():
    x = np.array([-2.0, -1.0, -0.0, 0.0, 0.5, 2.0, np.inf, -np.inf, np.nan])
    for exponent in (0, 1, 2, 3, -1, 0.5, -0.5, 2.5, -2, 7, np.inf, -np.inf, np.nan):
        with np.errstate(all="ignore"):
            expected = x**exponent
        if exponent == 0.5:
            expected[7] = np.nan  # sqrt(-inf), as in PyTorch; pow gives inf
        if exponent == -0.5:
            expected[[2, 7]] = -np.inf, np.nan
        check(Tensor(x) ** exponent, expected, what=f"** {exponent}")
    with pytest.raises(RuntimeError, match="-1"):
        Tensor([2]) ** -1
    check(Tensor([0.0]) ** Tensor([0.0]), [1.0])
    for exponent in (np.nan, np.inf, -np.inf):  # constants that no int can be
        check(Tensor([2.0]) ** Tensor(exponent), [2.0**exponent], compiled=True, what=f"{exponent}")


# ---- dtypes ------------------------------------------------------------------------------------


@given(data=st.data(), a=st.sampled_from(ALL), b=st.sampled_from(ALL), compiled=sometimes)
def test_two_dtypes_meet_at_their_join(data, a, b, compiled):
    x, y = data.draw(arrays(a, (3,), edges=False)), data.draw(arrays(b, (3,), edges=False))
    out = tensor(x, a) + tensor(y, b)
    join = least_upper_dtype(a, b)
    assert out.dtype is join
    x, y = (rounded(v, join).astype(np.float32 if join is dtypes.half else v.dtype) for v in (x, y))
    x, y = rounded(x, join), rounded(y, join)
    check(out, rounded(x | y if join is dtypes.bool else x + y, join), compiled)


@pytest.mark.parametrize("dtype", ALL)
def test_a_python_number_does_not_widen_a_tensor(dtype):
    t = Tensor([1, 0], dtype=dtype)
    is_float = dtypes.is_float(dtype)
    assert (t + True).dtype is dtype
    assert (t + 1).dtype is (dtypes.int32 if dtype is dtypes.bool else dtype)
    assert (t + 1.5).dtype is (dtype if is_float else dtypes.float32)
    assert (1.5 * t).dtype is (dtype if is_float else dtypes.float32)
    assert (t / 2).dtype is (dtype if is_float else dtypes.float32)
    assert (t == 1.5).dtype is dtypes.bool


def test_the_default_float_is_what_ints_become():
    dtypes.default_float = dtypes.float64
    try:
        assert (Tensor([1]) / 2).dtype is dtypes.float64
        assert Tensor([1]).exp().dtype is dtypes.float64
        assert (Tensor([1]) + 1.5).dtype is dtypes.float64
        assert Tensor([1, 2]).mean().dtype is dtypes.float64
    finally:
        dtypes.default_float = dtypes.float32


@pytest.mark.parametrize("name", ["half", "float", "double", "bfloat16", "int", "long", "short",
                                  "bool"])  # fmt: skip
def test_casts_by_name(name):
    for cast in (getattr(Tensor([1.5]), name)(), Tensor([1.5]).cast(name)):
        assert cast.dtype is getattr(dtypes, name)
    with pytest.raises(AttributeError, match="float33"):
        Tensor([1.0]).cast("float33")


@given(
    x=arrays(dtypes.float32, (2, 4)),
    to=st.sampled_from((dtypes.int32, dtypes.uint8, dtypes.int16, dtypes.float64, dtypes.uint64)),
    compiled=sometimes,
)
def test_bitcast(x, to, compiled):
    check(Tensor(x).bitcast(to), x.view(to_np_dtype(to)), compiled)
    with pytest.raises(RuntimeError, match="divide"):
        Tensor([1.0, 2.0, 3.0]).bitcast(dtypes.float64)


# ---- comparisons, choices, tests -----------------------------------------------------------------


@pytest.mark.parametrize("number", [300, -1, 255, 0, 2**40, -(2**70)])
def test_an_int_beyond_the_dtype_compares_as_what_it_is(number):
    for dtype in dtypes.ints:
        values = [int(dtype.min), 0, 7, int(dtype.max)]
        t = Tensor(values, dtype=dtype)
        assert evaluate((t < number).uop).tolist() == [v < number for v in values]
        assert evaluate((t >= number).uop).tolist() == [v >= number for v in values]
        assert evaluate((t == number).uop).tolist() == [v == number for v in values]
        assert evaluate((number > t).uop).tolist() == [v < number for v in values]


def test_where_of_numbers_and_shapes_that_broadcast():
    c, x = np.array([True, False, True]), np.float32([[1, 2, 3], [-1, np.nan, np.inf]])
    check(Tensor(c).where(Tensor(x), Tensor(x[:1])), np.where(c, x, x[:1]), True)
    check(Tensor(c).where(Tensor(x), 2), np.where(c, x, 2).astype(np.float32))
    check(Tensor(c).where(1, Tensor(x)), np.where(c, 1, x).astype(np.float32))
    check(Tensor(x).masked_fill(Tensor(c), -1), np.where(c, -1, x).astype(np.float32))
    assert Tensor(c).where(1, 2).dtype is dtypes.int32
    assert Tensor(c).where(1, 2.5).dtype is dtypes.float32


def test_nan_is_close_to_nan_where_that_is_asked_for():
    x = Tensor([np.nan, 1.0, np.inf])
    assert x.isclose(x, equal_nan=True).tolist() == [True] * 3


# of `t`, floats; `i`, ints; `a`, an array of floats: NumPy says what it is
EXPRESSIONS = """
3 + t | 3 - t | 3 * t | 4 / t | 2.0 ** t | 3 < t | 2 == t | np.float32(2) * t | a - t | t - a
7 // i | 7 % i | 6 & i | 6 | i | 6 ^ i | 2 ** i | -t | +t | abs(-t) | ~i | t.clip(1.5, 3.0)
t.clip(a, 3) | t ** 0.5 | t ** i | np.where(t > 1, 5, i) | i << 2 | 1 << i | -9 >> i
"""


@pytest.mark.parametrize("text", re.split(r" \| (?!i )|\n", EXPRESSIONS.strip()))
def test_operators_mean_what_they_do_in_numpy(text):
    t, i = np.array([1.0, 2.0, 4.0], np.float32), np.array([2, 3, 4], np.int32)
    ours = text.replace("np.where(t > 1, 5, i)", "(t > 1).where(5, i)")
    names = {"np": np, "a": np.array([1, 2, 3], np.float32)}
    expected = eval(text, {**names, "t": t, "i": i})
    check(eval(ours, {**names, "t": Tensor(t), "i": Tensor(i)}), expected, what=text)


def test_a_condition_may_be_ints_and_a_bound_may_be_missing():
    check(Tensor([0, 2, -1]).where(1, 0), [0, 1, 1])
    x = np.array([np.inf, -np.inf, np.nan, 1.0], np.float32)
    check(Tensor(x).isinf(detect_negative=False), np.isposinf(x))
    check(Tensor(x).isinf(detect_positive=False), np.isneginf(x))
    check(Tensor(x).clip(min_=0), np.maximum(x, 0))
    check(Tensor(x).clamp(max=0), np.minimum(x, 0))
    with pytest.raises(RuntimeError):
        Tensor(x).clip()


def test_in_place_operators():
    t = Tensor([6.0, 4.0])
    same = t
    t += 2
    t -= Tensor([1.0])
    t *= 2
    t /= 4
    t **= 2
    assert t is same
    check(t, [12.25, 6.25])
    i = Tensor([5, 6])
    i ^= 1
    i //= 2
    i <<= 3
    check(i, [16, 24])
    with pytest.raises(RuntimeError, match="dtype"):
        i += 1.5
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        i += Tensor([[1, 2], [3, 4]])


@pytest.mark.parametrize(("call", "error", "words"), [
    *[(lambda t, other=other: t + other, TypeError, "operand")
      for other in ("1", [1, 2], None, object())],
    (lambda t: (t > 0) - (t > 0), TypeError, ""),
    *[(lambda t: t.reshape(2, 3) + Tensor.ones(4), error, r"\(2, 3\) and \(4,\)")
      for error in (ValueError, IndexError, RuntimeError)],
    (lambda t: bool(t[:1]), TypeError, ""),
    (lambda t: 1.0 in t, TypeError, ""),
    (lambda t: t in [Tensor([2.0])], TypeError, ""),
])  # fmt: skip
def test_what_is_no_operand_and_no_truth_is_named(call, error, words):
    with pytest.raises(error, match=words or None):
        call(Tensor.ones(6))
