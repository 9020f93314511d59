"""What the exercises on attention share: calling a function of mini's Tensors, on small cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from classroom import differences
from classroom.ask import Wrong, call, describe, wrong_if
from classroom.mini.own_c import module

SMALL = "`n = 1`, two places, two numbers each"


def values_of(answer: Callable[..., Any], *arrays: np.ndarray, case: str) -> np.ndarray:
    """What a function of mini's Tensors gives for these, as numbers."""
    Tensor = module("part4").Tensor
    given = [Tensor(array) for array in arrays]
    nodes = [tensor.uop for tensor in given]
    got = call(answer, *given)
    wrong_if(
        not isinstance(got, Tensor),
        "The answer has to be a Tensor of your framework. NumPy "
        "knows no gradients, and this is to be trained.",
        case,
        got=describe(got),
    )
    reached = {*got.uop.toposort()}
    wrong_if(
        not reached.issuperset(nodes),
        "It doesn't use all that it was given. Or you left the graph for NumPy, and no gradient "
        "gets through that.",
        case,
    )
    return got.numpy()


def expect_no_mistake(
    got: np.ndarray, right: np.ndarray, mistakes: dict[str, np.ndarray], case: str
) -> None:
    """Wrong, with its sentence, where the values are those of a known mistake."""
    for sentence, values in mistakes.items():
        same = got.shape == values.shape and np.allclose(got, values, atol=1e-4)
        wrong_if(same, sentence, case, right.round(3).tolist(), got.round(3).tolist())


def expect(got: np.ndarray, expected: np.ndarray, case: str, shown: bool) -> None:
    """Wrong, with the first difference, where these aren't the same."""
    if got.shape != expected.shape:
        raise Wrong(differences.of_shapes(got.shape, expected.shape), case)
    if not np.allclose(got, expected, rtol=1e-4, atol=1e-4):
        text = differences.of_values(got, expected, named=shown)
        both = (describe(expected.tolist()), describe(got.round(4).tolist())) if shown else ("", "")
        raise Wrong(text or "The values are wrong.", case, *both)


def shares_of(scores: np.ndarray) -> np.ndarray:
    """The softmax along the last axis."""
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)
