"""Part 6c, mini's triumphs: what an answer has to do. All Tensors here are mini's."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

from classroom import differences
from classroom.ask import call, describe
from classroom.exercise import Open, Wrong
from classroom.exercises.checks_06a import SHOWN, as_numbers
from classroom.exercises.checks_06a import numerical as check_of_the_examiner
from classroom.mini import triumphs

# ---- a throw -------------------------------------------------------------------------------------

STRAIGHT = "`place` returns `(2 * vx + vy + 1, 4 * vx - 3 * vy)`, and `vx = 1`, `vy = 2`"


def next_throw(answer: Any) -> str:
    """answer(place, vx, vy, hoop): the throw that Newton's method makes next."""
    Tensor = triumphs.mini().Tensor

    def straight(vx: Any, vy: Any) -> tuple[Any, Any]:
        return 2 * vx + vy + 1, 4 * vx - 3 * vy

    far = np.random.default_rng().uniform(4.5, 5.5, 2)
    cases: list[tuple[str, Any, tuple[float, float]]] = [
        (STRAIGHT, straight, (1.0, 2.0)),
        ("the real flight", triumphs.landing, (float(far[0]), float(far[1]))),
    ]
    for case, place, start in cases:
        vx, vy = (Tensor([v]) for v in start)
        got = _throw(call(answer, place, vx, vy, triumphs.HOOP), case)
        vx, vy = (Tensor([v]) for v in start)
        expected = triumphs.next_throw(place, vx, vy, triumphs.HOOP)
        if np.allclose(got, expected, rtol=2e-3, atol=2e-3):
            continue
        if case != STRAIGHT:
            there = [triumphs.plain(part) for part in place(*(Tensor([v]) for v in got))]
            if np.allclose(there, triumphs.HOOP, atol=1e-2):
                raise Wrong(
                    "That throw goes in, so it's more than one step. `next_throw` should take one "
                    "and return.",
                    case,
                )
            raise Wrong("It's right where the flight is a straight line, but not here.", case)
        moved, asked = np.subtract(got, start), np.subtract(expected, start)
        if np.allclose(moved, -asked, atol=1e-3):
            raise Wrong("You changed the throw by the right amount, the wrong way.", case)
        if np.allclose(got, asked, atol=1e-3) or np.allclose(got, -asked, atol=1e-3):
            raise Wrong("That's by how much to change the throw. Return the new throw.", case)
        if np.allclose(got, expected[::-1], atol=1e-3):
            raise Wrong("The two are swapped: vx comes first.", case)
        matrix, landed = np.array([[2.0, 1.0], [4.0, -3.0]]), np.array([5.0, -2.0])
        if np.allclose(got, start - np.linalg.solve(matrix, landed), atol=1e-3):
            raise Wrong("You aimed at 0, 0. The ball should get to `hoop`.", case)
        missed = np.subtract(triumphs.HOOP, landed)
        if np.allclose(got, start + np.linalg.solve(matrix.T, missed), atol=1e-3):
            raise Wrong(
                "Two of your slopes have changed places. The first equation is about x, and has "
                "`dx_dvx` and `dx_dvy` in it.",
                case,
            )
        raise Wrong(
            "From there, this throw doesn't go in. `place` is a straight function here, so one "
            "step has to be enough.",
            case,
            [round(v, 3) for v in expected],
            [round(v, 3) for v in got],
        )
    return "One step of Newton's method: four slopes, two equations, one better throw."


def _throw(value: Any, case: str) -> tuple[float, float]:
    try:
        one, other = value.tolist() if isinstance(value, np.ndarray) else value
        return triumphs.plain(one), triumphs.plain(other)
    except (TypeError, ValueError):
        raise Wrong(
            "The answer has to be a pair of numbers: the new vx and vy.", case, got=describe(value)
        ) from None


# ---- circles -------------------------------------------------------------------------------------

NAMES = ("`across`", "`up`", "`radius`")


def circle(answer: Any) -> str:
    """answer(f, x): across, up, radius of the circles that fit the curve y = f(x) best."""
    Tensor = triumphs.mini().Tensor
    fresh = np.random.default_rng().random(7, dtype=np.float32) + 0.5
    cases: list[tuple[str, Any, Any]] = [
        ("`f = t * t`, `x = [0, 1, -1]`", lambda t: t * t, [0.0, 1.0, -1.0]),
        ("`f = -t * t`, `x = [0, 1, -1]`", lambda t: -t * t, [0.0, 1.0, -1.0]),
        ("a different function", lambda t: t.exp(), fresh),
    ]
    for case, f, x in cases:
        got = call(answer, f, Tensor(x))
        expected = triumphs.circle(f, Tensor(x))
        if not isinstance(got, (tuple, list, np.ndarray)) or len(got) != 3:
            raise Wrong("The answer has to be three: across, up, radius.", case, got=describe(got))
        values = [_values(part, len(x), case) for part in got]
        if (values[2] < 0).any():
            raise Wrong("A radius can't be negative. The curve bends down here.", case)
        for name, one, other in zip(NAMES, values, expected, strict=True):
            shown = case[0] == "`"
            if np.allclose(one, other, rtol=2e-3, atol=1e-3):
                continue
            text = differences.of_values(one, other, named=shown)
            rows = (str(np.round(v.astype(float), 3).tolist()) for v in (other, one))
            raise Wrong(f"{name}: {text}", case, *(rows if shown else ()))
    return "Every circle touches its curve, and bends as it does."


