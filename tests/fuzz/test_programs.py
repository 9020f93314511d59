"""Random graphs of movement, arithmetic, reduces and changes in place give what NumPy gives."""

from __future__ import annotations

from random import Random

import pytest

from tests.fuzz.programs import check, random_program
from tinyframe import Context

SEEDS = range(40)


def checked(seed: int, device: str, **options: bool) -> None:
    check(random_program(Random(seed), **options), device)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_interpreter_stays_inside_every_buffer_and_agrees(seed):
    checked(seed, "PYTHON")


@pytest.mark.parametrize("seed", SEEDS)
def test_compiled_programs_agree(seed):
    checked(1000 + seed, "CPU")


@pytest.mark.parametrize("seed", range(15))
def test_compiled_programs_agree_without_optimization(seed):
    with Context(NOOPT=1):
        checked(2000 + seed, "CPU")
