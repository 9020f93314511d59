"""Norms, attention, embedding and matrix products agree with PyTorch, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.against_torch import assert_agree, normal, seeds
from tests.values import sometimes
from tinyframe import Tensor

F = torch.nn.functional
X, W = (3, 4, 5), (4, 5)

NORMS = {
    "layernorm": (Tensor.layernorm, lambda x: F.layer_norm(x, (5,)), [X]),
    "layernorm of two axes": (
        lambda x, w, b: x.layernorm((-2, -1), 1e-3, w, b),
        lambda x, w, b: F.layer_norm(x, W, w, b, 1e-3), [X, W, W],
    ),
    "groupnorm": (
        lambda x, w, b: x.groupnorm(2, w, b), lambda x, w, b: F.group_norm(x, 2, w, b),
        [X, (4,), (4,)],
    ),
    "rms_norm": (
        lambda x, w: x.rms_norm(weight=w), lambda x, w: F.rms_norm(x, (5,), w, 1e-6), [X, (5,)],
    ),
    "batchnorm": (
        lambda x, w, b: x.batchnorm(
            w, b, x.mean((0, 2)), (x.var((0, 2), correction=0) + 1e-5).rsqrt()
        ),
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), [X, (4,), (4,)],
    ),
    "normalize": (Tensor.normalize, F.normalize, [X]),
    "normalize by the 1-norm": (
        lambda x: x.normalize(1, 2), lambda x: F.normalize(x, 1, 2), [X]
    ),
    "normalize by the 3-norm": (
        lambda x: x.normalize(3.0, -1), lambda x: F.normalize(x, 3.0, -1), [X]
    ),
    "softmin": (lambda x: x.softmin(1), lambda x: F.softmin(x, 1), [X]),
    "embedding": (
        lambda w: Tensor([[1, 2, 0], [3, 3, 1]]).embedding(w),
        lambda w: F.embedding(torch.tensor([[1, 2, 0], [3, 3, 1]]), w), [W],
    ),
    "linear": (
        lambda x, w, b: x.linear(w, b), lambda x, w, b: F.linear(x, w.T, b), [X, (5, 6), (6,)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NORMS)
@given(seed=seeds, compiled=sometimes)
@settings(max_examples=4)
def test_function_of_layers(name, seed, compiled):
    ours, theirs, shapes = NORMS[name]
    inputs = [normal(seed + number, *shape) for number, shape in enumerate(shapes)]
    assert_agree(ours, theirs, inputs, compiled, 100, name)


@pytest.mark.parametrize("dtype", ["half", "bfloat16"])
def test_norm_of_narrow_floats_is_rounded_once(dtype):
    x = Tensor(normal(0, 4, 64) * 100).cast(dtype)
    expected = F.layer_norm(torch.tensor(x.double().numpy()), (64,)).numpy()
    bits = {"half": 11, "bfloat16": 8}[dtype]
    ours = x.layernorm()
    assert ours.dtype is x.dtype
    assert abs(ours.double().numpy() - expected).max() <= 4 * 2.0**-bits


# ---- attention -----------------------------------------------------------------------------------


@st.composite
def attentions(draw):
    queries, keys, size, out = (draw(st.integers(1, 5)) for _ in range(4))
    groups = draw(st.integers(1, 2))
    heads = groups * draw(st.integers(1, 2))
    return (2, heads, queries, size), (2, groups, keys, size), (2, groups, keys, out)


@given(shapes=attentions(), seed=seeds, kind=st.sampled_from(("none", "causal", "bool", "add")),
       compiled=sometimes)  # fmt: skip
@settings(max_examples=30)
def test_attention(shapes, seed, kind, compiled):
    query, key, _ = shapes
    inputs = [normal(seed + number, *shape) for number, shape in enumerate(shapes)]
    options = {"enable_gqa": True, "is_causal": kind == "causal"}
    mask = np.random.default_rng(seed).random((query[2], key[2]))
    if kind == "bool":
        hidden = mask > 0.5
        assert_agree(
            lambda q, k, v: q.scaled_dot_product_attention(k, v, Tensor(hidden), **options),
            lambda q, k, v: F.scaled_dot_product_attention(
                q, k, v, torch.tensor(hidden), **options
            ),
            inputs, compiled, 100,
        )  # fmt: skip
        return
    extra = [mask.astype(np.float32)] if kind == "add" else []
    assert_agree(
        lambda q, k, v, *m: q.scaled_dot_product_attention(k, v, *m, **options),
        lambda q, k, v, *m: F.scaled_dot_product_attention(q, k, v, *m, **options),
        inputs + extra, compiled, 100, f"{kind} {shapes}",
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [None, "double"])
def test_matmul_of_half_is_summed_up_in_a_wider_dtype(dtype):
    x, y = (Tensor(normal(number, 4, 300)).half() for number in (1, 2))
    expected = x.double().numpy() @ y.double().numpy().T
    found = x.matmul(y.T, dtype=dtype)
    assert found.dtype.name == ("double" if dtype else "half")
    np.testing.assert_allclose(found.double().numpy(), expected, rtol=1e-12 if dtype else 6e-4)
