"""What several exercises of this lesson need."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import numpy as np

from classroom.ask import Wrong, call, forbidden, fresh_sizes, same_values, wrong_if
from tinyframe import Tensor
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.tensor import gradient as gradient_module


def pair(value: Any, kind: type, what: str, case: str) -> tuple[Any, Any]:
    """A pair of two of a kind; Wrong for anything else."""
    if not (isinstance(value, (tuple, list)) and len(value) == 2) or not all(
        isinstance(part, kind) for part in value
    ):
        raise Wrong(f"The answer has to be a pair of {what}.", case)
    return value[0], value[1]


def close(got: Any, expected: np.ndarray) -> bool:
    values = (got if isinstance(got, Tensor) else Tensor(got)).numpy()
    return values.shape == expected.shape and np.allclose(values, expected, rtol=1e-4, atol=1e-5)


def undifferentiated() -> AbstractContextManager[None]:
    """Wrong where the answer asks tinyframe for a gradient inside, in whatever way."""
    text = "Your function asks tinyframe for the gradient. Here, you work it out yourself."
    asks: list[tuple[Any, str]] = [(Tensor, "gradient"), (Tensor, "backward")]
    asks += [(gradient_module, "flow_back"), (gradient_module, "compute_gradient")]
    # and whoever has a name of their own for one of these, as the notebook has for flow_back
    asks.append((gradient_module.gradient_rules, "candidates"))
    return forbidden(text, *asks)


def in_front(*rows: Any) -> AbstractContextManager[Any]:
    """Puts rows in front of the gradient table, and takes them out again."""
    table = PatternMatcher([*rows, *gradient_module.gradient_rules.rules])
    return mock.patch.object(gradient_module, "gradient_rules", table)


def _coupled(v: Any) -> float:
    return float(v[0] * v[1] + v[2] ** 2)


def _wavy(v: Any) -> float:
    return float((np.sin(v) * v).sum() + v[0] * v[-1])


def _slopes_of_wavy(v: np.ndarray) -> np.ndarray:
    slopes = np.sin(v) + v * np.cos(v)
    slopes[[0, -1]] += v[[-1, 0]]
    return slopes


SHOWN = "`f = v[0] * v[1] + v[2] ** 2`, at `[1, 2, 3]`"


def numerical(answer) -> str:
    """answer(f, x, eps): the gradient of f, from arrays to floats, at x, by central differences."""
    fresh = np.random.default_rng().random(fresh_sizes(1)[0]) + 0.5
    small = np.array([0.0, 1e-4, -1e-4, 0.0])
    at = np.array([1.0, 2.0, 3.0])
    cases: list[tuple[str, Callable[[Any], float], np.ndarray, float, np.ndarray]] = [
        (SHOWN, _coupled, at, 1e-2, np.array([2.0, 1.0, 6.0])),
        ("a different function", _wavy, fresh, 1e-3, _slopes_of_wavy(fresh)),
        ("numbers close to 0", _wavy, small, 1e-3, _slopes_of_wavy(small)),
    ]
    for case, f, x, eps, exact in cases:
        given = x.copy()
        values = as_numbers(call(answer, f, given, eps), len(x), case)
        if not np.array_equal(given, x):
            raise Wrong("Your function changed `x` itself. Nudge a copy of it.", case)
        for way in (eps, -eps):
            one_sided = [(_nudged(f, x, i, way) - f(x)) / way for i in range(len(x))]
            if np.allclose(values, one_sided, rtol=1e-6) and not np.allclose(values, exact, 1e-4):
                raise Wrong("You nudged in one direction only. Nudge up and down, and divide by `2 "
                            "* eps`: then the error shrinks with the square of `eps`.",
                            case)  # fmt: skip
        together = (f(x + eps) - f(x - eps)) / (2 * eps)
        if np.allclose(values, together, rtol=1e-6):
            raise Wrong("You nudged all the elements together. Nudge one at a time.", case)
        wrong_if(np.allclose(values, 2 * exact, rtol=1e-4), "Every slope is twice as large as it "
                 "should be. How far apart are the two nudged points?", case)  # fmt: skip
        same_values(Tensor(values), exact, case, shown=case == SHOWN)
    return "With these few lines you can examine the gradient of anything that takes an array."


def _nudged(f: Callable[[Any], float], x: np.ndarray, i: int, eps: float) -> float:
    moved = x.copy()
    moved[i] += eps
    return f(moved)


def as_numbers(value: Any, length: int, case: str) -> np.ndarray:
    """An array, a list or a Tensor of so many numbers; Wrong for anything else."""
    try:
        if isinstance(value, (list, tuple)):
            value = [part.item() if hasattr(part, "item") else part for part in value]
        values = value.numpy() if isinstance(value, Tensor) else np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        values = np.array(0.0)
    if values.shape != (length,):
        raise Wrong("The answer has to be an array with one slope for each element.", case)
    return values
