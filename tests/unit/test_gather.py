"""A sum that selects one element is a load at that index: the loop over all places goes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels import filled, kernels_of, numbers, ops_in
from tinyframe import Tensor
from tinyframe.uop.node import Ops

TABLE = numbers(11, 6)
NUMBERS = np.array([[3, 0, 10], [7, 7, 1]], np.int32)


def picked(out: Tensor) -> Tensor:
    """The Tensor, whose one kernel has to do without a reduce."""
    (kernel,) = kernels_of(out)
    assert not ops_in(kernel, Ops.REDUCE)
    return out


@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
def test_rows_of_a_table_are_read_where_they_are(device):
    table, index = filled(TABLE, device), filled(NUMBERS, device)
    rows = index.unsqueeze(-1).unsqueeze(-1) == Tensor.arange(11, device=device).reshape(11, 1)
    out = rows.where(table, 0).sum(axis=2)
    picked(out)
    np.testing.assert_array_equal(out.numpy(), TABLE[NUMBERS])


@pytest.mark.parametrize("device", ["CPU", "PYTHON"])
def test_an_index_out_of_range_picks_nothing(device):
    index = filled(np.array([-1, 4, 11, 2**31 - 1, -(2**31)], np.int32), device)
    chosen = index.reshape(5, 1) == Tensor.arange(11, device=device)
    out = chosen.where(filled(TABLE[:, 0], device), 0).sum(axis=1)
    picked(out)
    np.testing.assert_array_equal(out.numpy(), [0, TABLE[4, 0], 0, 0, 0])


def test_gather_and_rows_by_number_are_one_kernel_without_a_reduce():
    table = filled(TABLE)
    places = np.array([[5, 0, 3, 2, 2, 9]], np.int64)
    out = table.gather(0, filled(places))
    picked(out)
    np.testing.assert_array_equal(out.numpy(), np.take_along_axis(TABLE, places, 0))
    rows = table[filled(NUMBERS)]
    picked(rows)
    np.testing.assert_array_equal(rows.numpy(), TABLE[NUMBERS])


def test_a_value_that_is_not_0_elsewhere_is_still_summed():
    index = filled(NUMBERS[0])
    chosen = index.reshape(3, 1) == Tensor.arange(11)
    out = chosen.where(filled(TABLE[:, 1]), 1).sum(axis=1)
    (kernel,) = kernels_of(out)
    assert ops_in(kernel, Ops.REDUCE)
    expected = TABLE[NUMBERS[0], 1] + 10
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-6)


def test_what_is_picked_may_be_computed():
    table, index = filled(TABLE), filled(NUMBERS[1])
    chosen = index.reshape(3, 1, 1) == Tensor.arange(11).reshape(11, 1)
    out = chosen.where(table * 2 + 1, 0).sum(axis=1)
    picked(out)
    np.testing.assert_allclose(out.numpy(), TABLE[NUMBERS[1]] * 2 + 1, rtol=1e-6)