def _values(value: Any, length: int, case: str) -> np.ndarray:
    try:
        values = np.asarray(value.numpy() if hasattr(value, "numpy") else value, dtype=float)
    except (TypeError, ValueError):
        values = np.array(0.0)
    if values.shape != (length,):
        raise Wrong("Each of the three has to be an array, with a number for each `x`.", case)
    return values


# ---- digits --------------------------------------------------------------------------------------


def network(answer: Any) -> str:
    """answer(dice): parameters and a model, trained to 97% of the digits."""
    module = triumphs.mini()
    Tensor, Ops = module.Tensor, module.Ops
    if not callable(answer):
        call(answer)  # says so
    parameters, model = _network(call(answer, np.random.default_rng(0)), Tensor)
    images = Tensor(np.random.default_rng(1).random((3, 1, 8, 8)))
    with _convolutions(module) as convolutions:
        scores = model(images)
    if not isinstance(scores, Tensor):
        raise Wrong("The model has to return a Tensor of scores.", "3 images", got=describe(scores))
    if scores.shape != (3, 10):
        raise Wrong("The scores have the wrong shape.", "3 images", (3, 10), scores.shape)
    below = set(scores.uop.toposort())
    unused = [p.shape for p in parameters if p.uop not in below]
    if unused:
        raise Wrong(f"The parameter of shape {unused[0]} takes no part in the scores.", "3 images")
    foreign = [u for u in below if u.op is Ops.BUFFER and u not in {p.uop for p in parameters}]
    if [u for u in foreign if u is not images.uop]:
        raise Wrong("The scores depend on numbers that aren't in your list of parameters.")
    if not any(len(p.shape) == 4 for p in parameters):
        raise Wrong("No parameter has the shape of filters, (filters, channels, h, w).")
    if not convolutions:
        raise Wrong("Your model never calls `conv2d`, so nothing in it looks at every place.")
    training = triumphs.trained(answer)
    if not training.accuracy >= triumphs.ENOUGH:
        raise Wrong(
            f"It trains, but not far enough in {triumphs.EPOCHS} epochs.",
            "355 digits that it has not seen",
            f"{triumphs.ENOUGH:.0%} right",
            f"{training.accuracy:.1%} right",
        )
    return f"Your network read over {triumphs.ENOUGH:.0%} of the digits it had never seen."


@contextmanager
def _convolutions(module: Any) -> Iterator[list[str]]:
    """A list that gets an item for each call of a conv2d."""
    calls: list[str] = []

    def noting(conv2d: Any) -> Any:
        def noted(*inputs: Any) -> Any:
            calls.append("conv2d")
            return conv2d(*inputs)

        return noted

    with ExitStack() as stack:
        part4, part5 = (importlib.import_module(f"mini.part{n}") for n in (4, 5))
        for owner in (module.Tensor, part4.UOp, part5):
            noted = noting(owner.conv2d)
            stack.enter_context(mock.patch.object(owner, "conv2d", noted))
        yield calls


def _network(value: Any, tensor: type) -> tuple[list[Any], Any]:
    if isinstance(value, (tuple, list)) and len(value) == 2:
        parameters, model = value
        if isinstance(parameters, (tuple, list)) and any(p is ... or p is None for p in parameters):
            raise Open("There's a parameter that isn't written yet.")
        if (
            isinstance(parameters, (tuple, list))
            and parameters
            and all(isinstance(p, tensor) for p in parameters)
            and callable(model)
        ):
            return list(parameters), model
    raise Wrong(
        "The answer has to be a list of mini's Tensors, the parameters, and a function, the model.",
        got=type(value).__name__,
    )


# ---- an op of one's own --------------------------------------------------------------------------

THERE: dict[str, Any] = {"SQRT": np.sqrt, "EXP2": np.exp2, "LOG2": np.log2, "RECIP": np.reciprocal}
WEIGHTS = np.array([2.0, -1.0, 0.5, 3.0, -2.0])  # what arrives at the op, so that it can't be lost
OTHERS: dict[str, Any] = {"exp": np.exp, "log": np.log, "relu": lambda v: np.maximum(v, 0)}


def own_op(answer: Any) -> str:
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
            if np.allclose(slopes * WEIGHTS, measured, rtol=1e-2, atol=2e-3):
                raise Wrong(
                    "Your row returns the slope, and `grad` gets lost. What flows back is `grad` "
                    "times the slope.",
                    case,
                )
            where = f" where x is {numbers[place]:g}" if fixed else ""
            said = (f"{measured[place]:.3f} (measured)", f"{slopes[place]:.3f} (your row)")
            raise Wrong(
                f"Your examiner doesn't agree with your row{where}.", case,
                *(said if fixed else ()),
            )  # fmt: skip
    return "mini has an op that it didn't have before, and your examiner has found nothing wrong."


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

    rule[triumphs.Own.OP] = overheard
    try:
        (slope,) = (op(t) * Tensor(WEIGHTS)).sum().gradient(t)
        values = np.asarray(slope.numpy(), dtype=float)
    finally:
        rule[triumphs.Own.OP] = row
    if values.shape not in ((), x.shape):
        raise Wrong("Your row's gradient has the wrong shape.", case, x.shape, values.shape)
    return np.broadcast_to(values, x.shape) / WEIGHTS
