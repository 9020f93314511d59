"""Reductions, softmax and matrix products, and their gradients, agree with PyTorch; so do ties."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

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
    """The results and the gradients of a weighted sum of them are those of PyTorch."""
    mine = [Tensor(a, requires_grad=True) for a in inputs]
    other = [torch.tensor(a, requires_grad=True) for a in inputs]
    out, expected = ours(*mine), theirs(*other)
    weights = np.linspace(0.5, 1.5, out.numel(), dtype=np.float32).reshape(out.shape)
    expected.backward(torch.tensor(weights))
    rows = [(out, expected.detach().numpy(), scale, what)]
    for grad, t in zip(out.gradient(*mine, gradient=Tensor(weights)), other, strict=True):
        rows.append((grad, t.grad.numpy(), 4 * scale, f"gradient of {what}"))
    check_all(rows, compiled)


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


@given(data=st.data(), compiled=sometimes)
def test_conv2d_and_gradient(data, compiled):
    groups = data.draw(st.sampled_from((1, 2)))
    stride, dilation, padding = (data.draw(st.integers(lo, 2)) for lo in (1, 1, 0))
    small = st.floats(-2, 2, width=16)
    x = data.draw(arrays(shape=(2, 2 * groups, 6, 5), values=small))
    w = data.draw(arrays(shape=(2 * groups, 2, 2, 3), values=small))
    bias = data.draw(arrays(shape=(2 * groups,), values=small))
    options = {"stride": stride, "dilation": dilation, "padding": padding, "groups": groups}
    ours, theirs = lambda *a: a[0].conv2d(*a[1:], **options), lambda *a: F.conv2d(*a, **options)
    assert_agree(ours, theirs, [x, w, bias], 20, compiled, str(options))


def test_a_convolution_beside_infinities_in_its_padding():
    # 0 * inf is NaN, in the padding of PyTorch's convolution too
    x, w = np.ones((1, 1, 3, 3), np.float32), np.full((1, 1, 3, 3), np.inf, np.float32)
    expected = F.conv2d(torch.tensor(x), torch.tensor(w), padding=1).numpy()
    check(Tensor(x).conv2d(Tensor(w), padding=1), expected, compiled=True)


def network(x, w1, b1, w2, b2, softmax):
    hidden = (x @ w1 + b1).relu()
    return -(softmax(hidden @ w2 + b2)[:, :2]).mean()


@given(data=st.data(), compiled=sometimes)
def test_a_small_network_and_its_gradients(data, compiled):
    small = st.floats(-2, 2, width=16)
    inputs = [
        data.draw(arrays(shape=s, values=small)) for s in ((4, 3), (3, 5), (5,), (5, 3), (3,))
    ]
    ours = partial(network, softmax=Tensor.log_softmax)
    theirs = partial(network, softmax=partial(torch.log_softmax, dim=-1))
    assert_agree(ours, theirs, inputs, 10, compiled, "network")


@given(data=st.data(), compiled=sometimes)
def test_second_gradients(data, compiled):
    x = data.draw(arrays(shape=(5,), values=st.floats(-3, 3, width=16)))
    for ours, theirs in [
        (Tensor.tanh, torch.tanh),
        (Tensor.sigmoid, torch.sigmoid),
        (Tensor.silu, F.silu),
        (Tensor.softmax, partial(torch.softmax, dim=-1)),
        (Tensor.prod, torch.prod),
        (Tensor.logsumexp, partial(torch.logsumexp, dim=0)),
    ]:
        mine, other = Tensor(x), torch.tensor(x, requires_grad=True)
        (first,) = (ours(mine) ** 2).sum().gradient(mine)
        (expected,) = torch.autograd.grad((theirs(other) ** 2).sum(), other, create_graph=True)
        (second,) = (first * first).sum().gradient(mine)
        (wanted,) = torch.autograd.grad((expected * expected).sum(), other)
        check(
            second,
            wanted.numpy(),
            compiled and ours is Tensor.tanh,
            2e3,
            f"{ours.__name__} of {x.tolist()}",
        )
