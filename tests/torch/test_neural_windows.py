"""Convolutions, pooling and interpolation agree with PyTorch, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.against_torch import assert_same_call, normal, seeds
from tests.reference import evaluate
from tests.values import sometimes
from tinyframe import Tensor, dtypes

F = torch.nn.functional


def numbers_for(name: str, data, *bounds: tuple[int, int]) -> list[list[int]]:
    """For each of these bounds a number for each axis that the function is of."""
    return [[data.draw(st.integers(*bound)) for _ in range(int(name[-2]))] for bound in bounds]


# ---- convolutions --------------------------------------------------------------------------------


CONVOLUTIONS = ("conv1d", "conv2d", "conv3d",
                "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")  # fmt: skip


@pytest.mark.parametrize("name", CONVOLUTIONS)
@given(data=st.data(), seed=seeds, compiled=sometimes)
@settings(max_examples=9)
def test_convolution(name, data, seed, compiled):
    bounds = (1, 3), (1, 3), (1, 2), (0, 2), (1, 4), (0, 2)
    kernel, stride, dilation, padding, size, more = numbers_for(name, data, *bounds)
    groups, batch, ins, outs = (data.draw(st.integers(1, 2)) for _ in range(4))
    reach = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    options = {}
    if "transpose" in name:
        # so many elements have to be left, and no more than a stride are not computed
        padding = [min(p, r // 2) for p, r in zip(padding, reach, strict=True)]
        more = [min(m, max(s, d) - 1) for m, s, d in zip(more, stride, dilation, strict=True)]
        options["output_padding"] = more
        weight = (groups * ins, outs, *kernel)
    else:
        size = [n + r for n, r in zip(size, reach, strict=True)]
        weight = (groups * outs, ins, *kernel)
    shapes = (batch, groups * ins, *size), weight, (groups * outs,)
    assert_same_call(
        name, [normal(seed + n, *shape) for n, shape in enumerate(shapes)], compiled=compiled,
        stride=stride, dilation=dilation, padding=padding, groups=groups, **options,
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize(("kernel", "dilation", "padding"), [
    ((1, 1), 1, "same"), ((2, 3), 2, "same"), ((4, 5), 1, "same"), ((2, 3), 2, "valid"),
])  # fmt: skip
def test_padding_by_name(kernel, dilation, padding):
    inputs = [normal(0, 1, 2, 8, 9), normal(1, 3, 2, *kernel)]
    assert_same_call("conv2d", inputs, compiled=False, dilation=dilation, padding=padding)


@given(widths=st.lists(st.integers(0, 2), min_size=4, max_size=4), compiled=sometimes)
@settings(max_examples=6)
def test_padding_that_differs_on_each_side(widths, compiled):
    assert_same_call(
        "conv2d", [normal(0, 1, 2, 4, 3), normal(1, 2, 2, 3, 2)], compiled=compiled, padding=widths,
        theirs=lambda x, w, padding: F.conv2d(F.pad(x, padding), w),
    )  # fmt: skip


def test_a_convolution_beside_infinities_in_its_padding():
    # 0 * inf is NaN, in the padding of PyTorch's convolution too
    inputs = [np.ones((1, 1, 3, 3), np.float32), np.full((1, 1, 3, 3), np.inf, np.float32)]
    assert_same_call("conv2d", inputs, padding=1, gradient=False)


@pytest.mark.parametrize(("dtype", "bits"), [("half", 11), ("bfloat16", 8), ("double", 52)])
def test_convolution_of_other_floats(dtype, bits):
    x, w = normal(0, 1, 4, 5, 5) / 4, normal(1, 2, 4, 3, 3) / 4
    ours = Tensor(x).cast(dtype).conv2d(Tensor(w).cast(dtype))
    rounded = [Tensor(array).cast(dtype).double().numpy() for array in (x, w)]
    expected = F.conv2d(*[torch.tensor(array) for array in rounded]).numpy()
    assert abs(ours.double().numpy() - expected).max() < abs(expected).max() * 2.0**-bits


# ---- pooling -------------------------------------------------------------------------------------


POOLS = "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d"


@pytest.mark.parametrize("name", POOLS)
@given(data=st.data(), seed=seeds, compiled=sometimes)
@settings(max_examples=9)
def test_pooling(name, data, seed, compiled):
    is_maximum = name.startswith("max")
    bounds = (1, 3), (1, 3), (1, 2 if is_maximum else 1), (0, 4)
    kernel, stride, dilation, more = numbers_for(name, data, *bounds)
    size = [m + d * (k - 1) + 1 for m, d, k in zip(more, dilation, kernel, strict=True)]
    special = {"return_indices": data.draw(st.booleans()), "dilation": dilation}
    if not is_maximum:
        special = {"count_include_pad": data.draw(st.booleans())}
    assert_same_call(
        name, [normal(seed, 2, *size)], tuple(kernel), compiled=compiled,
        stride=stride, padding=[data.draw(st.integers(0, k // 2)) for k in kernel],
        ceil_mode=data.draw(st.booleans()), **special,
    )  # fmt: skip


def test_equal_elements_share_the_gradient_of_their_maximum():
    def gradients(pool, others):
        t = Tensor([[[1.0, 1.0], [1.0, 0.0]]], requires_grad=True)
        p = torch.tensor(t.numpy(), requires_grad=True)
        (theirs,) = torch.autograd.grad(others(p).sum(), p)
        return pool(t).sum().gradient(t)[0].numpy()[0], theirs.numpy()[0]

    ours, pytorch = gradients(lambda t: t.max_pool2d(2), lambda p: F.max_pool2d(p, 2))
    np.testing.assert_array_equal(pytorch, [[1, 0], [0, 0]])
    np.testing.assert_allclose(ours, gradients(Tensor.max, torch.Tensor.amax)[1], rtol=1e-6)


def test_max_pool_of_infinities_and_nan():
    x = np.array([[[-np.inf, -np.inf, 3, np.nan], [-np.inf, -np.inf, 7, 7]]], np.float32)
    options = {"padding": 1, "stride": 1, "return_indices": True}
    assert_same_call("max_pool2d", [x], 2, gradient=False, **options)


@given(h=st.integers(2, 5), w=st.integers(2, 5), stride=st.integers(1, 2), compiled=sometimes)
@settings(max_examples=15)
def test_max_unpool(h, w, stride, compiled):
    x = torch.tensor(normal(0, 2, 2, h, w))
    pooled, indices = F.max_pool2d(x, 2, stride, return_indices=True)
    # with a stride of 1, an element that is the largest of two windows has one value there
    values = pooled.numpy() if stride == 1 else normal(1, *indices.shape)
    options = {"output_size": (h, w), "compiled": compiled, "gradient": stride == 2}
    assert_same_call("max_unpool2d", [values], indices.numpy(), 2, stride, **options)


def test_max_unpool_to_the_smallest_size_that_fits():
    x = torch.tensor(normal(0, 1, 2, 6, 9))
    values, indices = F.max_pool2d(x, (2, 3), return_indices=True)
    assert_same_call("max_unpool2d", [values.numpy()], indices.numpy(), (2, 3))


# ---- interpolation -------------------------------------------------------------------------------

NAMES = {("linear", 2): "bilinear", ("linear", 3): "trilinear", ("cubic", 2): "bicubic"}
MODES = [("nearest", 1), ("nearest", 2), ("nearest-exact", 2), ("nearest-exact", 3),
         ("linear", 1), ("linear", 2), ("linear", 3), ("cubic", 2)]  # fmt: skip


def interpolated_by_torch(x, size, mode, align_corners):
    mode = NAMES.get((mode, len(size)), mode)
    return F.interpolate(x, size, mode=mode, align_corners=align_corners or None)


@given(case=st.sampled_from(MODES), data=st.data(), seed=seeds, compiled=sometimes)
@settings(max_examples=24)
def test_interpolate(case, data, seed, compiled):
    mode, axes = case
    old, new = ([data.draw(st.integers(1, 7)) for _ in range(axes)] for _ in range(2))
    aligned = not mode.startswith("nearest") and data.draw(st.booleans())
    assert_same_call(
        "interpolate", [normal(seed, 1, 2, *old)], new, mode, aligned, compiled=compiled,
        theirs=interpolated_by_torch, scale=200,
    )  # fmt: skip


@pytest.mark.parametrize(("mode", "size"), [
    ("nearest", (9, 5)), ("nearest", (100, 37)), ("nearest-exact", (32, 32)),
    ("nearest-exact", (64, 200)), ("bilinear", (9, 5)), ("bilinear", (64, 200)),
    ("bilinear", (1, 64)), ("bicubic", (100, 37)), ("bicubic", (32, 32)), ("bicubic", (9, 5)),
], ids=repr)  # fmt: skip
def test_interpolation_of_uint8_is_pytorchs(mode, size):
    x = np.random.default_rng(0).integers(0, 256, (1, 2, 64, 64), np.uint8)
    for aligned in (None,) if mode.startswith("nearest") else (False, True):
        ours = Tensor(x).interpolate(size, mode, bool(aligned))
        theirs = F.interpolate(torch.tensor(x), size, mode=mode, align_corners=aligned).numpy()
        assert ours.dtype is dtypes.uint8
        found = ours.numpy() if size == (9, 5) else evaluate(ours.uop)
        # at the border PyTorch rounds the sum of a curve's weights there, and not each of them
        atol = 1 if mode == "bicubic" else 0
        np.testing.assert_allclose(found.astype(int), theirs.astype(int), rtol=0, atol=atol)


def test_interpolation_of_an_axis_whose_places_need_int64():
    x = Tensor.arange(50000).reshape(1, 1, -1)
    expected = np.arange(48000) * 50000 // 48000
    np.testing.assert_array_equal(x.interpolate(48000, "nearest").flatten().numpy(), expected)
