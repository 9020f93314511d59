"""An op of your own

Hint: Which function do you know the derivative of? Write it with NumPy first, and leave the row
for later.
Hint: For tanh, the derivative is 1 minus the square of the result, and `node` is the result. For
arctan it's 1 / (1 + x²).
Because: An op is a row in two tables. The examiner never looks at either of them: it only nudges
the input and sees what comes out.
Right: mini has an op that it didn't have before, and your examiner has found nothing wrong.
"""

import importlib
from typing import Any
from unittest import mock

import numpy as np

from classroom.ask import Open, Wrong, call, wrong_if
from classroom.lessons.gradients.shared import SHOWN, as_numbers
from classroom.lessons.gradients.shared import numerical as check_of_the_examiner
from classroom.mini import triumphs

THERE: dict[str, Any] = {"SQRT": np.sqrt, "EXP2": np.exp2, "LOG2": np.log2, "RECIP": np.reciprocal}


WEIGHTS = np.array([2.0, -1.0, 0.5, 3.0, -2.0])  # what arrives at the op, so that it can't be lost


OTHERS: dict[str, Any] = {"exp": np.exp, "log": np.log, "relu": lambda v: np.maximum(v, 0)}


def check(answer) -> None:
    """answer: what an op does to an array, its row, and an examiner that agrees with the row."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 3 or not all(map(callable, answer)):
        raise Wrong("This exercise asks for three functions: forward, row and your examiner.")
    forward, row, examiner = answer[0], answer[1], answer[2]
    x = np.array([0.2, 0.35, 0.5, 0.65, 0.8])
    _judge_forward(forward, x)
    _judge_examiner(examiner)
    points = [x, np.random.default_rng().uniform(0.15, 0.85, 5)]
    with np.errstate(all="ignore"):
        if np.isfinite(np.asarray(call(forward, -x), dtype=float)).all():
            points.append(-x)
    op = triumphs.taught(forward, row)
    for numbers in points:
        fixed = numbers is not points[1]
        case = f"`x = {numbers.tolist()}`" if fixed else "fresh numbers"
        slopes = _by_the_row(op, numbers, case)
        measured = as_numbers(
            call(examiner, lambda v: float(np.sum(forward(v))), numbers.copy(), 1e-3), 5, case
        )
        differs = ~np.isclose(slopes, measured, rtol=1e-2, atol=2e-3)
        if differs.any():
            place = int(np.argmax(differs))
            wrong_if(np.allclose(slopes * WEIGHTS, measured, rtol=1e-2, atol=2e-3),
                     "Your row returns the slope, and `grad` gets lost. What flows back is `grad` "
                     "times the slope.", case)  # fmt: skip
            where = f" where x is {numbers[place]:g}" if fixed else ""
            said = (f"{measured[place]:.3f} (measured)", f"{slopes[place]:.3f} (your row)")
            raise Wrong(f"Your examiner doesn't agree with your row{where}.", case,
                        *(said if fixed else ()))  # fmt: skip


def _judge_forward(forward: Any, x: np.ndarray) -> None:
    case = f"`forward` of `{x.tolist()}`"
    with np.errstate(all="ignore"):
        got = call(forward, x.copy())
        try:
            values = np.asarray(got, dtype=float)
        except (TypeError, ValueError):
            values = np.array(0.0)
        if values.shape != x.shape:
            raise Wrong("`forward` has to return an array of the same shape.", case)
        if not np.isfinite(values).all():
            raise Wrong("Your op should be defined between 0 and 1. It isn't.", case, got=values)
        for place in range(len(x)):
            alone = np.asarray(call(forward, x[place : place + 1].copy()), dtype=float)
            if alone.shape != (1,) or not np.allclose(alone[0], values[place]):
                raise Wrong("`forward` should work element by element: one in, one out.", case)
        for name, known in (THERE | OTHERS).items():
            if np.allclose(values, known(x)):
                raise Wrong(f"mini can do that already: it has {name}. Choose something new.", case)
    if np.allclose(np.diff(values, 2), 0, atol=1e-6):
        raise Wrong("That's a straight line, whose slope is no challenge. Choose a curve.", case)


def _judge_examiner(examiner: Any) -> None:
    if call(examiner, lambda v: float(v.sum()), np.array([1.0, 2.0]), 1e-2) is ...:
        raise Open
    try:
        check_of_the_examiner(examiner)
    except Wrong as wrong:
        raise Wrong(f"Your examiner is wrong itself. {wrong}", SHOWN) from None


def _by_the_row(op: Any, x: np.ndarray, case: str) -> np.ndarray:
    """The slopes that the row says. Wrong, or Open, where it says something else."""
    rule = importlib.import_module("mini.part6").GRADIENT
    row = rule[triumphs.Own.OP]
    Tensor = triumphs.mini().Tensor
    t, said = Tensor(x), []

    def overheard(grad: Any, node: Any, *sources: Any) -> Any:
        said.append(row(grad, node, *sources))
        if said[-1] is None or said[-1] is ...:
            raise Open("Your row returns nothing yet.")
        if not isinstance(said[-1], (tuple, list)) or len(said[-1]) != 1:
            raise Wrong("A row returns a tuple, with one gradient for each source: `(…,)`.", case)
        return said[-1]

    with mock.patch.dict(rule, {triumphs.Own.OP: overheard}):
        (slope,) = (op(t) * Tensor(WEIGHTS)).sum().gradient(t)
        values = np.asarray(slope.numpy(), dtype=float)
    if values.shape not in ((), x.shape):
        raise Wrong("Your row's gradient has the wrong shape.", case, x.shape, values.shape)
    return np.broadcast_to(values, x.shape) / WEIGHTS

# %% shared
import numpy as np
from classroom.mini import triumphs
def tanh_row(grad, node, x):
    return (grad * (1 - node * node),)

# %% wrong, each line
(np.exp, tanh_row, triumphs.central)  # says mini can do that already
(lambda v: 3 * v, tanh_row, triumphs.central)  # says a straight line
(np.cumsum, tanh_row, triumphs.central)  # says element by element
(np.sum, tanh_row, triumphs.central)  # says the same shape
(lambda v: np.log(-v), tanh_row, triumphs.central)  # says defined between 0 and 1
np.tanh  # says three functions

# %% wrong: says doesn't agree with your row
def tanh_row_of_x(grad, node, x):
    return (grad * (1 - x * x),)
(np.tanh, tanh_row_of_x, triumphs.central)

# %% wrong: says returns a tuple
def bare_row(grad, node, x):
    return grad * (1 - node * node)
(np.tanh, bare_row, triumphs.central)

# %% wrong: says wrong itself
def biased(f, x, eps):
    return triumphs.central(f, x, eps) * 2
(np.tanh, tanh_row, biased)

# %% wrong: forgets grad: it's the slope alone
import numpy as np

def numerical(f, x, eps=1e-2):
    return np.array([(f(x + e) - f(x - e)) / (2 * eps) for e in eps * np.eye(len(x))])

forward = np.tanh
row = lambda grad, node, x: (1 - node * node,)

# %% wrong: says gradient has the wrong shape
def row_of_a_row(grad, node, x):
    return ((grad * (1 - node * node)).reshape(1, *x.shape),)
(np.tanh, row_of_a_row, triumphs.central)

# %% right: a cube; a list for a tuple
forward = lambda v: v**3
row = lambda grad, node, x: [grad * 3 * x * x]
numerical = lambda f, x, eps=1e-2: np.array(
    [(f(x + e) - f(x - e)) / (2 * eps) for e in eps * np.eye(len(x))])
