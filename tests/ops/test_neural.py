"""What networks are made of: against NumPy, in other dtypes, and what does not fit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.values import check
from tinyframe import Tensor, dtypes


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


# ---- windows -------------------------------------------------------------------------------------


def test_the_gradients_of_a_convolution_are_convolutions():
    x, w = (Tensor(normal(*s), requires_grad=True).realize() for s in ((2, 3, 8, 8), (4, 3, 3, 3)))
    out = x.conv2d(w)
    flowing = Tensor(normal(*out.shape)).realize()
    grads = out.gradient(x, w, gradient=flowing)
    kernels = grads[0].schedule(grads[1])
    assert len(kernels) == 2, "one loop nest for each, with nothing stored between"


def test_max_pool_of_ints_and_its_indices():
    x = np.arange(24).reshape(1, 1, 4, 6)[..., ::-1].copy()
    values, indices = Tensor(x).cast("int8").max_pool2d(2, return_indices=True)
    check(values, x[:, :, 1::2, ::2], True)
    check(indices, np.array([[[[6, 8, 10], [18, 20, 22]]]]), True)
    assert values.dtype is dtypes.int8 and indices.dtype is dtypes.int32


def test_a_window_with_nothing_but_padding_has_a_position_that_there_is_not():
    options = {"kernel_size": 2, "dilation": 2, "padding": 1}
    for axes in (1, 2, 3):
        pool = getattr(Tensor.ones(*[1] * (axes + 2)), f"max_pool{axes}d")
        assert [x.item() for x in pool(**options, return_indices=True)] == [-np.inf, 1]
    pooled, places = Tensor.ones(1, 1, 1, 1).max_pool2d(**options, return_indices=True)
    assert pooled.max_unpool2d(places, output_size=(1, 1)).item() == 0


def test_a_nan_stays_where_it_is_when_resized():
    x = normal(1, 1, 4, 4)
    x[0, 0, 0, 0] = np.nan
    for mode in ("nearest", "linear"):
        found = Tensor(x).interpolate((8, 8), mode).numpy()
        assert np.isnan(found[0, 0, 0, 0]) and np.isfinite(found[0, 0, 4:, 4:]).all()


def test_one_size_resizes_one_axis():
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    check(Tensor(x).interpolate(2), np.float32([[0.5, 2.5], [4.5, 6.5]]), True)
    check(Tensor(x).interpolate((8,), "nearest"), x.repeat(2, 1), True)
    check(Tensor(x).interpolate((4,), "cubic"), x)


# ---- layers --------------------------------------------------------------------------------------


def test_linear_with_a_bias_and_of_a_vector_which_multiplies_element_by_element():
    x, w, b = normal(2, 3), normal(3, 5), normal(5)
    check(Tensor(x).linear(Tensor(w), Tensor(b)), x @ w + b, scale=4)
    check(Tensor(x).linear(Tensor(w[:, 0]), Tensor(b[:3])), x * w[:, 0] + b[:3], scale=4)
    assert Tensor(x).linear(Tensor(w), dtype="half").dtype is dtypes.half


def test_embedding_takes_rows_and_nan_for_those_that_there_are_not():
    w = normal(4, 3)
    found = (Tensor([[0, 3], [1, 9]]) + 0).embedding(Tensor(w))
    expected = np.concatenate([w, np.full((6, 3), np.nan, np.float32)])[[[0, 3], [1, 9]]]
    check(found, expected, True)


def test_dropout_keeps_the_mean_in_training_and_everything_outside():
    Tensor.manual_seed(0)
    x = Tensor.ones(100, 100, requires_grad=True)
    assert x.dropout(0.3).uop is x.uop
    with Tensor.train():
        out = x.dropout(0.3)
        assert x.dropout(0).uop is x.uop
        assert (x.dropout(1).numpy() == 0).all()
        another = x.dropout(0.3).numpy()
    (grad,) = out.sum().gradient(x)
    values = out.numpy()
    np.testing.assert_allclose(np.unique(values), [0, 1 / 0.7], rtol=1e-6)
    assert abs(values.mean() - 1) < 0.05 and (values != another).any()
    np.testing.assert_array_equal(grad.numpy(), values)
    for p in (-0.1, 1.5):
        with pytest.raises(ValueError):
            x.dropout(p)


# ---- attention -----------------------------------------------------------------------------------


def test_a_query_that_sees_nothing_gets_zeros_and_finite_gradients():
    q, k, v = (Tensor(normal(2, 3, 4) * n, requires_grad=True) for n in (1, 2, 3))
    mask = Tensor([[True, False, True], [False, False, False], [True, True, True]])
    out = q.scaled_dot_product_attention(k, v, mask)
    assert (out.numpy()[:, 1] == 0).all()
    for grad in out.sum().gradient(q, k, v):
        assert np.isfinite(grad.numpy()).all()


def test_attention_drops_weights_in_training_only():
    Tensor.manual_seed(0)
    q, k, v = (Tensor(normal(1, 8, 4)) for _ in range(3))
    plain = q.scaled_dot_product_attention(k, v).numpy()
    np.testing.assert_array_equal(
        q.scaled_dot_product_attention(k, v, dropout_p=0.5).numpy(), plain
    )
    with Tensor.train():
        dropped = q.scaled_dot_product_attention(k, v, dropout_p=0.5).numpy()
    assert not np.allclose(dropped, plain)
