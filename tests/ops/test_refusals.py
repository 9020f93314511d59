"""What is refused with a reason; uint64 beside other integers; and copy_, which converts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.values import arrays, check
from tinyframe import Tensor, TinyJit, Variable, dtypes
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


# ---- mistakes ------------------------------------------------------------------------------------

MASKED = np.ma.masked_array([1.0, 2.0], [True, False], np.float32)
NAMES = {
    "Tensor": Tensor, "np": np, "math": math, "MASKED": MASKED,
    "t": Tensor.ones(2, 3), "v": Tensor([1, 2, 3, 4]), "one": Tensor(1), "T": Tensor([1.0, 2.0]),
    "ONE": Variable("one", 1, 4).bind(1), "m": Tensor.ones(2, 3, 4), "c": Tensor.ones(1, 4, 5, 5),
    "scores": Tensor.ones(6, 4), "y": Tensor([0, 3, 1, 2, 3, 0]),
}  # fmt: skip
# an error, its words, and the expressions that it is for
REFUSED = [
    # made of
    (ValueError, "", "Tensor([[1, 2], [3]]) | Tensor([1, [2]]) | Tensor([[1], 2])"),
    (TypeError, "", "Tensor(object()) | Tensor({1: 2}) | Tensor(1j) | Tensor(np.array(['a']))"),
    (TypeError, "", "Tensor('text') | Tensor(np.array([1j])) | Tensor.zeros(2, colour='red')"),
    (TypeError, "", "Tensor.rand(2, scale=3) | Tensor.rand(2, dtype='int32')"),
    (OverflowError, "int64", "Tensor([2**40])"),
    (OverflowError, "", "Tensor(2**31) | Tensor.arange(300, dtype='int8')"),
    (OverflowError, "", "Tensor.arange(-1, 3, dtype='uint8') | Tensor.arange(2**31, 2**31 + 2)"),
    (AttributeError, "int7", "Tensor([1], dtype='int7')"),
    (ValueError, "TPU", "Tensor([1], device='TPU')"),
    (ValueError, "step", "Tensor.arange(1, 2, 0)"),
    (ValueError, "", "Tensor.arange(np.nan) | Tensor.linspace(0, 1, -1)"),
    (RuntimeError, "", "Tensor.linspace(0, 1, 2, dtype='bool')"),
    *[(ValueError, "", f"Tensor.{name}{shape}")
      for name in ("zeros", "ones", "empty", "rand", "randn")
      for shape in ("(2, -1)", "((2, 3), 4)", "(2, [3])", "((-2,))")],
    (TypeError, "", "Tensor.zeros(2.5) | Tensor.empty(2.5) | Tensor.rand(2.5)"),
    (AssertionError, r"\(2,\)", "T.item()"),
    (ValueError, r"\(2,\)", "T.item()"),
    (RuntimeError, r"np\.array\(\[\.\.\.\]\) takes them",
     "Tensor([np.float32(1.5)]) | Tensor([[1, np.int64(2)]]) | Tensor([np.ones(2), np.ones(2)]) | "
     "Tensor([np.float32(1.5)], dtype='float32')"),
    (RuntimeError, r"not of Tensor: Tensor\.stack\(\[\.\.\.\]\)",
     "Tensor([T, T]) | Tensor([[T], [T]]) | Tensor([1.0, T])"),
    (RuntimeError, r"Tensor\(variable\)", "Tensor([0, ONE])"),
    (TypeError, r"no mask: array\.filled\(value\)",
     "Tensor(MASKED) | T.clone().assign(MASKED) | T + MASKED"),
    (TypeError, "", "Tensor.randint(3, low=0.5) | Tensor.randint(3, high=2.0)"),
    (TypeError, "", "Tensor.randint(3, dtype='float32') | Tensor.uniform(3, scale=2)"),
    (ValueError, "", "Tensor.randint(3, low=4, high=4) | Tensor.uniform(3, low=1, high=1)"),
    (ValueError, "", "Tensor.normal(3, std=-1) | Tensor.randperm(-1) | m.multinomial()"),
    (ValueError, "", "T.multinomial(3) | T.multinomial(0)"),
    # moved
    (ValueError, r"\(2, 3\) to \(7,\)", "t.reshape(7)"),
    (RuntimeError, r"\(2, 3\) to \(7,\)", "t.reshape(7)"),
    (RuntimeError, "only one", "t.reshape(-1, -1)"),
    (ValueError, "divide", "t.reshape(4, -1)"),
    (ValueError, "negative", "t.reshape(-2, 3)"),
    (ValueError, "", "t[:0].reshape(0, -1) | t.unflatten(1, (2, 2)) | t.pad(((1, 1),))"),
    (TypeError, "", "t.reshape(2.0, 3) | v.pad((1, 1), value=math.inf) | t.pad(1)"),
    (RuntimeError, "twice", "t.permute(0, 0) | t.flip(0, -2)"),
    (IndexError, "", "t.permute(0, 2) | one[0]"),
    (ValueError, "all 2 axes", "t.permute(0)"),
    (ValueError, r"\(2, 3\) to \(4, 3\)", "t.expand(4, 3)"),
    (RuntimeError, r"\(2, 3\) to \(4, 3\)", "t.expand(4, 3)"),
    (ValueError, "fewer", "t.expand(3)"),
    (ValueError, r"\(4,\)", "v.shrink(((0, 5),)) | v.shrink(((-1, 2),)) | v.shrink(((2, 1),))"),
    (ValueError, r"\(4,\)", "v.shrink((None, None))"),
    (ValueError, "", "v.shrink_to(5) | v.pad_to(3)"),
    (ValueError, "mode", "t.pad((1, 1), mode='sideways')"),
    (ValueError, r"\(2, 3\)", "t.pad((1, 1, 1))"),
    (RuntimeError, "does not fit", "v.unfold(0, 5, 1)"),
    (RuntimeError, "", "v.unfold(0, 2, 0) | one.cat(one)"),
    (IndexError, "out of range", "t.unsqueeze(3) | t.squeeze(2) | t.flatten(0, 2) | t.flip(2)"),
    (IndexError, "out of range", "t.transpose(0, 2) | t.split(1, 2) | t.unfold(2, 1, 1)"),
    (IndexError, "out of range", "t.cat(t, dim=2) | t.stack(t, dim=3) | t.chunk(1, dim=-3)"),
    (ValueError, "", "v.split([1, 2]) | v.split([5, -1]) | v.split(-1) | v.split(0) | v.chunk(0)"),
    (ValueError, r"\(2, 3\) and \(2, 4\)", "t.cat(Tensor.ones(2, 4), dim=0)"),
    (ValueError, r"\(4,\) and \(3,\)", "v.stack(Tensor.ones(3))"),
    (IndexError, "too many", "t[0, 0, 0]"),
    (IndexError, "out of bounds", "t[2] | t[0, -4]"),
    (IndexError, "single ellipsis", "t[..., ...]"),
    (ValueError, "step", "t[::0]"),
    (TypeError, "bounds", "t[0.5:] | t[:one]"),
    (IndexError, "index", "t[0.5] | t[math.nan]"),
    (TypeError, "", "len(one) | list(one)"),
    (ValueError, r"\(1, 2, 1, 3\)", "t[None, :, None].conv2d(Tensor.ones(2, 4, 1, 1))"),
    (RuntimeError, "", " | ".join(f"m.rearrange({formula!r})" for formula in (
        "a b c", "a b -> a b", "a b c -> a b", "a a b -> a b", "a (b c -> a b c",
        "a b) c -> a b c", "a b (c d) -> a b c d", "a b c -> a b c d", "((a) b) c->a b c"))),
    (RuntimeError, "", "m.rearrange('a b (c d) -> a b c d', c=3)"),
    (ValueError, "", "v.pad((5, 0), mode='reflect')"),
    (NotImplementedError, "", "v.pad((1, 0), mode='mirror')"),
    # along axes
    *[(IndexError, r"\(2, 3\)", f"t.{name}({axis})") for axis in (2, -3, (0, 5))
      for name in ("sum", "max", "softmax", "var", "any")],
    (RuntimeError, "twice", "t.sum((1, -1))"),
    (TypeError, "", "t.sum(1.0)"),
    # products
    (RuntimeError, r"\(2, 3\)", "t @ t | t @ Tensor.ones(4, 2)"),
    (RuntimeError, r"\(4,\)", "Tensor.ones(3) @ v"),
    (RuntimeError, r"\(\)", "one @ T"),
    (RuntimeError, "broadcast|\\(2, 2, 3\\)", "Tensor.ones(2, 2, 3) @ Tensor.ones(3, 3, 2)"),
    (RuntimeError, "at least one axis", "t @ 2"),
    (ValueError, "'j'", "Tensor.einsum('ij,jk->ik', t, Tensor.ones(4, 2))"),
    (ValueError, "operands", "Tensor.einsum('ij,jk->ik', t)"),
    (ValueError, "", "Tensor.einsum('ij->ijk', t)"),
    # networks
    (ValueError, "", "c.conv2d(Tensor.ones(2, 3, 3, 3)) | c.conv2d(Tensor.ones(2, 4, 6, 3))"),
    (ValueError, "", "c.conv1d(Tensor.ones(2, 4, 3, 3)) | c.interpolate((2, 2), 'best')"),
    (ValueError, "", "c.conv2d(Tensor.ones(3, 2, 3, 3), groups=2)"),
    *[(ValueError, "", f"c.conv2d(Tensor.ones(2, 4, 3, 3), {options})")
      for options in ("padding='some'", "padding='same', stride=2", "padding=(1, 2, 3)")],
    (ValueError, "", "c.conv_transpose2d(Tensor.ones(3, 4, 3, 3)) | c.max_pool2d(9)"),
    (ValueError, "", "c.conv_transpose2d(Tensor.ones(4, 4, 3)) | v.max_pool2d() | c.groupnorm(3)"),
    (ValueError, "", "c.avg_pool2d(2, (1, 2, 3)) | c.interpolate((0, 2))"),
    (ValueError, "", "c.interpolate((2, 2), 'nearest', align_corners=True)"),
    (TypeError, "", "T.embedding(t)"),
    (RuntimeError, "", "c.scaled_dot_product_attention(c, c, c, is_causal=True)"),
    (ValueError, "", "c[:, :3].scaled_dot_product_attention(c, c, enable_gqa=True)"),
    # losses
    (ValueError, "", "scores.cross_entropy(y, 'average') | scores.cross_entropy(y[:3])"),
    (ValueError, "", "scores.binary_crossentropy_logits(scores, 'average')"),
    (ValueError, "", "scores.nll_loss(y[:, None])"),
    (ValueError, "", "scores.binary_crossentropy(scores, reduction=None)"),
    (ValueError, "", "scores.cross_entropy(y, label_smoothing=1.5)"),
    (ValueError, "", "scores.cross_entropy(y.float())"),
    (ValueError, "", "scores.sparse_categorical_crossentropy(y.reshape(2, 3))"),
    (ValueError, "", "scores.sparse_categorical_crossentropy(scores)"),
    # gathered
    (ValueError, r"\(2, 2\)", "t[:, :2].bincount()"),
    (TypeError, "not dtypes.float", "T.bincount()"),
    (ValueError, "there is -2", "Tensor([1, -2]).bincount()"),
    (ValueError, r"weights of \(2,\)", "Tensor([1]).bincount(T)"),
    (ValueError, r"\(1, 3\), not \(2, 3\)", "t.index_add(0, [0], t)"),
    (IndexError, r"\(1, 1\)", "t.index_copy(0, [[0]], t[:1])"),
    (ValueError, r"\(1,\)", "t.take_along_dim(Tensor([0]), 1)"),
    (ValueError, r"\(2, 3, 4\)", "m.t()"),
    # numbers
    (TypeError, r"float\(\) needs a Tensor of one element", "float(T)"),
    (ValueError, r"not of shape \(2,\)", "int(T)"),
    (TypeError, "Tensor", "[0, 1][one] | Tensor.zeros(Tensor(2))"),
]  # fmt: skip
CASES = [(call, error, words) for error, words, calls in REFUSED for call in calls.split(" | ")]


@pytest.mark.parametrize(("call", "error", "words"), CASES)
def test_a_mistake_is_named(call, error, words):
    with pytest.raises(error, match=words or None):
        eval(call, NAMES)
