"""Reductions and matrix products agree with NumPy, over generated shapes, axes and dtypes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.reference import evaluate, rounded, softmax
from tests.values import FLOATS, arrays, check, floats, shapes, sometimes, tensor
from tinyframe import Tensor, dtypes
from tinyframe.dtype import DType, sum_acc_dtype
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


def summed(dtype: DType) -> DType:
    return dtype if dtypes.is_float(dtype) else sum_acc_dtype(dtype)


def added_up(name: str) -> Callable[..., np.ndarray]:
    """NumPy's sum or product, in the dtype that it is taken in."""

    def function(x: np.ndarray, dtype: DType, **options: Any) -> np.ndarray:
        wide = rounded(x, sum_acc_dtype(dtype))
        return getattr(wide, name)(dtype=wide.dtype, **options)

    return function


def mean_of(x: np.ndarray, dtype: DType, axis: Any, keepdims: bool) -> np.ndarray:
    count = x.size if axis is None else np.prod([x.shape[a] for a in np.atleast_1d(axis)])
    return np.float64(x.astype(np.float64).sum(axis, keepdims=keepdims)) / np.float64(count)


def method(name: str) -> Callable[..., np.ndarray]:
    return lambda x, dtype, **options: getattr(x, name)(**options)


def truth(name: str) -> Callable[..., np.ndarray]:
    return lambda x, dtype, **options: getattr(x.astype(bool), name)(**options)


class Reduce(NamedTuple):
    """numpy: the same of an array of that dtype. result: the dtype that it has."""

    numpy: Callable[..., np.ndarray]
    result: Callable[[DType], DType] = lambda dtype: dtype
    scale: float = 1
    dtypes: Sequence[DType] = dtypes.all
    edges: Callable[[DType], bool] = lambda dtype: True
    of_nothing: bool = True
    several: bool = True


REDUCES = {
    "sum": Reduce(added_up("sum"), summed, 8, edges=lambda d: not dtypes.is_float(d)),
    "prod": Reduce(added_up("prod"), summed, 8, edges=lambda d: False),
    "mean": Reduce(mean_of, lambda d: d if dtypes.is_float(d) else dtypes.float32, 8,
                   (*FLOATS, dtypes.int32, dtypes.uint8, dtypes.bool), lambda d: False),
    "max": Reduce(method("max"), of_nothing=False),
    "min": Reduce(method("min"), of_nothing=False),
    "any": Reduce(truth("any"), lambda d: dtypes.bool),
    "all": Reduce(truth("all"), lambda d: dtypes.bool),
    "argmax": Reduce(method("argmax"), lambda d: dtypes.int32, of_nothing=False, several=False),
    "argmin": Reduce(method("argmin"), lambda d: dtypes.int32, of_nothing=False, several=False),
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCES)
@given(data=st.data(), keepdim=st.booleans(), compiled=sometimes)
def test_reduce(name, data, keepdim, compiled):
    row = REDUCES[name]
    dtype = data.draw(st.sampled_from(row.dtypes))
    size = {"max_size": 3} if name == "prod" else {}
    x = data.draw(arrays(dtype, edges=row.edges(dtype), **size))
    axis = data.draw(axes_of(x.shape, row.several))
    reduced = range(x.ndim) if axis is None else np.atleast_1d(axis)
    assume(row.of_nothing or all(x.shape[a] for a in reduced))
    assume(row.several or x.size)
    out, result = getattr(tensor(x, dtype), name)(axis, keepdim=keepdim), row.result(dtype)
    with np.errstate(all="ignore"):
        expected = rounded(row.numpy(x, dtype, axis=axis, keepdims=keepdim), result)
    assert out.dtype is result
    check(out, expected, compiled, row.scale, f"{name} over {axis} of {x.tolist()}")


@pytest.mark.filterwarnings("ignore:Mean of empty", "ignore:invalid value", "ignore:divide by zero")
@given(data=st.data(), dtype=st.sampled_from(FLOATS), correction=st.integers(0, 2),
       compiled=sometimes)  # fmt: skip
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
        expected = rounded(np.sqrt(expected), dtype)
        check(t.std(axis, keepdim, correction=correction), expected, compiled, 400)


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


@pytest.mark.parametrize("call", [
    "t.sum(dim=0, keepdims=True)", "t.max(axis=-1, keepdim=True)", "t.softmax(dim=0)",
    "t.prod(dim=1)", "t.std(axis=0, correction=0)",
])  # fmt: skip
def test_keywords_of_numpy_and_pytorch(call):
    shapes = {"sum": (1, 3), "max": (2, 1), "softmax": (2, 3), "prod": (2,), "std": (3,)}
    assert eval(call, {"t": Tensor.ones(2, 3)}).shape == shapes[re.findall(r"\w+", call)[1]]


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
