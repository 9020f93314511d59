"""Arrays cross from PyTorch and back with their values, shapes and dtypes, and are copies."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tinyframe import Tensor, dtypes

DTYPES = {
    torch.float32: dtypes.float32, torch.float64: dtypes.float64, torch.float16: dtypes.float16,
    torch.bfloat16: dtypes.bfloat16, torch.int8: dtypes.int8, torch.int16: dtypes.int16,
    torch.int32: dtypes.int32, torch.int64: dtypes.int64, torch.uint8: dtypes.uint8,
    torch.bool: dtypes.bool,
}  # fmt: skip

VIEWS = {
    "whole": lambda x: x,
    "transposed": lambda x: x.T,
    "every other": lambda x: x[:, ::2],
    "part": lambda x: x[1:, 1:],
    "expanded": lambda x: x[:, :1].expand(2, 3),
    "empty": lambda x: x[:0],
    "one": lambda x: x[1, 1],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_tensor_of_pytorch_comes_and_goes(dtype, view):
    theirs = VIEWS[view](torch.tensor([[0, 1.5, -2], [3, 120.25, 5]]).to(dtype))
    for ours in (Tensor(theirs), Tensor.from_dlpack(theirs)):
        assert ours.dtype is DTYPES[dtype]
        assert ours.shape == tuple(theirs.shape)
        assert ours.tolist() == theirs.tolist()
        back = torch.from_dlpack(ours)
        assert back.dtype is dtype and torch.equal(back, theirs)


def test_what_came_and_what_went_are_copies():
    theirs = torch.ones(3)
    ours = Tensor(theirs)
    theirs[0] = 5
    assert ours.tolist() == [1, 1, 1]
    gone = torch.from_dlpack(ours)
    ours.assign(Tensor([7.0, 7, 7])).realize()
    gone += 1
    assert gone.tolist() == [2, 2, 2] and ours.tolist() == [7, 7, 7]


def test_a_copy_outlives_the_tensor_it_was_taken_from():
    gone = [torch.from_dlpack(Tensor.full((1000,), float(n)).contiguous()) for n in range(20)]
    assert [t.unique().tolist() for t in gone] == [[n] for n in range(20)]


def test_a_dtype_is_converted_on_the_way_in():
    t = Tensor(torch.tensor([1.7, -2.7], dtype=torch.bfloat16), dtype="int32")
    assert t.dtype is dtypes.int32 and t.tolist() == [1, -2]


def test_a_view_a_lazy_tensor_and_one_of_another_device_can_be_exported():
    x = Tensor([[1.0, 2], [3, 4]])
    for t in (x.T, x * 2, x[1], Tensor([[1.0, 2], [3, 4]], device="PYTHON") + 1):
        assert t.__dlpack_device__() == (1, 0)
        assert torch.from_dlpack(t).tolist() == np.from_dlpack(t).tolist() == t.tolist()


def test_memory_is_not_shared():
    with pytest.raises(BufferError, match="copies"):
        Tensor([1.0]).__dlpack__(copy=False)


def test_what_has_an_array_or_a_buffer_is_taken_too():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1, 2]], np.int16)

    t = Tensor(Wrapped())
    assert t.dtype is dtypes.int16 and t.tolist() == [[1, 2]]
    import array

    t = Tensor(array.array("d", [0.5, 1.5]))
    assert t.dtype is dtypes.float64 and t.tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (torch.ones(2, requires_grad=True), BufferError, "detach"),
        (torch.ones(2) * 1j, TypeError, "complex64"),
        (Tensor([1.0]), TypeError, "clone"),
        ("text", TypeError, "'text' of type str"),
        (object(), TypeError, "of type object"),
    ],
)
def test_what_cannot_be_taken_is_named(data, error, words):
    with pytest.raises(error, match=words):
        Tensor(data)


def test_from_dlpack_takes_what_speaks_it():
    with pytest.raises(TypeError, match="__dlpack__, not list"):
        Tensor.from_dlpack([1.0])


# ---- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [2.75, -2.75, 3, True])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element_is_a_python_number_as_in_pytorch(value, shape):
    ours, theirs = Tensor(value).reshape(shape), torch.tensor(value).reshape(shape)
    assert float(ours) == float(theirs) and type(float(ours)) is float
    assert int(ours) == int(theirs) and type(int(ours)) is int
    assert f"{ours:.1f}" == f"{theirs.reshape(()):.1f}"


def test_a_number_that_no_int_can_be_is_an_error_as_in_pytorch():
    for value, error in ((float("nan"), ValueError), (float("inf"), OverflowError)):
        for tensor in (Tensor(value), torch.tensor(value)):
            with pytest.raises(error):
                int(tensor)
