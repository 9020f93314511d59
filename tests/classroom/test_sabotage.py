"""A mistake that is put into the compiler is there for its block, and no longer."""

from __future__ import annotations

import pytest

from classroom.sabotage import sabotage
from tinyframe import Context, Tensor
from tinyframe.codegen import passes
from tinyframe.rewrite.spec import SpecError


def bills() -> list[float]:
    prices = Tensor([0.5, 2.25]).realize()
    return (Tensor([[2.0, 4.0], [1.0, 1.0]]).realize() * prices).sum(axis=1).tolist()


def test_results_are_wrong_inside_and_right_before_and_after():
    stages = list(passes)
    assert bills() == [10.0, 2.75]
    with sabotage(), Context(SPEC=0):
        assert bills() == [8.0, 2.0]  # 2 * 0 + 4 * 2 and 1 * 0 + 1 * 2
    assert bills() == [10.0, 2.75]
    assert passes == stages


def test_spec_names_the_stage_and_an_error_leaves_the_compiler_as_it_was():
    stages = list(passes)
    refused = pytest.raises(SpecError, match="after the stage 'tidy numbers': Ops.MUL")
    with refused, sabotage(), Context(SPEC=1):
        bills()
    assert passes == stages
