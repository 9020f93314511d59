"""Methods that PyTorch's users reach for agree with theirs in all their modes, and in gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.against_torch import assert_agree, normal
from tinyframe import Tensor, dtypes

F = torch.nn.functional
REPEATED = np.array([[2, 2, 0, 1], [1, 1, 2, 2]])


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_an_extreme_of_several_axes_divides_its_gradient_among_ties(name):
    x = np.array([[[1, 3], [3, 0]], [[2, 2], [2, 1]]], np.float32)
    for axes in ((0, 2), (1,), (0, 1, 2)):
        assert_agree(
            lambda t, axes=axes: getattr(t, name)(axes, keepdim=True),
            lambda t, axes=axes: getattr(t, name)(axes, keepdim=True), [x], compiled=True,
        )  # fmt: skip


def test_slices_named_twice():
    index = REPEATED[0, :2]
    inputs = [normal(0, 3, 4), normal(1, 2, 4)]
    for alpha in (1, -0.5):
        assert_agree(
            lambda x, y, alpha=alpha: x.index_add(0, Tensor(index), y, alpha=alpha),
            lambda x, y, alpha=alpha: x.index_add(0, torch.tensor(index), y, alpha=alpha),
            inputs, compiled=True,
        )  # fmt: skip


@pytest.mark.parametrize("dtype", [dtypes.half, dtypes.float64, dtypes.int64, dtypes.uint8])
def test_dtypes_stay(dtype):
    t = Tensor(np.arange(12).reshape(3, 4)).cast(dtype)
    source = Tensor.ones(1, 4).cast(dtype)
    for found in (
        t.amax(0), t.t(), t.index_add(0, [0], source), t.ravel(), t.unique(),
        t.index_copy(0, [0], source), t.index_fill(0, [0], 1), t.take_along_dim(Tensor([[0]]), 1),
    ):  # fmt: skip
        assert found.dtype is dtype
