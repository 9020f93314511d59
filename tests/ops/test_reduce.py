"""Reductions and matrix products agree with NumPy, over generated shapes, axes and dtypes."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.reference import evaluate, rounded, softmax
from tests.values import FLOATS, arrays, check, floats, shapes, sometimes, tensor
from tinyframe import Tensor, dtypes
from tinyframe.dtype import sum_acc_dtype
from tinyframe.errors import ShapeError


@st.composite
def axes_of(draw, shape, several=True):
    """None, one axis, or several of a shape, from the front or the back."""
    if not shape or draw(st.booleans()):
        return None
    chosen = draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True,
                           max_size=len(shape) if several else 1))  # fmt: skip
    signed = tuple(a - len(shape) if draw(st.booleans()) else a for a in chosen)
    return signed if several and draw(st.booleans()) else signed[0]


@given(data=st.data(), dtype=st.sampled_from(dtypes.all), compiled=sometimes)
def test_sum(data, dtype, compiled):
    x = data.draw(arrays(dtype, edges=not dtypes.is_float(dtype)))
    axis, keepdim = data.draw(axes_of(x.shape)), data.draw(st.booleans())
    wide = rounded(x, sum_acc_dtype(dtype))
    result = dtype if dtypes.is_float(dtype) else sum_acc_dtype(dtype)
    expected = rounded(wide.sum(axis, keepdims=keepdim, dtype=wide.dtype), result)
    out = tensor(x, dtype).sum(axis, keepdim=keepdim)
    assert out.dtype is result
    check(out, expected, compiled, 8, f"sum over {axis} of {x.tolist()}")


@given(data=st.data(), dtype=st.sampled_from(dtypes.all), compiled=sometimes)
def test_prod(data, dtype, compiled):
    x = data.draw(arrays(dtype, edges=False, max_size=3))
    axis, keepdim = data.draw(axes_of(x.shape)), data.draw(st.booleans())
    wide = rounded(x, sum_acc_dtype(dtype))
    result = dtype if dtypes.is_float(dtype) else sum_acc_dtype(dtype)
    with np.errstate(all="ignore"):
        expected = rounded(wide.prod(axis, keepdims=keepdim, dtype=wide.dtype), result)
    check(tensor(x, dtype).prod(axis, keepdim), expected, compiled, 8, f"{axis} of {x.tolist()}")


@pytest.mark.parametrize("name", ["max", "min"])
@given(data=st.data(), dtype=st.sampled_from(dtypes.all), compiled=sometimes)
def test_max_and_min(name, data, dtype, compiled):
    x = data.draw(arrays(dtype))
    axis, keepdim = data.draw(axes_of(x.shape)), data.draw(st.booleans())
    t = tensor(x, dtype)
    assume(all(x.shape[a] for a in (range(x.ndim) if axis is None else np.atleast_1d(axis))))
    out = getattr(t, name)(axis, keepdim=keepdim)
    assert out.dtype is dtype
    expected = getattr(x, name)(axis, keepdims=keepdim)
    check(out, expected, compiled, what=f"over {axis} of {x.tolist()}")


@given(data=st.data(), dtype=st.sampled_from(dtypes.all), compiled=sometimes)
def test_any_and_all(data, dtype, compiled):
    x = data.draw(arrays(dtype))
    axis, keepdim = data.draw(axes_of(x.shape)), data.draw(st.booleans())
    check(tensor(x, dtype).any(axis, keepdim), x.astype(bool).any(axis, keepdims=keepdim), compiled)
    check(tensor(x, dtype).all(axis, keepdim), x.astype(bool).all(axis, keepdims=keepdim), compiled)


@given(
    data=st.data(),
    dtype=st.sampled_from((*FLOATS, dtypes.int32, dtypes.uint8, dtypes.bool)),
    compiled=sometimes,
)
def test_mean(data, dtype, compiled):
    x = data.draw(arrays(dtype, edges=False))
    axis, keepdim = data.draw(axes_of(x.shape)), data.draw(st.booleans())
    result = dtype if dtypes.is_float(dtype) else dtypes.float32
    with np.errstate(all="ignore"):
        count = x.size if axis is None else np.prod([x.shape[a] for a in np.atleast_1d(axis)])
        expected = np.float64(x.astype(np.float64).sum(axis, keepdims=keepdim)) / np.float64(count)
    out = tensor(x, dtype).mean(axis, keepdim)
    assert out.dtype is result
    check(out, rounded(expected, result), compiled, 8)


@pytest.mark.filterwarnings(
    "ignore:Degrees of freedom",
    "ignore:Mean of empty",
    "ignore:invalid value",
    "ignore:divide by zero",
)
@given(
    data=st.data(), dtype=st.sampled_from(FLOATS), correction=st.integers(0, 2), compiled=sometimes
)
def test_var_and_std(data, dtype, correction, compiled):
    x = data.draw(arrays(dtype, edges=False, values=floats(False).filter(lambda v: abs(v) < 50)))
    axis, keepdim = data.draw(axes_of(x.shape)), data.draw(st.booleans())
    with np.errstate(all="ignore"):
        mean = x.astype(np.float64).mean(axis, keepdims=True)
        count = x.size if axis is None else np.prod([x.shape[a] for a in np.atleast_1d(axis)])
        squares = ((x.astype(np.float64) - mean) ** 2).sum(axis, keepdims=keepdim)
        expected = np.float64(squares) / np.float64(max(0, count - correction))
    # Where the variance is only what rounding leaves of 0, dividing by 0 gives inf or NaN.
    assume(max(0, count - correction) > 0 or np.all(squares == 0))
    t = tensor(x, dtype)
    check(t.var(axis, keepdim, correction), rounded(expected, dtype), compiled, 400)
    if dtype is not dtypes.float32:
        assume(np.all(np.isnan(expected) | (expected == 0) | (expected > 1e-3)))
        check(
            t.std(axis, keepdim, correction=correction),
            rounded(np.sqrt(expected), dtype),
            compiled,
            400,
        )


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@given(
    data=st.data(),
    dtype=st.sampled_from((*FLOATS, dtypes.int32, dtypes.uint8, dtypes.int64, dtypes.bool)),
    compiled=sometimes,
)
def test_argmax_and_argmin(name, data, dtype, compiled):
    x = data.draw(arrays(dtype, min_size=1))
    axis, keepdim = data.draw(axes_of(x.shape, several=False)), data.draw(st.booleans())
    expected = getattr(np, name)(x, axis, keepdims=keepdim).astype(np.int32)
    out = getattr(tensor(x, dtype), name)(axis, keepdim=keepdim)
    assert out.dtype is dtypes.int32
    check(out, expected, compiled, what=f"over {axis} of {x.tolist()}")


@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
@pytest.mark.parametrize(("shape", "axis", "words"), [
    ((2, 0), 1, " along axis 1 of shape (2, 0)"), ((2, 0), None, " of shape (2, 0)"),
    ((0,), 0, " along axis 0 of shape (0,)"), ((0, 0), -1, " along axis -1 of shape (0, 0)"),
])  # fmt: skip
def test_there_is_no_largest_of_nothing(name, shape, axis, words):
    with pytest.raises(ShapeError, match=re.escape(f"{name}{words}: there are no elements")):
        getattr(Tensor.zeros(shape), name)(axis)


def test_no_result_is_no_largest_of_nothing():
    for name in ("amax", "amin", "argmax", "argmin"):
        assert getattr(Tensor.zeros(0, 2), name)(1).shape == (0,)
    for name in ("amax", "amin"):
        with pytest.raises(ShapeError, match="no element"):
            getattr(Tensor.zeros(0, 2), name)(0)
    assert Tensor.zeros(2, 0).softmax(1).shape == (2, 0)
    assert Tensor.zeros(2, 0).logsumexp(1).tolist() == [-np.inf] * 2


@given(data=st.data(), dtype=st.sampled_from(FLOATS), compiled=sometimes)
def test_softmax_and_its_kin(data, dtype, compiled):
    x = data.draw(arrays(dtype, edges=False, min_ndim=1, min_size=1))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    wide, t = x.astype(np.float64), tensor(x, dtype)
    with np.errstate(all="ignore"):
        p, log = softmax(wide, axis), wide - wide.max(axis, keepdims=True)
        log = log - np.log(np.exp(log).sum(axis, keepdims=True))
        total = (wide - log).take([0], axis)
    check(t.softmax(axis), rounded(p, dtype), compiled, 8)
    check(t.softmin(axis), rounded(softmax(-wide, axis), dtype), scale=8)
    check(t.log_softmax(axis), rounded(log, dtype), compiled, 8)
    check(t.logsumexp(axis, keepdim=True), rounded(total, dtype), compiled, 8)


def test_softmax_has_a_dtype():
    assert Tensor([1, 2]).softmax().dtype is dtypes.float32
    assert Tensor([1.0]).softmax(dtype=dtypes.float64).dtype is dtypes.float64
    assert Tensor([1.0]).log_softmax(dtype="half").dtype is dtypes.half


def test_logsumexp_of_infinities():
    inf = float("inf")
    check(Tensor([-inf, -inf]).logsumexp(), -inf)
    check(Tensor([inf, 1.0]).logsumexp(), inf)
    check(Tensor([1e4, 1e4]).logsumexp(), 1e4 + np.log(2))


def test_keywords_of_numpy_and_pytorch():
    t = Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert t.sum(dim=0, keepdims=True).shape == (1, 2)
    assert t.max(axis=-1, keepdim=True).shape == (2, 1)
    assert t.softmax(dim=0).shape == (2, 2)
    assert t.prod(dim=1).shape == (2,)
    assert t.std(axis=0, correction=0).shape == (2,)


def test_a_sum_of_ints_wraps_around_and_has_room_in_int64():
    x = np.arange(100000, dtype=np.int32)
    assert Tensor.arange(100000).sum().item() == x.sum(dtype=np.int32) == 704982704
    assert Tensor.arange(100000).sum(dtype="int64").item() == x.sum() == 4999950000


def test_sum_in_a_given_dtype():
    t = Tensor([100, 100], dtype=dtypes.int8)
    assert evaluate(t.sum().uop) == 200
    assert t.sum(dtype=dtypes.int64).dtype is dtypes.int64
    assert t.sum(dtype="float").dtype is dtypes.float32
    assert evaluate(t.sum(dtype=dtypes.int8).uop) == -56
    # in half, 2048 + 1 is 2048
    assert evaluate(Tensor.ones(4096, dtype=dtypes.half).sum().uop) == 4096


def test_reducing_nothing_gives_the_identity():
    nothing = Tensor([])
    assert evaluate(nothing.sum().uop) == 0
    assert evaluate(nothing.prod().uop) == 1
    assert np.isnan(evaluate(nothing.mean().uop))
    assert not evaluate(nothing.any().uop)
    assert evaluate(nothing.all().uop)
    check(Tensor.zeros(2, 0).sum(1), [0.0, 0.0], compiled=True)


@pytest.mark.parametrize("axis", [2, -3, (0, 5)])
def test_an_axis_out_of_range_names_the_shape(axis):
    for method in (Tensor.sum, Tensor.max, Tensor.softmax, Tensor.var, Tensor.any):
        with pytest.raises(IndexError, match=r"\(2, 3\)"):
            method(Tensor.ones(2, 3), axis)


def test_an_axis_named_twice_is_refused():
    with pytest.raises(RuntimeError, match="twice"):
        Tensor.ones(2, 3).sum((1, -1))
    with pytest.raises(TypeError):
        Tensor.ones(2, 3).sum(1.0)


# ---- matrix products -----------------------------------------------------------------------------


@st.composite
def factors(draw):
    """Shapes that np.matmul takes."""
    m, k, n = (draw(st.integers(0, 4)) for _ in range(3))
    batch = draw(shapes(max_ndim=2, max_size=3))
    left = tuple(s if draw(st.booleans()) else 1 for s in batch)
    right = tuple(s if draw(st.booleans()) else 1 for s in batch)
    left, right = left[draw(st.integers(0, len(left))) :], right[draw(st.integers(0, len(right))) :]
    x = (k,) if draw(st.booleans()) and not left else (*left, m, k)
    y = (k,) if draw(st.booleans()) and not right else (*right, k, n)
    return x, y


@given(
    data=st.data(),
    dtype=st.sampled_from((*FLOATS, dtypes.int32, dtypes.int8, dtypes.uint64, dtypes.bool)),
    compiled=sometimes,
)
def test_matmul(data, dtype, compiled):
    left, right = data.draw(factors())
    x, y = data.draw(arrays(dtype, left, edges=False)), data.draw(arrays(dtype, right, edges=False))
    out = tensor(x, dtype) @ tensor(y, dtype)
    assert out.dtype is dtype
    wide = [a.astype(np.float64) if dtypes.is_float(dtype) else a for a in (x, y)]
    check(out, rounded(np.matmul(*wide), dtype), compiled, 200, f"{left} @ {right}")


def test_matmul_has_other_names():
    x, y = Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])
    for out in (x @ y, x.dot(y), x.matmul(y), Tensor.matmul(x, y), y.matmul(x, reverse=True)):
        check(out, [[11.0]])
    assert x.matmul(y, dtype=dtypes.float64).dtype is dtypes.float64
    assert (Tensor([[1]]) @ x).dtype is dtypes.float32


@pytest.mark.parametrize(
    "left, right",
    [((2, 3), (2, 3)), ((3,), (4,)), ((2, 3), (4, 2)), ((), (2,)), ((2, 2, 3), (3, 3, 2))],
)
def test_factors_that_do_not_fit_are_both_named(left, right):
    with pytest.raises(RuntimeError) as error:
        Tensor.ones(*left) @ Tensor.ones(*right)
    assert str(left) in str(error.value) or "broadcast" in str(error.value)


def test_matmul_by_a_number_is_refused():
    with pytest.raises(RuntimeError, match="at least one axis"):
        Tensor.ones(2, 2) @ 2
