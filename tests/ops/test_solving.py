"""Linear systems: NumPy's values, what singular matrices give, dtypes, jits, and errors."""

from __future__ import annotations

import numpy as np
import pytest

from tests.values import assert_close
from tinyframe import Tensor, TinyJit, dtypes


def matrix(*shape, seed=0, dtype=np.float32):
    a = np.random.default_rng((seed, *shape)).normal(size=shape) + 3 * np.eye(shape[-1])
    return a.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (2, 3, 3), (0, 0), (0, 3, 3)], ids=str)
def test_the_same_as_numpy(shape, dtype):
    a = matrix(*shape, dtype=dtype)
    x = Tensor(a)
    pairs = [(x.inverse(), np.linalg.inv(a)), (x.det(), np.linalg.det(a)),
             *zip(x.slogdet(), np.linalg.slogdet(a), strict=True),
             (x.solve(x.sum(-1, keepdim=True)), np.linalg.solve(a, a.sum(-1, keepdims=True))),
             ((x @ x.mT).cholesky(), np.linalg.cholesky(a @ np.swapaxes(a, -1, -2)))]  # fmt: skip
    for found, expected in pairs:
        assert found.dtype is x.dtype
        assert_close(found.numpy() / 10, np.asarray(expected) / 10, x.dtype, 20)


def test_a_system_broadcasts_its_axes_in_front():
    a, b = matrix(4, 4), matrix(3, 1, 4, 4)[..., :2]
    assert_close(Tensor(a).solve(Tensor(b)).numpy(), np.linalg.solve(a, b), dtypes.float32, 10)
    batch = matrix(3, 4, 4)
    found = Tensor(batch).solve(Tensor(b[0, 0])).numpy()
    assert_close(found, np.linalg.solve(batch, b[0, 0]), dtypes.float32, 10)


def test_what_has_no_inverse_gives_nan_and_leaves_the_others_of_a_batch_alone():
    a = np.stack([matrix(2, 2), np.array([[1, 2], [2, 4]]), np.diag([2, 5])]).astype(np.float32)
    found = Tensor(a).inverse().numpy()
    assert np.isnan(found[1]).all()
    assert_close(found[[0, 2]], np.linalg.inv(a[[0, 2]]), dtypes.float32, 10)
    factor = Tensor([[[1.0, 2], [2, 1]], [[4, 2], [2, 5]]]).cholesky().numpy()
    assert np.isnan(factor[0]).any()
    assert_close(factor[1], np.linalg.cholesky([[4, 2], [2, 5]]), dtypes.float32)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinities_do_not_come_out_as_numbers(bad):
    x = Tensor([[1.0, bad], [3, 4]])
    assert not np.isfinite(x.det().item())
    assert np.isnan(x.inverse().numpy()).any()


def test_ints_and_narrow_floats():
    x = Tensor([[2, 1], [1, 3]])
    assert x.inverse().dtype is x.det().dtype is x.cholesky().dtype is dtypes.float32
    for dtype in (dtypes.half, dtypes.bfloat16):
        found = x.cast(dtype).inverse()
        assert found.dtype is dtype
        assert_close(found.numpy(), np.array([[0.6, -0.2], [-0.2, 0.4]], np.float32), dtype)


def test_a_jit_solves_anew_each_time():
    @TinyJit
    def solved(a, b):
        return a.solve(b), a.det()

    for seed in range(4):
        a, b = matrix(3, 3, seed=seed), matrix(3, 3, seed=seed + 10)
        x, d = solved(Tensor(a).realize(), Tensor(b).realize())
        assert_close(x.numpy(), np.linalg.solve(a, b), dtypes.float32, 10)
        assert_close(d.numpy() / 10, np.linalg.det(a) / 10, dtypes.float32, 10)


def test_the_interpreter_agrees():
    a = matrix(3, 3)
    found = Tensor(a, device="PYTHON").inverse()
    assert found.device == "PYTHON"
    assert_close(found.numpy(), np.linalg.inv(a), dtypes.float32, 10)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Tensor.ones(2, 3).inverse(), "inverse takes square matrices"),
        (lambda: Tensor.ones(3).det(), "not shape (3,)"),
        (lambda: Tensor.ones(2, 3).slogdet(), "(2, 3)"),
        (lambda: Tensor.ones(2, 3).cholesky(), "cholesky"),
        (lambda: Tensor.eye(3).solve(Tensor.ones(4, 2)), "takes B (…, 3, k), not (4, 2)"),
        (lambda: Tensor.eye(3).solve(Tensor.ones(4)), "not (4,)"),
        (lambda: Tensor.ones(2, 3, 3).solve(Tensor.ones(4, 3, 1)), "do not broadcast"),
        (lambda: Tensor.eye(3).solve_triangular(Tensor.ones(2, 4), upper=True, left=False),
         "takes B (…, k, 3), not (2, 4)"),
    ],
)  # fmt: skip
def test_shapes_that_do_not_fit_are_named(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    assert words in str(caught.value)
