"""Part 6a, gradients: what its prediction is about, and what an answer has to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

from classroom.ask import call, describe, fresh_sizes, fresh_tensor, same_values, wants
from classroom.exercise import Graphs, Open, Wrong
from tinyframe import Tensor
from tinyframe.rewrite.matcher import PatternMatcher, UPat
from tinyframe.tensor import gradient as gradient_module
from tinyframe.uop import Ops, UOp


def slopes_of_multiply_add() -> tuple[int, ...]:
    a, b = Tensor([2.0]).realize(), Tensor([5.0]).realize()
    return tuple(round(slope.item()) for slope in (a * b + a).sum().gradient(a, b))


# ---- what several checks need --------------------------------------------------------------------


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


@contextmanager
def undifferentiated() -> Iterator[None]:
    """Wrong where the answer asks tinyframe for a gradient inside, in whatever way."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise Wrong(
            "Your function asks tinyframe for the gradient. Here, you work it out yourself."
        )

    asks: list[tuple[Any, str]] = [(Tensor, "gradient"), (Tensor, "backward")]
    asks += [(gradient_module, "flow_back"), (gradient_module, "compute_gradient")]
    # and whoever has a name of their own for one of these, as the notebook has for flow_back
    asks.append((gradient_module.gradient_rules, "candidates"))
    with ExitStack() as stack:
        for owner, name in asks:
            stack.enter_context(mock.patch.object(owner, name, refuse))
        yield


@contextmanager
def in_front(*rows: Any) -> Iterator[None]:
    """Puts rows in front of the gradient table, and takes them out again."""
    table = gradient_module.gradient_rules
    gradient_module.gradient_rules = PatternMatcher([*rows, *table.rules])
    try:
        yield
    finally:
        gradient_module.gradient_rules = table


# ---- along paths, and through movement -----------------------------------------------------------


def flow_by_hand(answer: Any) -> str:
    """answer(grad, a, b): what arrives at a and at b for z = (a * b).sin() + a, as UOps."""
    fixed = tuple(Tensor(v).realize() for v in ([1.0, 2.0], [0.5, 1.0], [2.0, 3.0]))
    (n,) = fresh_sizes(1)
    fresh = tuple(fresh_tensor(n) for _ in range(3))
    cases = {"`grad = [1, 2]`, `a = [0.5, 1]`, `b = [2, 3]`": fixed, "fresh numbers": fresh}
    for case, (grad, a, b) in cases.items():
        with undifferentiated():
            got = pair(call(answer, grad.uop, a.uop, b.uop), UOp, "UOps", case)
        asked = ((a * b).sin() + a).gradient(a, b, gradient=grad)
        expected = [slope.numpy() for slope in asked]
        if close(got[0], expected[1]) and close(got[1], expected[0]):
            raise Wrong("The two are swapped: the gradient of `a` comes first.", case)
        if close(got[0], expected[0] - grad.numpy()):
            raise Wrong(
                "At `a`, one path is missing. `a` reaches `z` through the sine, and once more "
                "through the addition.",
                case,
            )
        for name, part, values in zip("ab", got, expected, strict=True):
            try:
                same_values(Tensor(part), values, f"{case}, at `{name}`", shown=case[0] == "`")
            except Wrong as wrong:
                graphs = Graphs(part, asked["ab".index(name)].uop, {"grad": grad, "a": a, "b": b})
                raise Wrong(f"At `{name}`: {wrong}", case, graphs=graphs) from None
    return (
        "You did the backward pass by hand: you multiplied along each path, and added where two "
        "paths met."
    )


MULTIPLIES = {Ops.MUL, Ops.MULACC, Ops.FDIV, Ops.RECIP, Ops.POW}


def counting(answer: Any) -> str:
    """answer(v): one number, with the gradient n, …, 2, 1 for a v of shape (n,)."""
    fixed, fresh = Tensor([5.0, 6.0, 7.0]).realize(), fresh_tensor(*fresh_sizes(1))
    for case, v in {"`v = [5, 6, 7]`": fixed, "a different length": fresh}.items():
        n = v.numel()
        total = call(answer, v)
        wants(total, Tensor, "a Tensor", case)
        if total.numel() != 1:
            raise Wrong("The total has to be a single number.", case, got=describe(total))
        multiplies = sorted(u.op.name for u in total.uop.toposort() if u.op in MULTIPLIES)
        if multiplies:
            raise Wrong(
                f"Your graph multiplies or divides: there's {multiplies[0]} in it. Use the "
                "elements of `v` as they are.",
                case,
            )
        (got,) = total.sum().gradient(v, materialize_grads=True)
        if close(got, np.ones(n)):
            raise Wrong(
                "Each element counts once in your total. `v[0]` should count n times.", case
            )
        same_values(got, np.arange(n, 0, -1), f"the gradient for {case}", shown=n == 3)
        whole = float((v.numpy().astype(float) * np.arange(n, 0, -1)).sum())
        if not np.isclose(value := total.numpy().item(), whole, rtol=1e-4):
            raise Wrong(
                "The gradient is right, but there's more in your total than elements of `v`.",
                case,
                *((whole, round(value, 4)) if case[0] == "`" else ()),
            )
    return "A gradient made to order, and nothing was multiplied: you decided who counts how often."


