"""Sorting is stable, on short and long axes; scans are right across their blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.values import check, computed
from tinyframe import Context, Tensor, TinyJit


def in_order(x, descending):
    """A stable order of the last axis, by NumPy."""
    if not descending:
        return np.argsort(x, -1, kind="stable")
    return x.shape[-1] - 1 - np.argsort(x[..., ::-1], -1, kind="stable")[..., ::-1]


def with_ties_and_edges(rng, shape, dtype):
    x = rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)
    if x.dtype.kind == "f":
        x[..., ::7], x[..., 1::50], x[..., 2::60] = 0.0, np.nan, -0.0
        x[..., 3], x[..., 4], x[..., 5] = -np.inf, np.inf, -np.nan
    elif x.dtype.kind in "iu":
        x[..., 1::50], x[..., 2::60] = np.iinfo(dtype).min, np.iinfo(dtype).max
    return x


def check_order(x, descending, k, device=None):
    """sort() and topk(k) are the stable order, and give the values there."""
    order = in_order(x, descending)
    t = Tensor(x, device=device)
    whole, first = t.sort(-1, descending), t.topk(k, -1, descending)
    found = computed(*whole, *first)
    for values, indices, wanted in ((*found[:2], order), (*found[2:], order[..., :k])):
        np.testing.assert_array_equal(indices, wanted)
        np.testing.assert_array_equal(values, np.take_along_axis(x, wanted, -1))


@pytest.mark.parametrize(("size", "descending"), [
    (1023, False), (1024, True), (1025, False), (2049, True), (5000, False)
])  # fmt: skip
def test_long_axes_are_sorted_by_digits(size, descending):
    x = with_ties_and_edges(np.random.default_rng(size), (2, size), "float32")
    check_order(x, descending, k=size // 100)


@pytest.mark.parametrize("dtype", ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32",
                                   "int64", "uint64", "float16", "float64"))  # fmt: skip
def test_every_dtype_is_sorted_by_its_own_keys(dtype):
    rng = np.random.default_rng(0)
    for size, descending in ((20, True), (1100, False), (1100, True)):
        check_order(with_ties_and_edges(rng, (size,), dtype), descending, k=9)


@given(
    st.integers(1, 1700), st.integers(1, 200), st.booleans(), st.booleans(), st.integers(0, 2**31)
)
@settings(max_examples=6, deadline=None)
def test_any_size_and_any_k(size, k, descending, is_sorted_already, seed):
    x = with_ties_and_edges(np.random.default_rng(seed), (size + 6,), "float32")
    check_order(np.sort(x) if is_sorted_already else x, descending, min(k, size))


def test_a_long_sort_on_other_ways_down():
    x = with_ties_and_edges(np.random.default_rng(3), (1100,), "float32")
    check_order(x, True, k=3, device="PYTHON")
    with Context(NOOPT=1):
        check_order(x, False, k=200)
    ranked = TinyJit(lambda t: [found.realize() for found in (*t.sort(), *t.topk(5))])
    for seed in range(4):
        x = with_ties_and_edges(np.random.default_rng(seed), (1100,), "float32")
        found = ranked(Tensor(x).realize())
        np.testing.assert_array_equal(found[1].numpy(), in_order(x, False))
        np.testing.assert_array_equal(found[3].numpy(), in_order(x, True)[:5])


def test_a_long_sort_has_few_different_kernels_and_its_gradient():
    x = Tensor.rand(100_000).realize()
    kernels = [item.ast for item in x.argsort().schedule()]
    assert len(kernels) < 60 and len(set(kernels)) <= 12
    assert len(x.topk(10)[1].schedule()) < 15
    data = np.random.default_rng(0).permutation(1500).astype(np.float32)
    x = Tensor(data, requires_grad=True)
    (x.sort()[0] * Tensor.arange(1500)).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), data)


def test_topk_of_rows():
    x = np.array([[3, 1, 2, 5], [0, 9, 9, 1]])
    values, indices = Tensor(x).topk(2)
    assert values.tolist() == [[5, 3], [9, 9]] and indices.tolist() == [[3, 0], [1, 2]]
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
