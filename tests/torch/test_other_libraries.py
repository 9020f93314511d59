"""Arrays cross from PyTorch and back with their values, shapes and dtypes, and are copies."""

from __future__ import annotations

import array

import numpy as np
import pytest
import torch

from tinyframe import Tensor, dtypes

DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8",
          "bool"]  # fmt: skip
VIEWS = ["x", "x.T", "x[:, ::2]", "x[1:, 1:]", "x[:, :1].expand(2, 3)", "x[:0]", "x[1, 1]"]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", DTYPES)
def test_a_tensor_of_pytorch_comes_and_goes(name, view):
    x = torch.tensor([[0, 1.5, -2], [3, 120.25, 5]]).to(getattr(torch, name))
    theirs = eval(view, {"x": x})
    for ours in (Tensor(theirs), Tensor.from_dlpack(theirs)):
        assert ours.dtype is getattr(dtypes, name)
        assert ours.shape == tuple(theirs.shape)
        assert ours.tolist() == theirs.tolist()
        back = torch.from_dlpack(ours)
        assert back.dtype is x.dtype and torch.equal(back, theirs)


def test_what_came_and_what_went_are_copies():
    theirs = torch.ones(3)
    ours = Tensor(theirs)
    theirs[0] = 5
    assert ours.tolist() == [1, 1, 1]
    gone = torch.from_dlpack(ours)
    ours.assign(Tensor([7.0, 7, 7])).realize()
    gone += 1
    assert gone.tolist() == [2, 2, 2] and ours.tolist() == [7, 7, 7]
    with pytest.raises(BufferError, match="copies"):
        ours.__dlpack__(copy=False)


def test_a_copy_outlives_the_tensor_it_was_taken_from():
    gone = [torch.from_dlpack(Tensor.full((1000,), float(n)).contiguous()) for n in range(20)]
    assert [t.unique().tolist() for t in gone] == [[n] for n in range(20)]


def test_a_view_a_lazy_tensor_and_one_of_another_device_can_be_exported():
    x = Tensor([[1.0, 2], [3, 4]])
    for t in (x.T, x * 2, x[1], Tensor([[1.0, 2], [3, 4]], device="PYTHON") + 1):
        assert t.__dlpack_device__() == (1, 0)
        assert torch.from_dlpack(t).tolist() == np.from_dlpack(t).tolist() == t.tolist()


class Wrapped:
    def __array__(self, dtype=None, copy=None):
        return np.array([[1, 2]], np.int16)


@pytest.mark.parametrize(("data", "options", "dtype", "values"), [
    (torch.tensor([1.7, -2.7], dtype=torch.bfloat16), {"dtype": "int32"}, "int32", [1, -2]),
    (Wrapped(), {}, "int16", [[1, 2]]),
    (array.array("d", [0.5, 1.5]), {}, "float64", [0.5, 1.5]),
], ids=["another dtype", "an array", "a buffer"])  # fmt: skip
def test_what_has_values_is_taken_and_converted(data, options, dtype, values):
    t = Tensor(data, **options)
    assert t.dtype is getattr(dtypes, dtype) and t.tolist() == values


@pytest.mark.parametrize(("make", "data", "error", "words"), [
    (Tensor, torch.ones(2, requires_grad=True), BufferError, "detach"),
    (Tensor, torch.ones(2) * 1j, TypeError, "complex64"),
    (Tensor, Tensor([1.0]), TypeError, "clone"),
    (Tensor, "text", TypeError, "'text' of type str"),
    (Tensor, object(), TypeError, "of type object"),
    (Tensor.from_dlpack, [1.0], TypeError, "__dlpack__, not list"),
])  # fmt: skip
def test_what_cannot_be_taken_is_named(make, data, error, words):
    with pytest.raises(error, match=words):
        make(data)


# ---- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [2.75, -2.75, 3, True])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element_is_a_python_number_as_in_pytorch(value, shape):
    ours, theirs = Tensor(value).reshape(shape), torch.tensor(value).reshape(shape)
    assert float(ours) == float(theirs) and type(float(ours)) is float
    assert int(ours) == int(theirs) and type(int(ours)) is int
    assert f"{ours:.1f}" == f"{theirs.reshape(()):.1f}"


@pytest.mark.parametrize(("value", "error"), [("nan", ValueError), ("inf", OverflowError)])
def test_a_number_that_no_int_can_be_is_an_error_as_in_pytorch(value, error):
    for make in (Tensor, torch.tensor):
        with pytest.raises(error):
            int(make(float(value)))
