"""What tells a node that was written by hand from one that an operator built."""

from __future__ import annotations

import pytest

from classroom.by_hand import building, others
from tinyframe import Tensor
from tinyframe.uop import Ops, UOp


@pytest.fixture
def a() -> UOp:
    return Tensor([1.0, 2.0]).realize().uop


def test_a_node_written_by_hand_is_known_and_one_of_an_operator_is_not(a):
    with building() as built:
        square = UOp(Ops.MUL, a.dtype, (a, a))
        total = square + a
    assert square in built and total not in built
    assert others(total, built, a) == [total] and others(square, built, a) == []


def test_a_node_that_exists_already_counts_when_it_is_written_by_hand(a):
    operator = a * a
    with building() as built:
        by_hand = UOp(Ops.MUL, a.dtype, (a, a))
    assert by_hand is operator and others(by_hand, built, a) == []


def test_afterwards_nodes_are_built_as_before(a):
    construct = UOp.__new__
    with pytest.raises(ZeroDivisionError), building() as built:
        raise ZeroDivisionError
    assert UOp.__new__ is construct
    assert UOp(Ops.SQRT, a.dtype, (a,)) not in built
