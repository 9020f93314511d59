"""Norms, attention, embedding and matrix products agree with PyTorch, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.against_torch import assert_agree, assert_same_call, normal, seeds
from tests.values import sometimes
from tinyframe import Tensor

F = torch.nn.functional
X, W = (3, 4, 5), (4, 5)
TOKENS = np.array([[1, 2, 0], [3, 3, 1]])

NORMS = {
    "layernorm": (Tensor.layernorm, lambda x: F.layer_norm(x, (5,)), [X]),
    "layernorm of two axes": (
        lambda x, w, b: x.layernorm((-2, -1), 1e-3, w, b),
        lambda x, w, b: F.layer_norm(x, W, w, b, 1e-3), [X, W, W]),
    "groupnorm": (
        lambda x, w, b: x.groupnorm(2, w, b), lambda x, w, b: F.group_norm(x, 2, w, b),
        [X, (4,), (4,)]),
    "rms_norm": (
        lambda x, w: x.rms_norm(weight=w), lambda x, w: F.rms_norm(x, (5,), w, 1e-6), [X, (5,)]),
    "batchnorm": (
        lambda x, w, b: x.batchnorm(
            w, b, x.mean((0, 2)), (x.var((0, 2), correction=0) + 1e-5).rsqrt()),
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), [X, (4,), (4,)]),
    "embedding": (
        lambda w: Tensor(TOKENS).embedding(w), lambda w: F.embedding(torch.tensor(TOKENS), w), [W]),
}  # fmt: skip


@pytest.mark.parametrize("name", NORMS)
@given(seed=seeds, compiled=sometimes)
@settings(max_examples=4)
def test_function_of_layers(name, seed, compiled):
    ours, theirs, shapes = NORMS[name]
    inputs = [normal(seed + number, *shape) for number, shape in enumerate(shapes)]
    assert_agree(ours, theirs, inputs, compiled, 100, name)


@pytest.mark.parametrize(("dtype", "bits"), [("half", 11), ("bfloat16", 8)])
def test_norm_of_narrow_floats_is_rounded_once(dtype, bits):
    x = Tensor(normal(0, 4, 64) * 100).cast(dtype)
    expected = F.layer_norm(torch.tensor(x.double().numpy()), (64,)).numpy()
    ours = x.layernorm()
    assert ours.dtype is x.dtype
    assert abs(ours.double().numpy() - expected).max() <= 4 * 2.0**-bits


# ---- attention -----------------------------------------------------------------------------------


@given(data=st.data(), seed=seeds, kind=st.sampled_from(("none", "causal", "bool", "add")),
       compiled=sometimes)  # fmt: skip
@settings(max_examples=30)
def test_attention(data, seed, kind, compiled):
    queries, keys, size, out = (data.draw(st.integers(1, 5)) for _ in range(4))
    groups, repeated = (data.draw(st.integers(1, 2)) for _ in range(2))
    shapes = (2, groups * repeated, queries, size), (2, groups, keys, size), (2, groups, keys, out)
    inputs = [normal(seed + number, *shape) for number, shape in enumerate(shapes)]
    mask = np.random.default_rng(seed).random((queries, keys)).astype(np.float32)
    assert_same_call(
        "scaled_dot_product_attention", inputs + [mask] * (kind == "add"),
        *[mask > 0.5] * (kind == "bool"), is_causal=kind == "causal", enable_gqa=True,
        compiled=compiled, scale=100,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [None, "double"])
def test_matmul_of_half_is_summed_up_in_a_wider_dtype(dtype):
    x, y = (Tensor(normal(number, 4, 300)).half() for number in (1, 2))
    expected = x.double().numpy() @ y.double().numpy().T
    found = x.matmul(y.T, dtype=dtype)
    assert found.dtype.name == ("double" if dtype else "half")
    np.testing.assert_allclose(found.double().numpy(), expected, rtol=1e-12 if dtype else 6e-4)
