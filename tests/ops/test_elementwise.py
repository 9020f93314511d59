"""Elementwise operations agree with NumPy: every dtype, broadcasting, values that break things."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import evaluate, rounded
from tests.values import FLOATS, arrays, check, elements, shapes, sometimes, tensor
from tinyframe import Context, Tensor, dtypes
from tinyframe.dtype import least_upper_dtype, to_np_dtype

ALL = dtypes.all
SIGNED = (*dtypes.sints, *FLOATS)


def erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(x, 0)


def elu(x):
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def gelu(x):
    return x / 2 * (1 + erf(x / 2**0.5))


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3)))


# float functions: (ours, NumPy's in float64, times the dtype's rounding they may differ)
FUNCTIONS = {
    "sqrt": (Tensor.sqrt, np.sqrt, 1),
    "rsqrt": (Tensor.rsqrt, lambda x: 1 / np.sqrt(x), 2),
    "reciprocal": (Tensor.reciprocal, lambda x: 1 / x, 1),
    "exp": (Tensor.exp, np.exp, 8),
    "exp2": (Tensor.exp2, np.exp2, 4),
    "log": (Tensor.log, np.log, 2),
    "log2": (Tensor.log2, np.log2, 2),
    "log10": (Tensor.log10, np.log10, 2),
    "sin": (Tensor.sin, np.sin, 2),
    "cos": (Tensor.cos, np.cos, 4),
    "sinh": (Tensor.sinh, np.sinh, 8),
    "cosh": (Tensor.cosh, np.cosh, 8),
    "tanh": (Tensor.tanh, np.tanh, 2),
    "erf": (Tensor.erf, erf, 2),
    "sigmoid": (Tensor.sigmoid, sigmoid, 2),
    "logsigmoid": (Tensor.logsigmoid, lambda x: -softplus(-x), 2),
    "silu": (Tensor.silu, lambda x: x * sigmoid(x), 2),
    "swish": (Tensor.swish, lambda x: x * sigmoid(x), 2),
    "quick_gelu": (Tensor.quick_gelu, lambda x: x * sigmoid(1.702 * x), 4),
    "gelu tanh": (Tensor.gelu, gelu_tanh, 4),
    "gelu exact": (lambda x: x.gelu(approximate="none"), gelu, 4),
    "softplus": (Tensor.softplus, softplus, 2),
    "mish": (Tensor.mish, lambda x: x * np.tanh(softplus(x)), 2),
    "softsign": (Tensor.softsign, lambda x: x / (1 + abs(x)), 2),
    "elu": (Tensor.elu, elu, 4),
    "celu": (lambda x: x.celu(2.0), lambda x: 2 * elu(x / 2), 4),
    "relu": (Tensor.relu, lambda x: np.maximum(x, 0), 1),
    "relu6": (Tensor.relu6, lambda x: np.minimum(np.maximum(x, 0), 6), 1),
    "leaky_relu": (lambda x: x.leaky_relu(0.1), lambda x: np.where(x > 0, x, 0.1 * x), 1),
    "hardtanh": (Tensor.hardtanh, lambda x: np.clip(x, -1, 1), 1),
    "hardsigmoid": (Tensor.hardsigmoid, lambda x: np.clip(x / 6 + 0.5, 0, 1), 2),
    "hardswish": (Tensor.hardswish, lambda x: x * np.clip(x + 3, 0, 6) / 6, 2),
    "floor": (Tensor.floor, np.floor, 1),
    "ceil": (Tensor.ceil, np.ceil, 1),
    "trunc": (Tensor.trunc, np.trunc, 1),
    "round": (Tensor.round, np.round, 1),
    "sign": (Tensor.sign, np.sign, 1),
    "abs": (Tensor.abs, np.abs, 1),
    "clip": (lambda x: x.clip(-1, 2), lambda x: np.clip(x, -1, 2), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@given(data=st.data(), dtype=st.sampled_from(FLOATS), compiled=sometimes)
def test_float_function(name, data, dtype, compiled):
    ours, theirs, scale = FUNCTIONS[name]
    # beyond these the formulas of NumPy above overflow on the way, and not ours
    x = data.draw(
        arrays(
            dtype,
            max_ndim=2,
            values=st.one_of(
                st.floats(-9, 9, width=16),
                st.sampled_from((0.0, -0.0, 0.5, -1.5, 2.5, -3.0, 6.0, math.nan)),
            ),
        )
    )
    out = ours(tensor(x, dtype))
    assert out.dtype is dtype
    with np.errstate(all="ignore"):
        expected = theirs(x.astype(np.float64))
    check(out, rounded(expected, dtype), compiled, scale, f"{name} of {dtype} {x.tolist()}")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float_function_at_infinity(name):
    ours, theirs, _ = FUNCTIONS[name]
    x = np.array([np.inf, -np.inf, 100.0, -100.0])
    with np.errstate(all="ignore"):
        expected = theirs(x)
    expected[np.isnan(expected) & ~np.isin(name, ["sin", "cos"]) & (x < 0)] = {
        "silu": -0.0, "swish": -0.0, "quick_gelu": -0.0}.get(name, np.nan)  # fmt: skip
    if name in (
        "gelu tanh",
        "gelu exact",
        "mish",
        "hardswish",
        "softsign",
        "silu",
        "swish",
        "quick_gelu",
    ):
        return  # inf * 0 or inf / inf on the way: NaN, as in PyTorch
    found = evaluate(ours(Tensor(x)).uop)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


# what NumPy gives for two operands of one dtype
ARITHMETIC = {
    "+": (lambda x, y: x + y, lambda x, y: x | y if x.dtype == bool else x + y, ALL),
    "-": (lambda x, y: x - y, np.subtract, dtypes.ints + FLOATS),
    "*": (lambda x, y: x * y, np.multiply, ALL),
    "/": (lambda x, y: x / y, np.divide, FLOATS),
    "//": (lambda x, y: x // y, np.floor_divide, dtypes.ints),
    "%": (lambda x, y: x % y, np.mod, dtypes.ints),
    "idiv": (Tensor.idiv, lambda x, y: _truncating(x, y), dtypes.ints),
    "fmod": (Tensor.fmod, np.fmod, dtypes.ints),
    "maximum": (Tensor.maximum, np.maximum, ALL),
    "minimum": (Tensor.minimum, np.minimum, ALL),
    "&": (lambda x, y: x & y, np.bitwise_and, (*dtypes.ints, dtypes.bool)),
    "|": (lambda x, y: x | y, np.bitwise_or, (*dtypes.ints, dtypes.bool)),
    "^": (lambda x, y: x ^ y, np.bitwise_xor, (*dtypes.ints, dtypes.bool)),
    "==": (lambda x, y: x == y, np.equal, ALL),
    "!=": (lambda x, y: x != y, np.not_equal, ALL),
    "<": (lambda x, y: x < y, np.less, ALL),
    ">": (lambda x, y: x > y, np.greater, ALL),
    "<=": (lambda x, y: x <= y, np.less_equal, ALL),
    ">=": (lambda x, y: x >= y, np.greater_equal, ALL),
}


def _truncating(x, y):
    floored = np.floor_divide(x, y)
    return floored + ((np.mod(x, y) != 0) & ((x < 0) != (y < 0))).astype(x.dtype)


@st.composite
def pairs(draw, dtype):
    """Two arrays whose shapes broadcast."""
    whole = draw(shapes(max_ndim=3, max_size=3))
    kept = [tuple(n if draw(st.booleans()) or n == 0 else 1 for n in whole) for _ in range(2)]
    return [draw(arrays(dtype, shape[draw(st.integers(0, len(shape))) :])) for shape in kept]


@pytest.mark.parametrize("name", ARITHMETIC)
@given(data=st.data(), compiled=sometimes)
def test_arithmetic_with_broadcasting(name, data, compiled):
    ours, theirs, kinds = ARITHMETIC[name]
    dtype = data.draw(st.sampled_from(kinds))
    x, y = data.draw(pairs(dtype))
    with np.errstate(all="ignore"):
        if name in ("//", "%", "idiv", "fmod"):
            y = np.where(y == 0, 1, y).astype(y.dtype)
        wide = [a.astype(np.float32) if dtype is dtypes.half else a for a in (x, y)]
        expected = theirs(*wide)
    out = ours(tensor(x, dtype), tensor(y, dtype))
    assert out.dtype is (dtypes.bool if expected.dtype == bool else dtype)
    if out.dtype is dtype:
        expected = rounded(expected, dtype)
    check(out, expected, compiled, what=f"{x.tolist()} {name} {y.tolist()} of {dtype}")


@given(x=arrays(dtypes.int32, max_ndim=1), compiled=sometimes)
def test_dividing_ints_by_zero_gives_some_int(x, compiled):
    for out in (Tensor(x) // 0, Tensor(x) % 0, Tensor(x).idiv(0)):
        assert evaluate(out.uop).shape == x.shape
        if compiled:
            assert out.numpy().shape == x.shape


@given(x=arrays(dtypes.int32, max_ndim=1), y=st.integers(-40, 40).filter(bool))
def test_floor_and_remainder_make_the_whole(x, y):
    t = Tensor(x)
    np.testing.assert_array_equal(evaluate((t // y * y + t % y).uop), x)
    np.testing.assert_array_equal(evaluate((t.idiv(y) * y + t.fmod(y)).uop), x)


def test_quotients_of_floats():
    x, y = Tensor([7.0, -7.0, 7.5, -7.5]), Tensor([2.0, 2.0, -2.0, -2.0])
    assert evaluate((x // y).uop).tolist() == [3.0, -4.0, -4.0, 3.0]
    assert evaluate((x % y).uop).tolist() == [1.0, 1.0, -0.5, -1.5]
    assert evaluate(x.idiv(y).uop).tolist() == [3.0, -3.0, -3.0, 3.0]
    assert evaluate(x.fmod(y).uop).tolist() == [1.0, -1.0, 1.5, -1.5]
    assert evaluate(x.div(y, rounding_mode="trunc").uop).tolist() == [3.0, -3.0, -3.0, 3.0]
    with pytest.raises(RuntimeError, match="rounding_mode"):
        x.div(y, rounding_mode="up")


@given(x=arrays(dtypes.int32, shape=(4,)), count=st.integers(0, 31), compiled=sometimes)
def test_shifts(x, count, compiled):
    check(Tensor(x) << count, x << count, compiled)
    check(Tensor(x) >> count, x >> count, compiled)
    check(2 << Tensor([0, 3]), [2, 16])


def shifted(x: np.ndarray, count: np.ndarray, left: bool) -> np.ndarray:
    """By whole numbers of any size, wrapped at the end; a count out of range shifts all out."""
    info, out = np.iinfo(x.dtype), []
    for a, n in zip(x.tolist(), count.tolist(), strict=True):
        n = n if 0 <= n < info.bits else info.bits
        out.append(((a << n if left else a >> n) - info.min) % (1 << info.bits) + info.min)
    return np.array(out, x.dtype)


@pytest.mark.parametrize("noopt", [0, 1])
@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
@pytest.mark.parametrize("dtype", dtypes.ints, ids=str)
def test_shifts_by_any_count(dtype, device, noopt):
    kind = to_np_dtype(dtype)
    info = np.iinfo(kind)
    values = np.array([0, 1, 3, info.max, info.min, info.max // 3], kind)
    edges = [0, 1, info.bits - 1, info.bits, info.bits + 1, 100, -1, -info.bits, info.max, info.min]
    counts = np.array([n for n in edges if info.min <= n <= info.max], kind)
    x, count = (a.reshape(-1) for a in np.meshgrid(values, counts))
    with Context(NOOPT=noopt):
        t, n = Tensor(x, device=device), Tensor(count, device=device)
        np.testing.assert_array_equal((t << n).numpy(), shifted(x, count, True))
        np.testing.assert_array_equal((t >> n).numpy(), shifted(x, count, False))
        constants, t = list(set(counts.tolist())), Tensor(values, device=device)
        for left, way in ((True, Tensor.__lshift__), (False, Tensor.__rshift__)):
            found = Tensor.stack(*[way(t, k) for k in constants]).numpy()
            expected = [shifted(values, np.full_like(values, k), left) for k in constants]
            np.testing.assert_array_equal(found, expected)
        edge = Tensor(-1 if info.min else 1, dtype=dtype)  # a constant, as the count is
        one = np.array([edge.item()], kind)
        expected = [shifted(one, np.full_like(one, k), False)[0] for k in constants]
        assert Tensor.stack(*[edge >> k for k in constants]).tolist() == expected


def test_shifts_are_those_of_numpy():
    x, count = np.array([-8, 8, -8, 8], np.int32), np.array([40, 40, 2, 2], np.int32)
    np.testing.assert_array_equal((Tensor(x) << Tensor(count)).numpy(), x << count)
    np.testing.assert_array_equal((Tensor(x) >> Tensor(count)).numpy(), x >> count)


@given(
    x=st.one_of([arrays(d, max_ndim=1) for d in (*dtypes.ints, dtypes.bool)]), compiled=sometimes
)
def test_inverting_every_bit(x, compiled):
    check(~Tensor(x), ~x, compiled)


@pytest.mark.parametrize(
    "function", [Tensor.lshift, Tensor.rshift, Tensor.bitwise_and, Tensor.bitwise_xor]
)
def test_bits_of_floats_are_refused(function):
    for other in (1, 1.5, Tensor([1.0])):
        with pytest.raises(RuntimeError):
            function(Tensor([1.0]), other)
    with pytest.raises(TypeError):
        function(Tensor([1]), 1.5)
    with pytest.raises(TypeError):
        ~Tensor([1.0])


@given(
    base=arrays(dtypes.int32, max_ndim=1, values=st.integers(-5, 5)),
    exponent=st.integers(0, 9),
    compiled=sometimes,
)
def test_powers_of_ints_are_exact(base, exponent, compiled):
    check(Tensor(base) ** exponent, base**exponent, compiled)
    check(Tensor(base) ** Tensor(np.full(base.shape, exponent, np.int32)), base**exponent, compiled)


def test_powers_at_the_edges():
    x = np.array([-2.0, -1.0, -0.0, 0.0, 0.5, 2.0, np.inf, -np.inf, np.nan])
    for exponent in (0, 1, 2, 3, -1, 0.5, -0.5, 2.5, -2, 7):
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
    check(2 ** Tensor([3, 0]), [8, 1])
    check(2.0 ** Tensor([3, -1]), [8.0, 0.5])


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


@given(data=st.data(), a=st.sampled_from(ALL), b=st.sampled_from(ALL), compiled=sometimes)
def test_cast(data, a, b, compiled):
    values = elements(a)
    if dtypes.is_float(a) and dtypes.is_int(b):
        low, high = max(int(b.min), -(2**31)), min(int(b.max), 2**31 - 1)
        values = st.floats(max(low, -1000), min(high, 1000), width=16)  # others: any value
    x = data.draw(arrays(a, (4,), values=values))
    with np.errstate(all="ignore"):
        expected = rounded(x, b)
    check(tensor(x, a).cast(b), expected, compiled, what=f"{x.tolist()} from {a} to {b}")


@pytest.mark.parametrize(
    "name", ["half", "float", "double", "bfloat16", "int", "long", "short", "bool"]
)
def test_casts_by_name(name):
    assert getattr(Tensor([1.5]), name)().dtype is getattr(dtypes, name)
    assert Tensor([1.5]).cast(name).dtype is getattr(dtypes, name)


def test_an_unknown_dtype_is_named():
    with pytest.raises(AttributeError, match="float33"):
        Tensor([1.0]).cast("float33")


@given(
    x=arrays(dtypes.float32, (2, 4)),
    to=st.sampled_from((dtypes.int32, dtypes.uint8, dtypes.int16, dtypes.float64, dtypes.uint64)),
    compiled=sometimes,
)
def test_bitcast(x, to, compiled):
    from tinyframe.dtype import to_np_dtype

    check(Tensor(x).bitcast(to), x.view(to_np_dtype(to)), compiled)


def test_bitcast_that_does_not_divide_is_refused():
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


@given(data=st.data(), compiled=sometimes)
def test_where(data, compiled):
    shape = data.draw(shapes(max_ndim=2))
    c, x = data.draw(arrays(dtypes.bool, shape)), data.draw(arrays(dtypes.float32, shape))
    y = data.draw(arrays(dtypes.float32, shape[1:]))
    check(Tensor(c).where(Tensor(x), Tensor(y)), np.where(c, x, y), compiled)
    check(Tensor(c).where(Tensor(x), 2), np.where(c, x, 2).astype(np.float32))
    check(Tensor(c).where(1, Tensor(x)), np.where(c, 1, x).astype(np.float32))
    check(Tensor(x).masked_fill(Tensor(c), -1), np.where(c, -1, x).astype(np.float32))
    assert Tensor(c).where(1, 2).dtype is dtypes.int32
    assert Tensor(c).where(1, 2.5).dtype is dtypes.float32


def test_where_takes_ints_as_conditions():
    check(Tensor([0, 2, -1]).where(1, 0), [0, 1, 1])


@given(x=arrays(max_ndim=1), compiled=sometimes)
def test_tests_for_what_is_not_finite(x, compiled):
    check(Tensor(x).isnan(), np.isnan(x), compiled)
    check(Tensor(x).isinf(), np.isinf(x), compiled)
    check(Tensor(x).isinf(detect_negative=False), np.isposinf(x))
    check(Tensor(x).isinf(detect_positive=False), np.isneginf(x))
    check(Tensor(x).isfinite(), np.isfinite(x), compiled)


@given(x=arrays(shape=(5,)), y=arrays(shape=(5,)), equal_nan=st.booleans())
def test_isclose(x, y, equal_nan):
    expected = np.isclose(x, y, equal_nan=equal_nan)
    check(Tensor(x).isclose(Tensor(y), equal_nan=equal_nan), expected)


def test_clip():
    x = Tensor([-2.0, 0.5, 3.0, np.nan])
    check(x.clip(-1, 1), [-1.0, 0.5, 1.0, np.nan])
    check(x.clip(min_=0), [0.0, 0.5, 3.0, np.nan])
    check(x.clamp(max=1), [-2.0, 0.5, 1.0, np.nan])
    check(x.clip(Tensor([0.0]), Tensor([2.0])), [0.0, 0.5, 2.0, np.nan])
    with pytest.raises(RuntimeError):
        x.clip()


# ---- operators -----------------------------------------------------------------------------------


def test_reflected_operators():
    t = Tensor([1.0, 2.0, 4.0])
    check(3 + t, [4.0, 5.0, 7.0])
    check(3 - t, [2.0, 1.0, -1.0])
    check(3 * t, [3.0, 6.0, 12.0])
    check(4 / t, [4.0, 2.0, 1.0])
    check(7 // Tensor([2, 3]), [3, 2])
    check(7 % Tensor([2, 4]), [1, 3])
    check(6 & Tensor([2, 4]), [2, 4])
    check(6 | Tensor([1, 8]), [7, 14])
    check(6 ^ Tensor([2, 1]), [4, 7])
    check(3 < t, [False, False, True])
    check(2 == t, [False, True, False])
    check(np.float32(2) * t, [2.0, 4.0, 8.0])
    check(np.array([1, 2, 3], np.float32) - t, [0.0, 0.0, -1.0])


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


def test_what_cannot_be_an_operand_is_named():
    for other in ("1", [1, 2], None, object()):
        with pytest.raises(TypeError, match="operand"):
            Tensor([1]) + other
    with pytest.raises(TypeError):
        Tensor([True]) - Tensor([True])


@pytest.mark.parametrize("error", [ValueError, IndexError, RuntimeError])
def test_shapes_that_do_not_broadcast_are_both_named(error):
    with pytest.raises(error, match=r"\(2, 3\) and \(4,\)"):
        Tensor.ones(2, 3) + Tensor.ones(4)


def test_truth_of_a_tensor_is_refused():
    t = Tensor([1.0])
    with pytest.raises(TypeError):
        bool(t)
    with pytest.raises(TypeError):
        assert 1.0 in t
    with pytest.raises(TypeError):
        assert t in [Tensor([2.0])]
