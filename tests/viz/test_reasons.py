"""why(x) names the values that get memory, and agrees with the kernels that really run."""

from __future__ import annotations

import pytest

from tests.kernels import kernels_of
from tinyframe import Tensor
from tinyframe.viz import why


def matrix(n: int = 64) -> Tensor:
    return Tensor.zeros(n, n).contiguous().realize()


EXPRESSIONS = {
    "one kernel": lambda a: (a + 1).relu().sum(),
    "each row is used at once": lambda a: a / a.sum(axis=1, keepdim=True),
    "the sum of all": lambda a: a / a.sum(),
    "a product twice": lambda a: (a @ a) @ a,
    "work that is needed often": lambda a: a.exp() @ a,
    "cut by hand": lambda a: (a * 2).contiguous() + 1,
    "two results": lambda a: (a + 1, a * 2),
}


@pytest.mark.parametrize("make", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_as_many_values_as_kernels_and_the_first_is_the_output(make):
    made = make(matrix())
    tensors = made if isinstance(made, tuple) else (made,)
    reasons = why(*tensors)
    assert {r.reason for r in reasons[: len(tensors)]} == {"output"}
    assert len(reasons) >= len(kernels_of(*tensors))


def test_as_text_there_is_a_line_for_each():
    a = matrix()
    first, *lines = repr(why(a / a.sum())).splitlines()
    assert first == "2 values are stored:"
    assert [line.split()[0] for line in lines] == ["FDIV", "REDUCE_AXIS"]
    assert "too little parallel work" in lines[1]
    assert repr(why(a + 1)).startswith("1 value is stored:")


def test_what_is_in_memory_needs_no_reason():
    assert len(why(matrix())) == 0 and "Nothing has to run" in repr(why(matrix().T))
