"""Tensors are made of what Python and NumPy have, with the right shape, dtype and values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.values import arrays, check, shapes, sometimes
from tinyframe import Device, Tensor, Variable, dtypes
from tinyframe.device import buffer_of
from tinyframe.dtype import to_np_dtype
from tinyframe.uop.node import Ops


@pytest.mark.filterwarnings("ignore:Tensor.None. is empty")
@pytest.mark.parametrize("data, dtype, shape", [
    (3, dtypes.int32, ()),
    (3.5, dtypes.float32, ()),
    (True, dtypes.bool, ()),
    ([1, 2], dtypes.int32, (2,)),
    ([1, 2.5], dtypes.float32, (2,)),
    ([True, False], dtypes.bool, (2,)),
    ([True, 2], dtypes.int32, (2,)),
    ([[1, 2, 3], (4, 5, 6)], dtypes.int32, (2, 3)),
    ((1.0,), dtypes.float32, (1,)),
    ([[[True]]], dtypes.bool, (1, 1, 1)),
    ([], dtypes.float32, (0,)),
    ([[], []], dtypes.float32, (2, 0)),
    (None, dtypes.float32, (0,)),
    (b"abc", dtypes.uint8, (3,)),
    (np.array([1]), dtypes.int64, (1,)),
    (np.array([1.0]), dtypes.float64, (1,)),
    (np.float32(2), dtypes.float32, ()),
    (np.array(7, np.int8), dtypes.int8, ()),
])  # fmt: skip
def test_shape_and_dtype_of_data(data, dtype, shape):
    t = Tensor(data)
    assert (t.dtype, t.shape) == (dtype, shape)
    values = list(data) if isinstance(data, bytes) else [] if data is None else data
    check(t, np.array(values, to_np_dtype(dtype)).reshape(shape), compiled=True)


@given(data=st.data(), dtype=st.sampled_from([d for d in dtypes.all if d is not dtypes.bfloat16]))
def test_numpy_arrays_go_in_and_come_out(data, dtype):
    x = data.draw(arrays(dtype))
    for view in (x, x.T, x[::-1] if x.ndim else x):
        out = Tensor(view).numpy()
        assert out.dtype == view.dtype
        np.testing.assert_array_equal(out, view)


@pytest.mark.parametrize("dtype", dtypes.all)
def test_data_in_every_dtype(dtype):
    by_list, by_number = Tensor([1, 0, 1], dtype=dtype), Tensor(1, dtype=dtype)
    assert by_list.dtype is by_number.dtype is dtype
    kind = bool if dtype is dtypes.bool else int if dtypes.is_int(dtype) else float
    assert [type(v) for v in by_list.tolist()] == [kind] * 3
    assert by_list.tolist() == [1, 0, 1]
    assert by_number.item() == 1
    assert type(by_number.item()) is kind
    assert Tensor(np.array([1.0, 0.0]), dtype=dtype).dtype is dtype
    name = dtype.name if dtype.name in dtypes.fields() else str(dtype)
    assert Tensor([1], dtype=name).dtype is dtype


def test_ints_wrap_where_the_dtype_was_asked_for():
    check(Tensor([300, -1], dtype=dtypes.uint8), np.array([44, 255], np.uint8))
    check(Tensor([1.9, -1.9], dtype=dtypes.int32), [1, -1])
    check(Tensor(-1, dtype=dtypes.uint16), np.uint16(65535))


@given(shape=shapes(), compiled=sometimes)
def test_filled_tensors(shape, compiled):
    check(Tensor.zeros(shape), np.zeros(shape), compiled)
    check(Tensor.ones(*shape), np.ones(shape), compiled)
    check(Tensor.full(shape, 7), np.full(shape, 7), compiled)
    assert Tensor.full(shape, 7).dtype is dtypes.int32
    assert Tensor.full(shape, 7.0).dtype is dtypes.float32
    assert Tensor.full(list(shape), True).dtype is dtypes.bool
    assert Tensor.empty(shape, dtype="int8").shape == shape
    like = Tensor.zeros(shape, dtype=dtypes.half)
    for name in ("ones_like", "zeros_like", "empty_like", "rand_like", "randn_like"):
        made = getattr(like, name)()
        assert (made.shape, made.dtype) == (shape, dtypes.half)
    assert (like.full_like(3).shape, like.full_like(3).dtype) == (shape, dtypes.half)
    assert like.ones_like(dtype=dtypes.int32).dtype is dtypes.int32


whole = st.integers(-9, 9)


@given(start=whole, stop=whole, step=whole.filter(bool), compiled=sometimes)
def test_arange_of_ints(start, stop, step, compiled):
    check(Tensor.arange(start, stop, step), np.arange(start, stop, step, dtype=np.int32), compiled)


@given(start=st.floats(-5, 5), stop=st.floats(-5, 5), step=st.floats(0.1, 3))
def test_arange_of_floats(start, stop, step):
    expected = np.arange(start, stop, step)
    assert Tensor.arange(start, stop, step).dtype is dtypes.float32
    check(Tensor.arange(start, stop, step), expected)


@pytest.mark.parametrize("dtype", [dtypes.half, dtypes.bfloat16])
def test_narrow_floats_are_numbered_in_float32(dtype):
    # a half ends at 65504, and counts in twos from 2048 on
    expected = np.arange(0, 10, 1e-4)
    found = Tensor.arange(0, 10, 1e-4, dtype=dtype)
    check(found, expected)
    check(Tensor.linspace(-3, 5, 140_000, dtype=dtype), np.linspace(-3, 5, 140_000))


def test_arange_at_the_edges():
    assert Tensor.arange(3).dtype is dtypes.int32
    assert Tensor.arange(3.0).dtype is dtypes.float32
    check(Tensor.arange(5, dtype=dtypes.uint8), np.arange(5))
    check(Tensor.arange(10000), np.arange(10000), compiled=True)
    check(Tensor.arange(7, 100007, 3), np.arange(7, 100007, 3))
    check(Tensor.arange(-10, -20000, -2, dtype=dtypes.int64), np.arange(-10, -20000, -2))


@given(start=st.floats(-9, 9), stop=st.floats(-9, 9), steps=st.integers(0, 9))
def test_linspace(start, stop, steps):
    check(Tensor.linspace(start, stop, steps), np.linspace(start, stop, steps))


@given(n=st.integers(0, 5), m=st.none() | st.integers(0, 5), compiled=sometimes)
def test_eye(n, m, compiled):
    check(Tensor.eye(n, m), np.eye(n, m), compiled)
    assert Tensor.eye(2, dtype=dtypes.int32).dtype is dtypes.int32
    assert Tensor.linspace(0, 10, 5, dtype=dtypes.int32).dtype is dtypes.int32


# ---- what a Tensor says of itself ----------------------------------------------------------------


def test_sizes():
    t = Tensor.ones(2, 3, dtype=dtypes.half)
    assert (t.ndim, t.numel(), t.nbytes, t.element_size()) == (2, 6, 12, 2)
    assert (t.size(), t.size(1), t.size(-1), t.shape) == ((2, 3), 3, 3, (2, 3))
    assert t.is_floating_point() and not Tensor([1]).is_floating_point()
    assert t.device == Device.DEFAULT


def test_values_come_out_as_python_has_them():
    assert Tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert Tensor(2.5).tolist() == 2.5
    assert Tensor([True]).item() is True
    assert Tensor([[1.5]]).item() == 1.5
    view = Tensor([[1, 2, 3], [4, 5, 6]]).data()
    assert (view.shape, view.tolist()) == ((2, 3), [[1, 2, 3], [4, 5, 6]])
    assert np.asarray(Tensor([1, 2])).tolist() == [1, 2]


# ---- whose memory it is --------------------------------------------------------------------------


def frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def memory_under(t: Tensor) -> np.ndarray:
    (leaf,) = [u for u in t.uop.toposort() if u.op is Ops.BUFFER]
    return buffer_of(leaf).numpy()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0),
        frozen(np.arange(12.0)[::2]),
        frozen(np.arange(12.0).reshape(3, 4).T),
        frozen(np.arange(12.0))[3:],
        np.frombuffer(bytes(range(16)), np.int32),
    ],
    ids=["writeable", "a view of writeable", "turned", "a view of read-only", "bytes"],
)
def test_an_array_that_may_change_is_copied_at_once(array):
    expected = array.copy()
    t = Tensor(array)
    base = array
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    if isinstance(base, np.ndarray) and base.flags.writeable:
        assert not np.shares_memory(memory_under(t), array)
        base[...] = -1
    else:
        assert np.shares_memory(memory_under(t), array)
    np.testing.assert_array_equal(t.numpy(), expected)
    # what is computed in place is ours, whoever's memory it came from
    t.assign(t + 1).realize()
    np.testing.assert_array_equal(t.numpy(), expected + 1)


def test_a_read_only_array_is_not_written_to_on_the_host_either():
    array = frozen(np.arange(4, dtype=np.float32))
    t = Tensor(array, device="PYTHON")
    t.assign(t * 2).realize()
    assert t.tolist() == [0, 2, 4, 6] and array.tolist() == [0, 1, 2, 3]


# ---- what an error says to write; the errors: test_refusals.py -----------------------------------

MASKED = np.ma.masked_array([1.0, 2.0], [True, False], np.float32)
T, ONE = Tensor([1.0, 2.0]), Variable("one", 1, 4).bind(1)
NAMES = {"Tensor": Tensor, "np": np, "T": T, "ONE": ONE, "MASKED": MASKED}


@pytest.mark.parametrize(("call", "expected"), [
    ("Tensor(np.array([np.float32(1.5)]))", [1.5]), ("Tensor.stack([T, T])", [[1, 2], [1, 2]]),
    ("Tensor.stack([Tensor(0), Tensor(ONE)])", [0, 1]), ("Tensor(MASKED.filled(0))", [0, 2]),
    ("Tensor(MASKED.mask)", [True, False]),
])  # fmt: skip
def test_what_an_error_says_to_write_is_taken(call, expected):
    check(eval(call, NAMES), expected)
