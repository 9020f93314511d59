"""Inputs at the ends of what floats can do: every case of `tests.fuzz.extremes`, a few times."""

from __future__ import annotations

import pytest

from tests.fuzz.extremes import CASES, LAYERS, check


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_at_the_ends_are_those_of_pytorch(name):
    check(name, 0)
    for seed in range(1, 5 if name.startswith("edges") else 1):
        check(name, seed, compiled=False)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", LAYERS)
def test_padding_alone_spoils_no_gradient(name, seed):
    check(name, seed)
