"""Any legal list of Opts gives the same results, and touches nothing outside its arguments."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.fuzz.batch import Batch, interpret
from tests.fuzz.schedules import (
    REAL,
    TRAINING,
    random_opt,
    random_opts,
    real_kernels,
    tidied,
    training_kernels,
    wandering_opts,
    why_illegal,
)
from tinyframe.settings import Context


def same(got: np.ndarray, expected: np.ndarray, what: str) -> None:
    np.testing.assert_allclose(got, expected.reshape(got.shape), rtol=2e-4, atol=1e-3, err_msg=what)


@pytest.mark.parametrize("name", REAL)
def test_random_opts_on_the_interpreter(name):
    rng = Random(name)
    for ast, arguments in real_kernels(name):
        expected = interpret(ast, arguments, [])
        opts, _ = random_opts(rng, ast)
        for got, wanted in zip(interpret(ast, arguments, opts), expected, strict=True):
            same(got, wanted, f"{name} with {opts}")


def batch_of_random_opts(flags: tuple[str, ...]) -> tuple[Batch, list]:
    """Every real kernel with random Opts, others with other flags; and what each run should leave,
    with its text."""
    batch, wanted = Batch(flags), []
    for name in REAL:
        rng = Random(f"compiled {name} {flags}")
        for ast, arguments in real_kernels(name):
            expected = interpret(ast, arguments, [])
            opts, _ = random_opts(rng, ast)
            numbers = [batch.array(a) for a in arguments]
            batch.call(ast, numbers, opts)
            wanted += [
                (n, e, f"{name} with {opts}") for n, e in zip(numbers, expected, strict=True)
            ]
    return batch, wanted


def test_random_opts_compiled():
    batch, wanted = batch_of_random_opts(("-O1",))
    arrays = batch.run()
    for number, expected, what in wanted:
        same(arrays[number], expected, what)


@pytest.mark.parametrize("name", TRAINING)
def test_a_training_step_is_the_same_with_any_opts(name):
    rng, batch, wanted = Random(f"training {name}"), Batch(("-O1",)), []
    for ast, arguments in training_kernels(name):
        plain = [batch.array(a) for a in arguments]
        with Context(NOOPT=1):
            batch.call(ast, plain, [])
        lists = [random_opts(rng, ast, 4)[0], random_opts(rng, ast)[0]]
        lists += [wandering_opts(rng, ast, steps) for steps in (1, 3)]
        for opts in lists:
            numbers = [batch.array(a) for a in arguments]
            batch.call(ast, numbers, opts)
            wanted += [(n, p, f"{ast}\nwith {opts}") for n, p in zip(numbers, plain, strict=True)]
    arrays = batch.run()
    for number, expected, what in wanted:
        same(arrays[number], arrays[expected], what)


@pytest.mark.parametrize("name", TRAINING)
def test_an_illegal_opt_on_a_training_step_says_why(name):
    rng, reasons = Random(f"illegal {name}"), set()
    for ast, _ in training_kernels(name):
        kernel = tidied(ast)
        for _ in range(10):
            opt = random_opt(rng, kernel)
            if (reason := why_illegal(kernel, [opt])) is not None:
                opening, _, words = reason.partition(f"{opt}: ")
                assert not opening and len(words) > 10, reason
                reasons.add(words)
    assert len(reasons) > 10
