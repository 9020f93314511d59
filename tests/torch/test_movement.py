"""Movement and its gradients agree with PyTorch where NumPy has no such method."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.values import check, shapes, sometimes
from tinyframe import Tensor

F = torch.nn.functional

# name: (ours, PyTorch's), of a matrix of at least 2 by 2
METHODS = {
    "unfold": (lambda x: x.unfold(1, 2, 1), lambda x: x.unfold(1, 2, 1)),
    "unfold wide": (lambda x: x.unfold(-1, 2, 3), lambda x: x.unfold(-1, 2, 3)),
    "pad": (lambda x: x.pad((1, 2, 0, 3), value=2.0), lambda x: F.pad(x, (1, 2, 0, 3), value=2.0)),
    "crop": (lambda x: x.pad((-1, 1)), lambda x: F.pad(x, (-1, 1))),
    "flip": (lambda x: x.flip(0, 1), lambda x: x.flip(0, 1)),
    "transpose": (lambda x: x.transpose(0, 1), lambda x: x.transpose(0, 1)),
    "T": (lambda x: x.T, lambda x: x.T),
    "expand": (lambda x: x[:, :1].expand(-1, 4), lambda x: x[:, :1].expand(-1, 4)),
    "repeat": (lambda x: x.repeat(2, 1, 3), lambda x: x.repeat(2, 1, 3)),
    "repeat_interleave": (lambda x: x.repeat_interleave(3, 1), lambda x: x.repeat_interleave(3, 1)),
    "flatten": (lambda x: x.flatten(), lambda x: x.flatten()),
    "unflatten": (lambda x: x.unflatten(0, (1, -1)), lambda x: x.unflatten(0, (1, -1))),
    "squeeze": (lambda x: x[:1].squeeze(0), lambda x: x[:1].squeeze(0)),
    "strided": (lambda x: x[::2, 1::3], lambda x: x[::2, 1::3]),
    "picked": (lambda x: x[-1, ..., None], lambda x: x[-1, ..., None]),
    "cat": (lambda x: Tensor.cat(x, x * 2, dim=1), lambda x: torch.cat([x, x * 2], dim=1)),
    "stack": (lambda x: Tensor.stack(x, x * 2, dim=-1), lambda x: torch.stack([x, x * 2], dim=-1)),
    "split": (lambda x: x.split(1, 0)[1], lambda x: x.split(1, 0)[1]),
    "chunk": (lambda x: x.chunk(2, 1)[0], lambda x: x.chunk(2, 1)[0]),
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
@given(shape=shapes(min_ndim=2, max_ndim=2, min_size=2, max_size=5), compiled=sometimes)
def test_movement_and_gradient(name, shape, compiled):
    ours, theirs = METHODS[name]
    x = np.arange(1, shape[0] * shape[1] + 1, dtype=np.float32).reshape(shape)
    mine, other = Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    out, expected = ours(mine), theirs(other)
    check(out, expected.detach().numpy(), compiled)
    weights = np.arange(1, out.numel() + 1, dtype=np.float32).reshape(out.shape)
    expected.backward(torch.tensor(weights))
    (grad,) = out.gradient(mine, gradient=Tensor(weights))
    check(grad, other.grad.numpy(), compiled)


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
