"""Reductions, softmax and matrix products, and their gradients, agree with PyTorch; so do ties."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.against_torch import rows_of
from tests.values import arrays, check, check_all, sometimes
from tinyframe import Tensor

F = torch.nn.functional
TIES = st.sampled_from((0.0, -0.0, 1.0, 1.0, 2.0, -3.0))

# name: (ours, PyTorch's, scale); each takes (x, axis, keepdim)
REDUCES = {
    "sum": (Tensor.sum, torch.sum, 4),
    "mean": (Tensor.mean, torch.mean, 4),
    "max": (Tensor.max, torch.amax, 1),
    "min": (Tensor.min, torch.amin, 1),
    "prod": (Tensor.prod, torch.prod, 4),
    "var": (Tensor.var, torch.var, 20),
    "std": (Tensor.std, torch.std, 20),
    "logsumexp": (Tensor.logsumexp, torch.logsumexp, 4),
}

# each takes (x, axis)
ALONG = {
    "softmax": (Tensor.softmax, torch.softmax, 4),
    "log_softmax": (Tensor.log_softmax, torch.log_softmax, 4),
    "softmin": (Tensor.softmin, lambda x, axis: F.softmin(x, dim=axis), 4),
}


def assert_agree(ours, theirs, inputs, scale, compiled, what):
    check_all(rows_of(ours, theirs, inputs, inputs, scale, what), compiled)


@pytest.mark.parametrize("name", REDUCES)
@given(data=st.data(), keepdim=st.booleans(), compiled=sometimes)
def test_reduce_and_gradient(name, data, keepdim, compiled):
    ours, theirs, scale = REDUCES[name]
    # a variance of one element is NaN, and so is its gradient
    least = 2 if name in ("var", "std") else 1
    x = data.draw(arrays(min_ndim=1, min_size=least, values=TIES))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    assert_agree(lambda t: ours(t, axis, keepdim), lambda t: theirs(t, axis, keepdim=keepdim), [x],
                 scale, compiled, f"{name} over {axis} of {x.tolist()}")  # fmt: skip


@pytest.mark.parametrize("name", ALONG)
@given(data=st.data(), compiled=sometimes)
def test_softmax_and_gradient(name, data, compiled):
    ours, theirs, scale = ALONG[name]
    x = data.draw(arrays(min_ndim=1, min_size=1, edges=False))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    assert_agree(
        lambda t: ours(t, axis),
        lambda t: theirs(t, axis),
        [x],
        scale,
        compiled,
        f"{name} {x.tolist()}",
    )


@given(data=st.data(), compiled=sometimes)
def test_matmul_and_gradient(data, compiled):
    m, k, n = (data.draw(st.integers(1, 4)) for _ in range(3))
    left, right = data.draw(st.sampled_from([
        ((k,), (k,)), ((m, k), (k,)), ((k,), (k, n)), ((m, k), (k, n)), ((2, m, k), (k, n)),
        ((m, k), (2, k, n)), ((2, 1, m, k), (3, k, n))]))  # fmt: skip
    small = st.floats(-4, 4, width=16)
    inputs = [data.draw(arrays(shape=s, values=small)) for s in (left, right)]
    assert_agree(lambda x, y: x @ y, lambda x, y: x @ y, inputs, 10, compiled, f"{left} @ {right}")


def test_a_convolution_beside_infinities_in_its_padding():
    # 0 * inf is NaN, in the padding of PyTorch's convolution too
    x, w = np.ones((1, 1, 3, 3), np.float32), np.full((1, 1, 3, 3), np.inf, np.float32)
    expected = F.conv2d(torch.tensor(x), torch.tensor(w), padding=1).numpy()
    check(Tensor(x).conv2d(Tensor(w), padding=1), expected, compiled=True)
