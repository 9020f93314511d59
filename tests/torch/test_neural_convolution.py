"""Convolutions and their transposes agree with PyTorch, forward and backward."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.against_torch import assert_agree, normal, seeds
from tests.values import sometimes
from tinyframe import Tensor

F = torch.nn.functional
OURS = {1: Tensor.conv1d, 2: Tensor.conv2d, 3: Tensor.conv3d}
THEIRS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
OURS_TRANSPOSED = {
    1: Tensor.conv_transpose1d,
    2: Tensor.conv_transpose2d,
    3: Tensor.conv_transpose3d,
}
THEIRS_TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


@st.composite
def convolutions(draw, transposed: bool = False):
    """Shapes and options that fit each other."""
    axes = draw(st.sampled_from((1, 2, 2, 2, 3)))
    groups = draw(st.integers(1, 2))
    per_axis = {
        name: [draw(st.integers(low, high)) for _ in range(axes)]
        for name, low, high in (
            ("kernel", 1, 3), ("stride", 1, 3), ("dilation", 1, 2), ("padding", 0, 2),
            ("size", 1, 4), ("more", 0, 2),
        )
    }  # fmt: skip
    kernel, stride, dilation, padding, size, more = per_axis.values()
    ins, outs = (groups * draw(st.integers(1, 2)) for _ in range(2))
    batch = draw(st.integers(1, 2))
    if transposed:
        # so many elements have to be left, and no more than a stride are not computed
        padding = [min(p, d * (k - 1) // 2)
                   for p, d, k in zip(padding, dilation, kernel, strict=True)]  # fmt: skip
        more = [min(m, max(s, d) - 1) for m, s, d in zip(more, stride, dilation, strict=True)]
        weight = (ins, outs // groups, *kernel)
    else:
        size = [n + d * (k - 1) for n, d, k in zip(size, dilation, kernel, strict=True)]
        weight = (outs, ins // groups, *kernel)
    options = {"stride": stride, "dilation": dilation, "padding": padding, "groups": groups}
    if transposed:
        options["output_padding"] = more
    return axes, (batch, ins, *size), weight, outs, options


@given(case=convolutions(), seed=seeds, compiled=sometimes)
@settings(max_examples=25)
def test_convolution(case, seed, compiled):
    axes, shape, weight, outs, options = case
    inputs = [normal(seed, *shape), normal(seed + 1, *weight), normal(seed + 2, outs)]
    assert_agree(
        lambda x, w, b: OURS[axes](x, w, b, **options),
        lambda x, w, b: THEIRS[axes](x, w, b, **options),
        inputs, compiled, what=str(case),
    )  # fmt: skip


@given(case=convolutions(transposed=True), seed=seeds, compiled=sometimes)
@settings(max_examples=25)
def test_transposed_convolution(case, seed, compiled):
    axes, shape, weight, outs, options = case
    inputs = [normal(seed, *shape), normal(seed + 1, *weight), normal(seed + 2, outs)]
    assert_agree(
        lambda x, w, b: OURS_TRANSPOSED[axes](x, w, b, **options),
        lambda x, w, b: THEIRS_TRANSPOSED[axes](x, w, b, **options),
        inputs, compiled, what=str(case),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("kernel", [(1, 1), (2, 3), (4, 5)])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("padding", ["same", "valid"])
def test_padding_by_name(kernel, dilation, padding):
    options = {"dilation": dilation, "padding": padding}
    assert_agree(
        lambda x, w: x.conv2d(w, **options), lambda x, w: F.conv2d(x, w, **options),
        [normal(0, 1, 2, 8, 9), normal(1, 3, 2, *kernel)], compiled=False,
    )  # fmt: skip


@given(widths=st.lists(st.integers(0, 2), min_size=4, max_size=4), compiled=sometimes)
@settings(max_examples=6)
def test_padding_that_differs_on_each_side(widths, compiled):
    assert_agree(
        lambda x, w: x.conv2d(w, padding=widths), lambda x, w: F.conv2d(F.pad(x, widths), w),
        [normal(0, 1, 2, 4, 3), normal(1, 2, 2, 3, 2)], compiled,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["half", "bfloat16", "double"])
def test_convolution_of_other_floats(dtype):
    x, w = normal(0, 1, 4, 5, 5) / 4, normal(1, 2, 4, 3, 3) / 4
    ours = Tensor(x).cast(dtype).conv2d(Tensor(w).cast(dtype))
    rounded = [Tensor(array).cast(dtype).double().numpy() for array in (x, w)]
    expected = F.conv2d(*[torch.tensor(array) for array in rounded]).numpy()
    bits = {"half": 11, "bfloat16": 8, "double": 52}[dtype]
    assert abs(ours.double().numpy() - expected).max() < abs(expected).max() * 2.0**-bits
