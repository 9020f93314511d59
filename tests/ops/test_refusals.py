"""What is refused with a reason; uint64 beside other integers; and copy_, which converts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.values import arrays, check
from tinyframe import Tensor, TinyJit, dtypes
from tinyframe.jit.jit import JitError

small_ints = st.integers(-3, 3)
VALUES = [np.nan, 1, -np.inf, np.inf, 0, np.nan, -0.0, 1]


@given(x=arrays(dtypes.int32, min_ndim=1, values=small_ints))
def test_unique_is_numpys(x):
    expected = np.unique(x, return_inverse=True, return_counts=True)
    values, inverse, counts = Tensor(x).unique(return_inverse=True, return_counts=True)
    assert values.dtype is inverse.dtype is counts.dtype is dtypes.int32
    assert values.tolist() == expected[0].tolist() and counts.tolist() == expected[2].tolist()
    assert inverse.shape == x.shape
    np.testing.assert_array_equal(expected[0][inverse.numpy()], x)


def test_unique_keeps_every_nan_and_the_dtype():
    x = np.array(VALUES, np.float32)
    np.testing.assert_array_equal(Tensor(x).unique().numpy(), np.unique(x, equal_nan=False))
    narrow = Tensor([1.5, 0.5, 1.5]).bfloat16().unique()
    assert narrow.dtype is dtypes.bfloat16 and narrow.tolist() == [0.5, 1.5]
    assert Tensor(3).unique().tolist() == [3] and Tensor([]).unique().tolist() == []


BITS = arrays(dtypes.int32, shape=(3, 4), values=st.integers(0, 1))


@given(x=BITS, axis=st.sampled_from([0, -1]))
def test_unique_slices(x, axis):
    values, inverse = Tensor(x).unique(return_inverse=True, dim=axis)
    assert values.tolist() == np.unique(x, axis=axis).tolist()
    np.testing.assert_array_equal(np.take(values.numpy(), inverse.numpy(), axis), x)


@given(x=st.lists(st.integers(0, 9), max_size=12), least=st.integers(0, 12))
def test_bincount_is_numpys(x, least):
    numbers = np.array(x, np.int32)
    t = Tensor(numbers)
    check(t.bincount(minlength=least), np.bincount(numbers, minlength=least).astype(np.int32))
    check(t.bincount(size=5), np.bincount(numbers, minlength=10)[:5].astype(np.int32))
    weights = (np.arange(len(x)) / 4).astype(np.float32)
    expected = np.bincount(numbers, weights, least).astype(np.float32)
    check(t.bincount(Tensor(weights), least), expected)


def test_what_a_size_would_depend_on_is_refused_inside_a_jit():
    for call in (lambda x: x.unique(), lambda x: x.bincount(), lambda x: float(x.sum()) + x,
                 lambda x: int(x.sum()) + x):  # fmt: skip
        jitted = TinyJit(call)
        jitted(Tensor([1, 2, 2]).realize())
        with pytest.raises(JitError, match="frozen|TinyJit"):
            jitted(Tensor([1, 2, 2]).realize())
    counted = TinyJit(lambda x: x.bincount(size=3))
    for last in (2, 0, 1, 2):
        found = counted(Tensor([1, 2, last]).realize()).tolist()
        assert found == np.bincount([1, 2, last], minlength=3).tolist()


@given(x=arrays(dtypes.int32, values=small_ints), y=arrays(dtypes.int32, values=small_ints))
def test_isin_is_numpys(x, y):
    check(Tensor(x).isin(Tensor(y)), np.isin(x, y))
    check(Tensor(x).isin(Tensor(y), invert=True), np.isin(x, y, invert=True))


def test_isin_takes_lists_and_numbers_and_nan_is_in_nothing():
    assert Tensor([1, 2, 3]).isin([3, 1]).tolist() == [True, False, True]
    assert Tensor([1, 2, 3]).isin(2).tolist() == [False, True, False]
    assert Tensor([float("nan")]).isin([float("nan")]).tolist() == [False]


def test_no_value_is_lost_where_uint64_meets_a_signed_integer():
    """On the way are all neighbours of 2**24, 2**53 and 2**63 that float32 or float64 joins."""
    near = sorted({0, 3, *[2**n + d for n in (24, 53) for d in (-1, 0, 1)], 2**63 - 1})
    signed = np.array([-(2**63), -1, *near])
    unsigned = np.array([*near, 2**63, 2**64 - 1], np.uint64)
    for x, y in ((signed, unsigned[::2]), (unsigned, signed[::2])):
        check(Tensor(x).isin(Tensor(y)), np.array([int(n) in map(int, y) for n in x]))
        below = [[m <= n for m in x.tolist()] for n in y.tolist()]
        assert (Tensor(x) <= Tensor(y).unsqueeze(-1)).tolist() == below
    assert (Tensor(unsigned) + 0).one_hot(5).sum(0).tolist() == [1, 0, 0, 1, 0]
    assert Tensor(unsigned).bincount(size=5).tolist() == [1, 0, 0, 1, 0]
    assert Tensor(unsigned).sort(descending=True)[0].tolist() == unsigned[::-1].tolist()
    assert Tensor(unsigned).unique().tolist() == unsigned.tolist()


@given(x=arrays(dtypes.float32, shape=(3, 4), edges=False), axis=st.sampled_from([0, 1, -1]),
       index=st.lists(st.integers(0, 2), min_size=1, max_size=4),
       seed=st.integers(0, 9))  # fmt: skip
def test_slices_added_copied_and_filled(x, axis, index, seed):
    shape = list(x.shape)
    shape[axis] = len(index)
    source = np.random.default_rng(seed).integers(-4, 4, shape).astype(np.float32)
    t, rows = Tensor(x), np.moveaxis(x.copy(), axis, 0)
    given_rows = np.moveaxis(source, axis, 0)
    added, copied, filled = rows.copy(), rows.copy(), rows.copy()
    np.add.at(added, index, 2 * given_rows)
    copied[index], filled[index] = given_rows, 7
    for number, row in zip(index, given_rows, strict=True):
        copied[number] = row  # of several the last
    check(t.index_add(axis, index, Tensor(source), alpha=2), np.moveaxis(added, 0, axis), scale=9)
    check(t.index_copy(axis, index, Tensor(source)), np.moveaxis(copied, 0, axis))
    check(t.index_fill(axis, index, 7), np.moveaxis(filled, 0, axis))


def test_take_along_dim_broadcasts_and_counts_from_the_end():
    x = np.arange(12).reshape(3, 4)
    index = np.array([[0], [-1], [2]])
    check(Tensor(x).take_along_dim(Tensor(index), 1), np.take_along_axis(x, index, 1))
    check(Tensor(x[:1]).take_along_dim(Tensor(index), 1), x[:1][:, [0, -1, 2]].T)
    check(Tensor(x).take_along_dim(Tensor([[5, -1]])), np.array([5, 11]))


def test_copy_writes_in_place_and_converts():
    t = Tensor([[1.0, 2], [3, 4]]).realize()
    row = t[0]
    assert t.copy_(Tensor([7, 8])) is t
    assert t.dtype is dtypes.float32 and t.tolist() == [[7, 8], [7, 8]]
    assert t.copy_(5).tolist() == [[5, 5], [5, 5]]
    assert t.copy_(np.array([[1], [2]])).tolist() == [[1, 1], [2, 2]]
    assert row.shape == (2,)
    with pytest.raises(ValueError, match=r"\(3,\)"):
        t.copy_(Tensor([1.0, 2, 3]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: Tensor.ones(2, 2).bincount(), ValueError, "(2, 2)"),
        (lambda: Tensor([1.0]).bincount(), TypeError, "not dtypes.float"),
        (lambda: Tensor([1, -2]).bincount(), ValueError, "there is -2"),
        (lambda: Tensor([1]).bincount(Tensor([1.0, 2])), ValueError, "weights of (2,)"),
        (lambda: Tensor.ones(3, 2).index_add(0, [0], Tensor.ones(2, 2)), ValueError,
         "(1, 2), not (2, 2)"),
        (lambda: Tensor.ones(3, 2).index_copy(0, [[0]], Tensor.ones(1, 2)), IndexError, "(1, 1)"),
        (lambda: Tensor.ones(3, 2).take_along_dim(Tensor([0]), 1), ValueError, "(1,)"),
        (lambda: Tensor.ones(2, 3, 4).t(), ValueError, "(2, 3, 4)"),
        (lambda: float(Tensor([1.0, 2])), TypeError, "float() needs a Tensor of one element"),
        (lambda: int(Tensor([1.0, 2])), ValueError, "not of shape (2,)"),
        (lambda: [0, 1][Tensor(1)], TypeError, "Tensor"),
        (lambda: Tensor.zeros(Tensor(2)), TypeError, "Tensor"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
