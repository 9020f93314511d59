"""Reading and writing parts means what it means in NumPy, through views, lazily and in memory."""

from __future__ import annotations

import numpy as np
import pytest

from tests.values import check
from tinyframe import Context, GlobalCounters, Tensor, TinyJit, Variable, dtypes
from tinyframe.tensor.gathering import MOST_READ

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
MASK = X % 3 == 0
PLACES = np.array([[0, 2], [1, -1]])

READS = {
    "list": [0, 2],
    "list second": (slice(None), [3, 0, 0]),
    "separated": ([0, 2], slice(None), [1, 4]),
    "side by side": (slice(1, None), [0, 2], [3, -3]),
    "none and dots": (None, [0, 2], Ellipsis, slice(None, None, -2)),
    "array": PLACES,
    "broadcast": (PLACES, [[0], [3]]),
    "three": (PLACES, PLACES, PLACES),
    "dots first": (Ellipsis, [0, -2]),
    "mask": MASK,
    "mask of two axes": MASK[:, :, 0],
    "mask of one axis": (slice(None), MASK[0, :, 1]),
    "mask and list": (MASK[:, 0, 0], slice(None), [4] * int(MASK[:, 0, 0].sum())),
    "empty": [],
}
WRITES = {
    **READS,
    "int": 1,
    "ints": (0, -1, 2),
    "slice": slice(1, None),
    "steps": (Ellipsis, slice(None, None, -2)),
    "new axis": (None, 1),
    "all": Ellipsis,
}


def ours(index):
    """The same index with Tensors in place of arrays."""
    items = index if isinstance(index, tuple) else (index,)
    return tuple(Tensor(item) if isinstance(item, np.ndarray) else item for item in items)


def numpys(index):
    return np.array([], int) if isinstance(index, list) and not index else index


@pytest.mark.parametrize("name", READS)
def test_read(name):
    expected = X[numpys(READS[name])]
    check(Tensor(X)[ours(READS[name])], expected, compiled=name in ("separated", "mask"))
    with Context(NOOPT=1):
        check(Tensor(X)[READS[name]], expected)


def test_a_tensor_of_shape_0_is_an_index_as_in_numpy():
    x, one, places = X[None], np.array(1), np.array([0, 2])
    check(Tensor(X)[Tensor(one), :, Tensor(places)], X[one, :, places])
    check(Tensor(x)[:, Tensor(one), :, Tensor(places)], x[:, one, :, places])


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("realized", (True, False))
def test_write(name, realized):
    index = WRITES[name]
    for value in (7, None):
        expected = X.copy()
        new = value if value else X[numpys(index)] * 2 + 1
        expected[numpys(index)] = new
        t = Tensor(X).realize() if realized else Tensor(X) * 1
        t[ours(index)] = value if value else Tensor(np.asarray(new, np.float32))
        check(t, expected)


def test_overlapping_parts_are_read_before_they_are_written():
    t = Tensor([0.0, 1, 2, 3, 4, 5]).realize()
    t[1:] = t[:-1]
    assert t.tolist() == [0, 0, 1, 2, 3, 4]


def test_the_last_of_several_writes_to_one_place_stays():
    t = Tensor.zeros(3).contiguous().realize()
    t[[1, 1, 1, 0]] = Tensor([5.0, 6.0, 7.0, 8.0])
    assert t.tolist() == [8, 7, 0]


def test_an_index_out_of_bounds_that_nobody_knows_yet_reads_nan_or_0():
    index = Tensor([0, 3, -1, -4]) + 0
    assert Tensor([1, 2, 3])[index].tolist() == [1, 0, 3, 0]
    check(Tensor([1.0, 2, 3])[index], np.float32([1, np.nan, 3, np.nan]))


X34, SCORES = Tensor(np.ones((3, 4), np.float32)), Tensor(np.ones((3, 10), np.float32))


