"""Sorting is stable, on short and long axes; scans are right across their blocks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.values import check
from tinyframe import Tensor


@pytest.mark.parametrize("descending", (False, True))
@pytest.mark.parametrize("size", (1, 2, 17, 1100))
def test_sort_is_stable(size, descending):
    x = np.random.default_rng(size).integers(0, 50, (2, size)).astype(np.float32)
    values, indices = Tensor(x).sort(1, descending)
    order = np.argsort(-x if descending else x, axis=1, kind="stable")
    check(indices, order.astype(np.int32))
    if size < 100:
        check(values, np.take_along_axis(x, order, 1))


def test_sort_puts_nan_last_and_knows_infinities():
    x = np.array([np.nan, 1, -np.inf, np.inf, 0, np.nan, -0.0], np.float32)
    values, indices = Tensor(x).sort()
    check(values, np.sort(x))
    assert indices.tolist() == [2, 4, 6, 1, 3, 0, 5]
    assert Tensor(x).sort(descending=True)[1].tolist() == [0, 5, 3, 1, 4, 6, 2]


def test_topk_and_median():
    x = np.array([[3, 1, 2, 5], [0, 9, 9, 1]])
    values, indices = Tensor(x).topk(2)
    assert values.tolist() == [[5, 3], [9, 9]] and indices.tolist() == [[3, 0], [1, 2]]
    assert Tensor(x).median(1)[0].tolist() == [2, 1]
    assert Tensor([1.0, float("nan"), 3.0]).median().isnan().item()
    with pytest.raises(ValueError):
        Tensor(x).topk(5)


@pytest.mark.parametrize("size", (1, 31, 129, 5000))
def test_scan_of_any_length(size):
    x = np.random.default_rng(0).integers(-5, 6, size)
    check(Tensor(x).cumsum(), np.cumsum(x), compiled=size == 5000)
    values, _ = Tensor(x).cummax()
    check(values, np.maximum.accumulate(x))
    signs = np.where(x > 0, 1, -1)
    check(Tensor(signs).cumprod(), np.cumprod(signs))
    small = np.minimum(x, 0).astype(np.float32)
    check(Tensor(small).logcumsumexp(), np.logaddexp.accumulate(small.astype(np.float64)), scale=9)


def test_scan_of_the_indices_of_nan_and_ties():
    x = np.array([1, 3, 3, np.nan, 2, np.nan], np.float32)
    values, indices = Tensor(x).cummax()
    check(values, np.maximum.accumulate(x))
    assert indices.tolist() == [0, 1, 2, 3, 3, 5]


def test_nothing_to_sort_or_to_add_up():
    empty = Tensor.zeros(2, 0)
    assert empty.cumsum(1).shape == empty.sort(1)[0].shape == (2, 0)
    assert Tensor(3.0).cumsum().item() == Tensor(3.0).sort()[0].item() == 3
    with pytest.raises(IndexError):
        Tensor(X := np.ones(3)).cumsum(1), X
