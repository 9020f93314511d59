"""Random indices and labels, some of them out of bounds, beside PyTorch."""

from __future__ import annotations

import pytest

from tests.fuzz.labels import LOSSES, OPS, WAYS, check, random_case
from tinyframe import Context


@pytest.mark.parametrize("first", range(0, 160, 20))
def test_what_pytorch_refuses_is_refused_where_it_is_known_and_nan_elsewhere(first):
    with Context(DEVICE="PYTHON"):
        for seed in range(first, first + 20):
            check(random_case(seed))


@pytest.mark.parametrize("seed", range(1000, 1012))
def test_compiled_cases_agree(seed):
    check(random_case(seed))


def test_every_op_has_wrong_indices_in_every_way():
    """In a thousand cases, of which nothing is computed."""
    cases = [case for seed in range(1000) if (case := random_case(seed)).wrong.any()]
    assert {case.name for case in cases} == {*OPS, *LOSSES}
    assert {case.way for case in cases} == {*WAYS}