@pytest.mark.parametrize(("call", "message"), [
    (lambda: X34[[0, 3]], "index 3 at position 1 is out of bounds for axis 0 of size 3 "
                          "(shape (3, 4)): there are -3 to 2"),
    (lambda: X34[:, None, np.array([[0, 1], [-5, 9]])], "index -5 at position (1, 0) is out of "
     "bounds for axis 1 of size 4 (shape (3, 4)): there are -4 to 3"),
    (lambda: X34[..., Tensor([1, 2, 4])], "index 4 at position 2 is out of bounds for axis 1 of "
     "size 4 (shape (3, 4)): there are -4 to 3. Are they counted from 1? The first index is 0, so "
     "subtract 1 from each"),
    (lambda: Tensor(3).embedding(X34), "index 3 is out of bounds for axis 0 of size 3 (shape "
     "(3, 4)): there are 0 to 2. Are they counted from 1? The first index is 0, so subtract 1 from "
     "each"),
    (lambda: SCORES.cross_entropy(Tensor([1, 10, 4])), "label 10 at position 1 is out of bounds "
     "for 10 classes: there are 0 to 9. Are they counted from 1? The first label is 0, so subtract "
     "1 from each"),
    (lambda: SCORES.nll_loss(Tensor([0, 1, -1])), "label -1 at position 2 is out of bounds for 10 "
     "classes: there are 0 to 9. If it marks a sample without a label, pass ignore_index=-1"),
    (lambda: SCORES.reshape(1, 3, 10).sparse_categorical_crossentropy(Tensor([[0, -1, 12]])),
     "label 12 at position (0, 2) is out of bounds for 10 classes: there are 0 to 9. The largest "
     "label is 12, which takes 13 classes"),
    (lambda: Tensor([0, 2, 5]).one_hot(3), "label 5 at position 2 is out of bounds for 3 classes: "
     "there are 0 to 2. The largest label is 5, which takes 6 classes"),
    (lambda: Tensor.ones(1, 1, 2, 1).max_unpool2d(Tensor([[[[0], [9]]]])), "index 9 at position "
     "(0, 0, 1, 0) is out of bounds for axis 0 of size 8 (shape (8,)): there are 0 to 7"),
    (lambda: Tensor.ones(0, 2)[[0]], "index 0 at position 0 is out of bounds for axis 0 of size 0 "
                                     "(shape (0, 2))"),
])  # fmt: skip
def test_an_index_out_of_bounds_is_named_with_its_position_and_the_likely_cause(call, message):
    with pytest.raises(IndexError) as raised:
        call()
    assert str(raised.value) == message


# ways to have indices, and whether what they are is known before anything is computed
KNOWN = {
    "a list": (lambda a: Tensor(a.tolist()), True),
    "an array": (lambda a: Tensor(a), True),
    "realized": (lambda a: Tensor(a).realize(), True),
    "a part": (lambda a: Tensor(np.append(a, 9)).realize()[:-1], True),
    "cast": (lambda a: Tensor(a).realize().long(), True),
    "moved": (lambda a: Tensor(a).realize().reshape(1, -1).expand(2, -1).T[:, 1], True),
    "of a large array": (lambda a: Tensor(np.tile(a, MOST_READ)), True),
    "large and realized": (lambda a: Tensor(np.tile(a, MOST_READ)).realize(), False),
    "lazy": (lambda a: Tensor(a) + 0, False),
    "never written": (lambda a: Tensor.empty(*a.shape, dtype="int32"), False),
    "scheduled": (lambda a: scheduled(Tensor(a) + 0), False),
    "assigned to": (lambda a: Tensor(0 * a).realize().assign(Tensor(a, dtype="int64")), False),
    "cast from floats": (lambda a: Tensor(a.astype(float)).realize().int(), False),
    "of a symbolic size": (lambda a: Tensor(a).realize()[: Variable("n", 1, 3).bind(3)], False),
}


def scheduled(t: Tensor) -> Tensor:
    t.schedule()
    return t


@pytest.mark.parametrize("name", KNOWN)
def test_no_index_is_computed_to_be_checked(name):
    make, is_known = KNOWN[name]
    index, x = make(np.array([0, 5, 2])), Tensor.arange(4.0)
    before = GlobalCounters.kernel_count, index.uop
    if is_known:
        with pytest.raises(IndexError, match="index 5 at position 1 is out of bounds"):
            x[index]
    else:
        x[index]
    assert (GlobalCounters.kernel_count, index.uop) == before


def test_indices_inside_a_tinyjit_are_not_looked_at():
    x = Tensor.arange(4.0).realize()
    f = TinyJit(lambda i: (x[i] + 0).realize())
    for numbers in ([0, 1], [4, 1], [2, -5], [3, 9]):
        if f.cnt:
            expected = [float("nan") if not -4 <= n < 4 else n for n in numbers]
            check(f(Tensor(numbers)), np.float32(expected))
        else:
            f(Tensor(numbers))


def test_a_list_inside_a_tinyjit_is_known():
    x = Tensor.arange(4.0).realize()
    f = TinyJit(lambda i: x[i if f.cnt == 0 else [0, 4]].realize())
    f([0])
    with pytest.raises(IndexError, match="index 4 at position 1"):
        f([0])


@pytest.mark.parametrize(
    ("shape", "index"),
    [
        ((3, 2, 0, 4), (slice(None), np.zeros((2, 0), bool))),
        ((0, 2, 3), (np.zeros((0, 2), bool),)),
        ((3, 0), (np.zeros((3, 0), bool),)),
        ((0, 3), (np.zeros(0, bool), 1)),
        ((4, 3), (np.zeros((0, 2), np.int64),)),
    ],
)
def test_an_array_without_elements_is_an_index_of_its_own_dtype(shape, index):
    x = np.zeros(shape, np.float32)
    assert Tensor(x)[index].shape == x[index].shape


@pytest.mark.parametrize("empty", [np.zeros((2, 0), bool), np.zeros(0)])
def test_an_array_without_elements_that_is_no_index_is_refused(empty):
    x = np.zeros((2, 3), np.float32)
    for value in (x, Tensor(x)):
        with pytest.raises(IndexError):
            value[:, empty]


