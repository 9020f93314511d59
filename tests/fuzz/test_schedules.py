"""Any legal list of Opts gives the same results, and touches nothing outside its arguments."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.fuzz.batch import Batch, interpret
from tests.fuzz.schedules import REAL, random_opts, real_kernels


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


def batch_of_random_opts(flags: tuple[str, ...], each: int) -> tuple[Batch, list]:
    """Every real kernel with some lists of Opts; and what each run should leave, with its text."""
    batch, wanted = Batch(flags), []
    for name in REAL:
        rng = Random(f"compiled {name}")
        for ast, arguments in real_kernels(name):
            expected = interpret(ast, arguments, [])
            for _ in range(each):
                opts, _ = random_opts(rng, ast)
                numbers = [batch.array(a) for a in arguments]
                batch.call(ast, numbers, opts)
                wanted += [
                    (n, e, f"{name} with {opts}") for n, e in zip(numbers, expected, strict=True)
                ]
    return batch, wanted


def test_random_opts_compiled():
    batch, wanted = batch_of_random_opts(("-O1",), 2)
    arrays = batch.run()
    for number, expected, what in wanted:
        same(arrays[number], expected, what)