def back_through_cumsum(answer: Any) -> str:
    """answer(grad): what flows back to x through x.cumsum(0)."""
    (n,) = fresh_sizes(1)
    cases = {"`grad = [1, 2, 3]`": Tensor([1.0, 2.0, 3.0]), "a different length": fresh_tensor(n)}
    for case, grad in cases.items():
        with undifferentiated():
            got = call(answer, grad)
        wants(got, Tensor, "a Tensor", case)
        values = grad.numpy()
        if close(got, np.cumsum(values)):
            raise Wrong(
                "This adds up the gradients of the places before. But `x[1]` takes no part in "
                "`c[0]`: it counts in `c[1]`, `c[2]` and all that follow.",
                case,
            )
        same_values(got, np.cumsum(values[::-1])[::-1], case, shown=len(values) == 3)
    return "A running sum from the other end. You've just found a gradient that isn't in the table."


# ---- measuring -----------------------------------------------------------------------------------


def _coupled(v: Any) -> float:
    return float(v[0] * v[1] + v[2] ** 2)


def _wavy(v: Any) -> float:
    return float((np.sin(v) * v).sum() + v[0] * v[-1])


def _slopes_of_wavy(v: np.ndarray) -> np.ndarray:
    slopes = np.sin(v) + v * np.cos(v)
    slopes[[0, -1]] += v[[-1, 0]]
    return slopes


SHOWN = "`f = v[0] * v[1] + v[2] ** 2`, at `[1, 2, 3]`"


def numerical(answer: Any) -> str:
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
                raise Wrong(
                    "You nudged in one direction only. Nudge up and down, and divide by `2 * eps`: "
                    "then the error shrinks with the square of `eps`.",
                    case,
                )
        together = (f(x + eps) - f(x - eps)) / (2 * eps)
        if np.allclose(values, together, rtol=1e-6):
            raise Wrong("You nudged all the elements together. Nudge one at a time.", case)
        if np.allclose(values, 2 * exact, rtol=1e-4):
            raise Wrong(
                "Every slope is twice as large as it should be. How far apart are the two nudged "
                "points?",
                case,
            )
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


# the one op of each suspect, and a row that is wrong
BAD_ROWS: dict[str, tuple[UPat, Callable[..., Any]]] = {
    "sin": (UPat(Ops.SIN, src=(UPat.var("x"),)), lambda grad, x: (grad * x.cos() * 1.05,)),
    "sqrt": (UPat(Ops.SQRT, name="z"), lambda grad, z: (grad / z,)),
    "exp2": (UPat(Ops.EXP2, name="z"), lambda grad, z: (grad * z,)),
    "log2": (UPat(Ops.LOG2, src=(UPat.var("x"),)), lambda grad, x: (grad * (-x).log2(),)),
    "reciprocal": (UPat(Ops.RECIP, name="z"), lambda grad, z: (grad * z * z,)),
}


def guilty(answer: Any) -> str:
    """answer(suspects, x): the names of those whose row of the table is wrong."""
    suspects = {name: getattr(Tensor, name) for name in BAD_ROWS}
    lineups = [("sqrt",), ("exp2", "reciprocal"), (), ("sin",), ("log2",), tuple(BAD_ROWS)]
    for planted in lineups:
        x = (
            np.array([0.7, 1.3])
            if planted == ("sqrt",)
            else np.random.default_rng().random(5) + 0.5
        )
        case = f"wrong rows: {', '.join(planted) or 'none'}"
        with in_front(*(BAD_ROWS[name] for name in planted)):
            named = _names(call(answer, dict(suspects), x), suspects, case)  # of a generator, too
        missed = [name for name in planted if name not in named]
        framed = [name for name in suspects if name in named and name not in planted]
        if framed:
            raise Wrong(
                f"You accuse {framed[0]}, whose row is fine. A measurement is never exact. How "
                "large a difference do you allow?",
                case,
            )
        if missed == ["log2"]:
            raise Wrong(
                "The row of log2 gives `nan` here, and you let it pass. Is your comparison ever "
                "true for a `nan`?",
                case,
            )
        if missed == ["sin"]:
            raise Wrong("The row of sin is 5% too large, and you let it pass.", case)
        if missed:
            raise Wrong(f"You let {missed[0]} go, and its row is wrong.", case)
    return "Every wrong row found, and nobody accused without reason."


def _names(value: Any, suspects: Any, case: str) -> set[str]:
    """The names in a list, a tuple, a set or a generator, or a single one; Wrong for anything
    else."""
    value = [value] if isinstance(value, str) and value in suspects else value
    if not isinstance(value, (str, bool, int, float, type)):
        try:
            names = list(value)
        except TypeError:
            names = [None]
        if all(isinstance(name, str) and name in suspects for name in names):
            return set(names)
    raise Wrong(
        "The answer has to be a list of names out of `suspects`.", case, got=describe(value)
    )


# ---- corners, and gradients of gradients ---------------------------------------------------------


