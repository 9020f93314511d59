"""What is refused with a reason; uint64 beside other integers; and copy_, which converts."""

from __future__ import annotations

import numpy as np
import pytest

from tinyframe import Tensor, TinyJit, dtypes
from tinyframe.jit.jit import JitError


def test_what_a_size_would_depend_on_is_refused_inside_a_jit():
    for call in (lambda x: x.one_hot(), lambda x: float(x.sum()) + x, lambda x: int(x.sum()) + x):
        jitted = TinyJit(call)
        jitted(Tensor([1, 2, 2]).realize())
        with pytest.raises(JitError, match="frozen|TinyJit"):
            jitted(Tensor([1, 2, 2]).realize())


def test_no_value_is_lost_where_uint64_meets_a_signed_integer():
    """On the way are all neighbours of 2**24, 2**53 and 2**63 that float32 or float64 joins."""
    near = sorted({0, 3, *[2**n + d for n in (24, 53) for d in (-1, 0, 1)], 2**63 - 1})
    signed = np.array([-(2**63), -1, *near])
    unsigned = np.array([*near, 2**63, 2**64 - 1], np.uint64)
    for x, y in ((signed, unsigned[::2]), (unsigned, signed[::2])):
        equal = [[m == n for m in x.tolist()] for n in y.tolist()]
        assert (Tensor(x) == Tensor(y).unsqueeze(-1)).tolist() == equal
        below = [[m <= n for m in x.tolist()] for n in y.tolist()]
        assert (Tensor(x) <= Tensor(y).unsqueeze(-1)).tolist() == below
    assert (Tensor(unsigned) + 0).one_hot(5).sum(0).tolist() == [1, 0, 0, 1, 0]
    assert Tensor(unsigned).sort(descending=True)[0].tolist() == unsigned[::-1].tolist()


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
        (lambda: Tensor.ones(3, 2).gather(1, Tensor([0])), ValueError, "(1,)"),
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