REFUSED = [
    *[(lambda t, truth=truth: t[truth], IndexError, "an index is an int.*not (np.)?(True|False)")
      for truth in (True, np.bool_(False))],
    (lambda t: t[[0, 3]], IndexError, "out of bounds"),
    (lambda t: t[[0], [0], [0], [0]], IndexError, "too many"),
    (lambda t: t[..., [0], ...], IndexError, "single ellipsis"),
    (lambda t: t[Tensor([0.5])], IndexError, None),
    (lambda t: t[Tensor([True, False])], IndexError, "mask"),
    (lambda t: t.__setitem__(0, Tensor([1, 2, 3, 4, 5])), RuntimeError, "dtype mismatch"),
    (lambda t: t.__setitem__(0, Tensor([1.0, 2.0])), RuntimeError, "do not broadcast"),
    (lambda t: Tensor([-1]).one_hot(), ValueError, None),
    (lambda t: Tensor([0, 2]).one_hot(-1), ValueError,
     "0 or more classes, not -1; leave num_classes out"),
    *[(lambda t, fill=fill: t.nonzero(size=3, fill_value=fill), ValueError,
       "fill_value is an int that fits dtypes.int, not") for fill in (1.5, None, 2**40)],
    (lambda t: t.scatter_reduce(1, Tensor([[[0]]]), t, "median"), RuntimeError, None),
    (lambda t: t.gather(0, Tensor([1])), ValueError, "axes"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_what_is_known_to_be_wrong_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(Tensor(X))


def test_nonzero_masked_select_and_one_hot():
    check(Tensor(MASK).nonzero(), np.argwhere(MASK).astype(np.int32))
    check(Tensor(X).masked_select(Tensor(MASK)), X[MASK])
    t = Tensor([0.0, 3, 0, 4])
    check(t.nonzero(size=3, fill_value=-1), np.array([[1], [3], [-1]], np.int32))
    check(t.masked_select(t > 0, size=3, fill_value=9), np.array([3, 4, 9], np.float32))
    lazy = Tensor([0, 2, 5]) + 0
    check(lazy.one_hot(3), np.array([[1, 0, 0], [0, 0, 1], [0, 0, 0]], np.int32))
    assert Tensor([0, 2]).one_hot().shape == (2, 3)


def test_a_variable_beside_uint64_and_other_dtypes():
    n = Variable("n", -9, 9)
    u = Tensor(np.array([3, 2**63, 2**64 - 1, 0], np.uint64)).realize()
    for value in (3, -1):
        for t in (u, u.cast("int8"), u.cast("float16"), u > 3):
            x, bound = t.numpy(), n.bind(value)
            assert (t == bound).tolist() == (x == value).tolist()
            assert (t > bound).tolist() == (x > value).tolist()
            assert (t <= bound).tolist() == (x <= value).tolist()


def test_uint64_as_an_index():
    places = np.array([2**24 + 1, 7, 2**24, 2**63, 2**64 - 1, 2**24 + 2], np.uint64)
    index = Tensor(places) + 0
    x = Tensor.arange(2**24 + 2).contiguous().realize()
    expected = [2**24 + 1, 7, 2**24, 0, 0, 0]
    for found in (x[index], x.gather(0, index), x.take(index), x.index_select(0, index),
                  x.take_along_dim(index, 0), x.reshape(2, -1).flatten()[index]):  # fmt: skip
        assert found.tolist() == expected
    small = Tensor(np.array([2, 2**64 - 1, 0], np.uint64)) + 0
    y = Tensor.zeros(3, dtype="int32").contiguous().realize()
    source = Tensor([5, 6, 7])
    for out in (y.scatter(0, small, source), y.scatter_add(0, small, source),
                y.index_add(0, small, source), y.index_copy(0, small, source)):  # fmt: skip
        assert out.tolist() == [7, 0, 5]
    assert y.index_fill(0, small, 4).tolist() == [4, 0, 4]
    y[small] = source
    assert y.tolist() == [7, 0, 5]
    grid = Tensor.arange(12).reshape(3, 4)
    assert grid[small, Tensor([1, 1, 3])].tolist() == [9, 0, 3]
    with pytest.raises(IndexError, match=f"index {2**24 + 1} at position 0 is out of bounds"):
        grid[places]


def test_scatter_takes_the_last():
    t, index = Tensor.zeros(2, 4), Tensor([[0, 0, 3], [1, 1, 1]])
    source = Tensor([[1.0, 2, 3], [4, 5, 6]])
    check(t.scatter(1, index, source), np.array([[2, 0, 0, 3], [0, 6, 0, 0]], np.float32))
    check(t.scatter(1, index, 7), np.array([[7, 0, 0, 7], [0, 7, 0, 0]], np.float32))
    assert t.scatter(1, index, source).dtype is dtypes.float32