def safe_sqrt(answer: Any) -> str:
    """answer(x): sqrt(x) where x > 0, else 0, and a gradient that agrees."""
    fixed = np.array([0.0, 4.0, -1.0, 9.0], dtype=np.float32)
    fresh = np.random.default_rng().normal(size=fresh_sizes(1)[0]).astype(np.float32)
    tiny = np.array([1e-12, 0.0, -1e-12, 1e-6, 2.0], dtype=np.float32)
    cases = {"`x = [0, 4, -1, 9]`": fixed, "fresh numbers": fresh, "numbers close to 0": tiny}
    for case, numbers in cases.items():
        x, shown = Tensor(numbers).realize(), len(numbers) == 4
        y = call(answer, x)
        wants(y, Tensor, "a Tensor", case)
        inside = numbers > 0
        roots = np.sqrt(np.where(inside, numbers, 1))
        same_values(y, np.where(inside, roots, 0), case, shown)
        (slope,) = y.sum().gradient(x)
        if np.isnan(slope.numpy()).any():
            raise Wrong(
                "The values are right, but there is still a `nan` in the gradient. The SQRT still "
                "sees an `x` that isn't positive, in the branch that nobody takes.",
                case,
                got=slope.numpy().astype(float).round(4).tolist() if shown else "",
            )
        same_values(slope, np.where(inside, 0.5 / roots, 0), f"the gradient at {case}", shown)
    return "Whatever happens in the branch that nobody takes, none of it gets back to `x`."


def nth_derivative(answer: Any) -> str:
    """answer(f, x, n): the nth derivative of f at each element of x."""
    x = Tensor([1.0, 2.0]).realize()
    derivatives = np.array([[1.0, 8.0], [3.0, 12.0], [6.0, 12.0], [6.0, 6.0]])
    for n in (1, 2, 0):
        case = f"`f = t * t * t`, `x = [1, 2]`, `n = {n}`"
        got = call(answer, lambda t: t * t * t, x, n)
        wants(got, Tensor, "a Tensor", case)
        for order, values in enumerate(derivatives):
            if order != n and close(got, values):
                what = f"the derivative of order {order}" if order else "the function itself"
                raise Wrong(f"That's {what}.", case)
        same_values(got, derivatives[n], case)
    x = fresh_tensor(*fresh_sizes(1))
    got = call(answer, lambda t: t.sin(), x, 5)
    same_values(got, np.cos(x.numpy()), "the fifth derivative of a sine", shown=False)
    return "The table was used on its own output, as often as you asked for."


# ---- a row of one's own --------------------------------------------------------------------------


def straight_through(answer: Any) -> str:
    """answer: a row of the table that passes the gradient of TRUNC on as it is."""
    if (
        not isinstance(answer, (tuple, list))
        or len(answer) != 2
        or not isinstance(answer[0], UPat)
        or not callable(answer[1])
    ):
        raise Wrong("A row has to be a pair: a pattern `UPat(…)`, and a function.")
    with in_front(tuple(answer)):
        grad, x = Tensor([2.0, 3.0]).realize(), Tensor([0.4, 1.7]).realize()
        try:
            flowing = gradient_module.flow_back(x.trunc().uop, grad.uop)
        except TypeError as error:
            if "argument" not in str(error):
                raise
            raise Wrong(
                "The function is called with `grad` and with every node that the pattern names. "
                "`UPat(Ops.TRUNC)` names none, so its function has just one parameter, `grad`."
            ) from None
        if flowing is None or flowing is ...:
            raise Open("Your row's function returns nothing yet.")
        if not isinstance(flowing, (tuple, list)) or len(flowing) != 1:
            raise Wrong(
                "A row's function returns a tuple, with one gradient for each source. TRUNC has "
                "one source: `(…,)`."
            )
        case = "`x = [0.4, 1.7]`, and `[2, 3]` arrives"
        same_values(Tensor(flowing[0]), grad.numpy(), case)
        (cosine,) = x.sin().sum().gradient(x)
        if not close(cosine, np.cos(x.numpy())):
            raise Wrong("Your pattern also matches SIN, whose gradient is no longer right.")
        before, after = _train_rounded()
    fell = f"the loss fell from {before:.2f} to {after:.2f}"
    return f"With your row, {fell}. Without it, nothing moves."


def _train_rounded() -> tuple[float, float]:
    """The loss of four weights rounded to quarters, before and after 60 steps."""
    inputs = np.random.default_rng(6).normal(size=(64, 4)).astype(np.float32)
    x = Tensor(inputs).realize()
    wanted = Tensor(inputs @ np.array([0.75, -0.5, 1.25, -1.0], dtype=np.float32)).realize()
    w, losses = Tensor([0.1, 0.1, 0.1, 0.1]).realize(), []
    for _ in range(60):
        loss = ((x @ ((w * 4).trunc() / 4) - wanted) ** 2).mean()
        (slope,) = loss.gradient(w)
        w.assign(w - 0.1 * slope)
        Tensor.realize(loss, w)
        losses.append(loss.item())
    return losses[0], losses[-1]
