"""Pooling, unpooling and interpolation agree with PyTorch, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.against_torch import assert_agree, normal, seeds
from tests.values import sometimes
from tinyframe import Tensor, dtypes

F = torch.nn.functional


@st.composite
def poolings(draw, dilated: bool):
    """Sizes and options that fit each other."""
    axes = draw(st.sampled_from((1, 2, 2, 3)))
    numbers = [
        [draw(st.integers(low, high)) for _ in range(axes)]
        for low, high in ((1, 3), (1, 3), (1, 2 if dilated else 1), (0, 4))
    ]
    kernel, stride, dilation, more = numbers
    padding = [draw(st.integers(0, k // 2)) for k in kernel]
    size = [m + d * (k - 1) + 1 for m, d, k in zip(more, dilation, kernel, strict=True)]
    options = {"stride": stride, "padding": padding, "ceil_mode": draw(st.booleans())}
    if dilated:
        options["dilation"] = dilation
    return axes, (2, *size), tuple(kernel), options


OURS = {
    "max": {1: Tensor.max_pool1d, 2: Tensor.max_pool2d, 3: Tensor.max_pool3d},
    "avg": {1: Tensor.avg_pool1d, 2: Tensor.avg_pool2d, 3: Tensor.avg_pool3d},
}
THEIRS = {
    "max": {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d},
    "avg": {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d},
}


@given(case=poolings(dilated=True), seed=seeds, indices=st.booleans(), compiled=sometimes)
@settings(max_examples=30)
def test_max_pool(case, seed, indices, compiled):
    axes, shape, kernel, options = case
    options["return_indices"] = indices
    assert_agree(
        lambda x: OURS["max"][axes](x, kernel, **options),
        lambda x: THEIRS["max"][axes](x, kernel, **options),
        [normal(seed, *shape)], compiled, what=str(case),
    )  # fmt: skip


def test_equal_elements_share_the_gradient_of_their_maximum():
    def gradients(pool, others):
        t = Tensor([[[1.0, 1.0], [1.0, 0.0]]], requires_grad=True)
        p = torch.tensor(t.numpy(), requires_grad=True)
        (theirs,) = torch.autograd.grad(others(p).sum(), p)
        return pool(t).sum().gradient(t)[0].numpy()[0], theirs.numpy()[0]

    ours, pytorch = gradients(lambda t: t.max_pool2d(2), lambda p: F.max_pool2d(p, 2))
    np.testing.assert_allclose(ours, [[1 / 3, 1 / 3], [1 / 3, 0]], rtol=1e-6)
    np.testing.assert_array_equal(pytorch, [[1, 0], [0, 0]])
    np.testing.assert_allclose(ours, gradients(Tensor.max, torch.Tensor.amax)[1], rtol=1e-6)


@given(case=poolings(dilated=False), seed=seeds, included=st.booleans(), compiled=sometimes)
@settings(max_examples=20)
def test_avg_pool(case, seed, included, compiled):
    axes, shape, kernel, options = case
    options["count_include_pad"] = included
    assert_agree(
        lambda x: OURS["avg"][axes](x, kernel, **options),
        lambda x: THEIRS["avg"][axes](x, kernel, **options),
        [normal(seed, *shape)], compiled, what=str(case),
    )  # fmt: skip


def test_max_pool_of_infinities_and_nan():
    x = np.array([[[-np.inf, -np.inf, 3, np.nan], [-np.inf, -np.inf, 7, 7]]], np.float32)
    assert_agree(
        lambda x: x.max_pool2d(2, padding=1, stride=1, return_indices=True),
        lambda x: F.max_pool2d(x, 2, padding=1, stride=1, return_indices=True),
        [x], compiled=True, gradient=False,
    )  # fmt: skip


@given(h=st.integers(2, 5), w=st.integers(2, 5), stride=st.integers(1, 2), compiled=sometimes)
@settings(max_examples=15)
def test_max_unpool(h, w, stride, compiled):
    _, indices = F.max_pool2d(torch.tensor(normal(0, 2, 2, h, w)), 2, stride, return_indices=True)
    if stride == 1:  # an element that is the largest of two windows has one value there
        pooled = F.max_pool2d(torch.tensor(normal(0, 2, 2, h, w)), 2, stride).numpy()
    else:
        pooled = normal(1, *indices.shape)
    ours = Tensor(indices.numpy().astype(np.int32))
    assert_agree(
        lambda x: x.max_unpool2d(ours, 2, stride, output_size=(h, w)),
        lambda x: F.max_unpool2d(x, indices, 2, stride, output_size=(h, w)),
        [pooled], compiled, gradient=stride == 2,
    )  # fmt: skip


def test_max_unpool_to_the_smallest_size_that_fits():
    x = torch.tensor(normal(0, 1, 2, 6, 9))
    values, indices = F.max_pool2d(x, (2, 3), return_indices=True)
    assert_agree(
        lambda v: v.max_unpool2d(Tensor(indices.numpy()), (2, 3)),
        lambda v: F.max_unpool2d(v, indices, (2, 3)),
        [values.numpy()], compiled=True,
    )  # fmt: skip


# ---- interpolation -------------------------------------------------------------------------------

NAMES = {
    ("linear", 1): "linear", ("linear", 2): "bilinear", ("linear", 3): "trilinear",
    ("cubic", 2): "bicubic",
}  # fmt: skip


@st.composite
def resizings(draw):
    mode, axes = draw(st.sampled_from((
        ("nearest", 1), ("nearest", 2), ("nearest-exact", 2), ("nearest-exact", 3),
        ("linear", 1), ("linear", 2), ("linear", 3), ("cubic", 2),
    )))  # fmt: skip
    old, new = ([draw(st.integers(1, 7)) for _ in range(axes)] for _ in range(2))
    aligned = not mode.startswith("nearest") and draw(st.booleans())
    return mode, old, new, aligned


@given(case=resizings(), seed=seeds, compiled=sometimes)
@settings(max_examples=24)
def test_interpolate(case, seed, compiled):
    mode, old, new, aligned = case
    assert_agree(
        lambda x: x.interpolate(new, mode, aligned),
        lambda x: F.interpolate(
            x, new, mode=NAMES.get((mode, len(new)), mode), align_corners=aligned or None
        ),
        [normal(seed, 1, 2, *old)], compiled, 200, str(case),
    )  # fmt: skip


@pytest.mark.parametrize("size", [(9, 5), (100, 37), (32, 32), (64, 200), (1, 64)], ids=repr)
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic"])
def test_interpolation_of_uint8_is_pytorchs(mode, size):
    x = np.random.default_rng(0).integers(0, 256, (1, 2, 64, 64), np.uint8)
    for aligned in (None,) if mode.startswith("nearest") else (False, True):
        ours = Tensor(x).interpolate(size, mode, bool(aligned))
        theirs = F.interpolate(torch.tensor(x), size, mode=mode, align_corners=aligned).numpy()
        assert ours.dtype is dtypes.uint8
        # at the border PyTorch rounds the sum of a curve's weights there, and not each of them
        atol = 1 if mode == "bicubic" else 0
        np.testing.assert_allclose(ours.numpy().astype(int), theirs.astype(int), rtol=0, atol=atol)


def test_interpolation_of_an_axis_whose_places_need_int64():
    x = Tensor.arange(50000).reshape(1, 1, -1)
    expected = np.arange(48000) * 50000 // 48000
    np.testing.assert_array_equal(x.interpolate(48000, "nearest").flatten().numpy(), expected)
