"""A sum that selects one element is a load at that index: the loop over all places goes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import filled, kernels_of, numbers, ops_in
from tinyframe import Tensor
from tinyframe.uop.node import Ops

TABLE = numbers(11, 6)
NUMBERS = np.array([[3, 0, 10], [7, 7, 1]], np.int32)


def rows(t: Tensor, i: Tensor) -> Tensor:
    chosen = i.unsqueeze(-1).unsqueeze(-1) == Tensor.arange(11, device=t.device).reshape(11, 1)
    return chosen.where(t, 0).sum(axis=-2)


OUTSIDE = np.array([-1, 4, 11, 2**31 - 1, -(2**31)], np.int32)
PLACES = np.array([[5, 0, 3, 2, 2, 9]], np.int64)
ZERO = np.zeros(6, np.float32)
PICKED = {  # Tensors of the table and of numbers, the numbers, and what that is
    "rows of a table": (rows, NUMBERS, TABLE[NUMBERS]),
    "none out of range": (rows, OUTSIDE, [ZERO, TABLE[4], ZERO, ZERO, ZERO]),
    "gather": (lambda t, i: t.gather(0, i), PLACES, np.take_along_axis(TABLE, PLACES, 0)),
    "rows by number": (lambda t, i: t[i], NUMBERS, TABLE[NUMBERS]),
    "what is computed": (lambda t, i: rows(t * 2 + 1, i), NUMBERS[1], TABLE[NUMBERS[1]] * 2 + 1),
}


@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
@pytest.mark.parametrize("name", PICKED)
def test_a_sum_that_picks_one_element_is_a_kernel_without_a_reduce(name, device):
    graph, indices, expected = PICKED[name]
    out = graph(filled(TABLE, device), filled(indices, device))
    (kernel,) = kernels_of(out)
    assert not ops_in(kernel, Ops.REDUCE)
    np.testing.assert_array_equal(out.numpy(), expected)


def test_a_value_that_is_not_0_elsewhere_is_still_summed():
    index = filled(NUMBERS[0])
    chosen = index.reshape(3, 1) == Tensor.arange(11)
    out = chosen.where(filled(TABLE[:, 1]), 1).sum(axis=1)
    (kernel,) = kernels_of(out)
    assert ops_in(kernel, Ops.REDUCE)
    expected = TABLE[NUMBERS[0], 1] + 10
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)
