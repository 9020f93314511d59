"""Movement and its gradients agree with PyTorch where NumPy has no such method."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.values import check
from tinyframe import Tensor

F = torch.nn.functional


@given(data=st.data())
def test_split_and_chunk_cut_where_pytorch_does(data):
    n, size = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 5))
    x = np.arange(n)
    assert [p.shape[0] for p in Tensor(x).chunk(size)] == [
        len(p) for p in torch.tensor(x).chunk(size)
    ]
    assert [p.shape[0] for p in Tensor(x).split(size)] == [
        len(p) for p in torch.tensor(x).split(size)
    ]


PLACES = [0, 2, 1]
# name: an index, and whether NumPy's result has its axes in the same order
APART = {
    "int before": (lambda to: (1, slice(None), to(PLACES)), False),
    "int behind": (lambda to: (slice(None), to(PLACES), slice(None), 1), False),
    "int in the middle": (lambda to: (slice(None), 1, slice(None), to(PLACES)), False),
    "int beyond an ellipsis": (lambda to: (slice(None), 1, ..., to(PLACES)), False),
    "int beyond None": (lambda to: (slice(None), 1, None, to(PLACES)), False),
    "list": (lambda _: (slice(None), 1, slice(None), PLACES), False),
    "int beside": (lambda to: (slice(None), 1, to(PLACES)), True),
    "int between": (lambda to: (slice(None), to(PLACES), 1, to(PLACES)), True),
    "Tensors": (lambda to: (slice(None), to(PLACES), slice(None), to(PLACES)), True),
}  # fmt: skip


@pytest.mark.parametrize("name", APART)
def test_an_int_apart_from_a_tensor_is_taken_first_as_in_pytorch(name):
    index, is_numpys = APART[name]
    x = np.arange(4 * 5 * 6 * 7, dtype=np.float32).reshape(4, 5, 6, 7)
    expected = torch.tensor(x)[index(torch.tensor)].numpy()
    check(Tensor(x)[index(Tensor)], expected)
    assert (x[index(np.array)].shape == expected.shape) is is_numpys
    written, other = Tensor(x).contiguous().realize(), torch.tensor(x)
    values = np.arange(expected.size, dtype=np.float32).reshape(expected.shape) * -1
    written[index(Tensor)] = Tensor(values)
    other[index(torch.tensor)] = torch.tensor(values)
    check(written, other.numpy())


def test_a_tensor_of_shape_0_is_an_index_as_in_numpy():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    check(Tensor(x)[Tensor(1), :, Tensor([0, 2])], x[np.array(1), :, np.array([0, 2])])
    y = x.reshape(1, 2, 3, 4)
    check(Tensor(y)[:, Tensor(1), :, Tensor([0, 2])], y[:, np.array(1), :, np.array([0, 2])])
