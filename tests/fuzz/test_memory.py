"""Random programs of views, changes, copies and captured calls, beside a model of memory."""

from __future__ import annotations

import pytest

from tests.fuzz.memory import check, random_program
from tinyframe import Context


@pytest.mark.parametrize("seed", range(40))
def test_programs_agree_with_the_model(seed):
    check(random_program(seed))


@pytest.mark.parametrize("seed", range(40))
def test_programs_with_captured_calls_agree_with_the_model(seed):
    check(random_program(seed, calls=True))


@pytest.mark.parametrize("seed", range(1000, 1020))
def test_programs_agree_without_optimization(seed):
    with Context(NOOPT=1):
        check(random_program(seed, calls=seed % 2 == 1))


# Each of these went wrong once.
@pytest.mark.parametrize("seed", [397, 690, 695, 3261, 3374, 3477, 3524, 3648, 3922, 3985, 4047,
                                  5479, 5636, 5846, 70000845, 7710001233, 7720001845, 7730001761,
                                  7740007219, 7740012839])  # fmt: skip
def test_programs_that_went_wrong_once(seed):
    check(random_program(seed, calls=True))
