"""Gradients of windows that lie apart: by phase, each as windows side by side."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import filled, kernels_of, numbers
from tinyframe import Tensor
from tinyframe.uop.node import Ops

SHAPES = [(9, 3, 2), (10, 3, 2), (11, 5, 2), (12, 2, 2), (13, 3, 3), (14, 4, 3), (7, 1, 2),
          (20, 7, 4), (9, 2, 3)]  # fmt: skip


@pytest.mark.parametrize(("length", "size", "stride"), SHAPES)
def test_each_element_gets_what_its_windows_got_and_nothing_is_divided(length, size, stride):
    x = Tensor(numbers(length), requires_grad=True)
    windows = Tensor(x.uop.window(0, size, stride), requires_grad=True)
    grad = numbers(*windows.shape, seed=1)
    (back,) = windows.gradient(x, gradient=filled(grad))
    expected, places = np.zeros(length), np.indices(windows.shape)
    np.add.at(expected, places[0] * stride + places[1], grad)
    np.testing.assert_array_equal(back.numpy(), expected)
    (back,) = windows.gradient(x, gradient=filled(grad))
    strides = {u.arg[1] for u in back.uop.toposort() if u.op is Ops.UNWINDOW}
    assert strides == {1 if size > stride else stride}


@pytest.mark.parametrize(
    ("kernel", "stride", "padding"), [(3, 2, 1), (4, 2, 0), (5, 2, 2), (5, 3, 0)]
)
def test_a_strided_convolutions_gradient_by_its_input_is_one_kernel(kernel, stride, padding):
    x = Tensor(numbers(4, 32, 28, 28), requires_grad=True)
    y = x.conv2d(filled(numbers(32, 32, kernel, kernel)), stride=stride, padding=padding)
    (back,) = y.gradient(x, gradient=filled(numbers(*y.shape)))
    assert len(kernels_of(back)) == 1


def test_the_gradient_of_a_gradient_goes_through():
    x, w = numbers(1, 2, 9, 9), numbers(3, 2, 3, 3, seed=1)
    a, b = Tensor(x, requires_grad=True), Tensor(w, requires_grad=True)
    (first,) = a.conv2d(b, stride=2).square().sum().gradient(a)
    (second,) = (first * filled(x)).sum().gradient(a)
    # the sum of squares is quadratic in x, so its second derivative along x is twice the sum
    value = (a.conv2d(b, stride=2).square().sum() * 2).item()
    assert (second * filled(x)).sum().item() == pytest.approx(value, rel=1e-5)
