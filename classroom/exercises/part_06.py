"""Part 6, gradients and training: what an answer has to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from classroom.ask import (
    call,
    fresh_sizes,
    fresh_tensor,
    predicts,
    same_values,
    wants,
    written_without,
)
from classroom.exercise import Exercise, Graphs, Wrong
from tinyframe import Tensor, TinyJit, nn
from tinyframe.nn.datasets import digits
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.rewrite.pattern import UPat
from tinyframe.tensor import gradient as gradient_module
from tinyframe.uop import UOp

TITLE = "Gradients and training"


# ---- what the predictions are about, done for real ----------------------------------------------


def slopes_of_multiply_add() -> tuple[int, ...]:
    a, b = Tensor([2.0]).realize(), Tensor([5.0]).realize()
    return tuple(round(slope.item()) for slope in (a * b + a).sum().gradient(a, b))


def gradient_through_expand() -> tuple[int, ...]:
    v = Tensor([1.0, 2.0, 3.0]).realize()
    (slope,) = v.reshape(3, 1).expand(3, 4).sum().gradient(v)
    return tuple(round(number) for number in slope.tolist())


def gradient_of_a_tie() -> tuple[float, ...]:
    m = Tensor([1.0, 3.0, 3.0, 0.0])
    return tuple(m.max().gradient(m)[0].tolist())


def answer_of_a_line() -> float:
    X, Y = Tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), Tensor([0.0, 1.0, 1.0, 0.0])
    w, b = Tensor([0.5, -0.3]).realize(), Tensor([0.2]).realize()
    for _ in range(100):
        loss = ((X @ w + b - Y) ** 2).mean()
        for parameter, slope in zip((w, b), loss.gradient(w, b), strict=True):
            parameter.assign(parameter - 0.3 * slope)
        Tensor.realize(w, b)
    return round((X @ w + b)[3].item(), 1)


def first_step_of_adam() -> float:
    p = Tensor([0.0], requires_grad=True)
    optimizer = nn.optim.Adam([p], lr=0.1)
    (p * 1000.0).sum().backward()
    optimizer.step()
    return round(p.item(), 1)


def numbers_of_a_network() -> int:
    layers = [nn.Linear(2, 32), nn.Linear(32, 32), nn.Linear(32, 2)]
    return numbers_in(layers)


def replayed_after_two_changes() -> int:
    factor, weight = 10.0, Tensor([1.0]).realize()
    captured = TinyJit(lambda x: x * weight * factor)
    for n in range(5):
        captured(Tensor([float(n)]))
    weight.assign(Tensor([3.0]))
    factor = 100.0
    return round(captured(Tensor([1.0])).item())


def _counted(function: Callable[..., Tensor]) -> tuple[TinyJit, list[str]]:
    """A function under TinyJit, and a list that gets an item each time its Python runs."""
    runs: list[str] = []

    def noted(*inputs: Tensor) -> Tensor:
        runs.append("run")
        return function(*inputs)

    noted.__name__ = noted.__qualname__ = "captured"  # what an error calls it
    return TinyJit(noted), runs


def running_mean_after_one_batch() -> int:
    norm = nn.BatchNorm(1)
    with Tensor.train():
        norm(Tensor([[8.0], [12.0]])).realize()
    assert norm.running_mean is not None
    return round(norm.running_mean.item())


# ---- gradients ----------------------------------------------------------------------------------


def flow_by_hand(answer: Any) -> str:
    """answer(grad, a, b): what arrives at a and at b for z = (a * b).sin() + a, as UOps."""
    fixed = tuple(Tensor(v).realize() for v in ([1.0, 2.0], [0.5, 1.0], [2.0, 3.0]))
    (n,) = fresh_sizes(1)
    fresh = tuple(fresh_tensor(n) for _ in range(3))
    cases = {"`grad = [1, 2]`, `a = [0.5, 1]`, `b = [2, 3]`": fixed, "fresh numbers": fresh}
    for case, (grad, a, b) in cases.items():
        got = _pair(call(answer, grad.uop, a.uop, b.uop), UOp, "UOps", case)
        asked = ((a * b).sin() + a).gradient(a, b, gradient=grad)
        expected = [slope.numpy() for slope in asked]
        if _close(got[0], expected[1]) and _close(got[1], expected[0]):
            raise Wrong("The two are swapped: the gradient of `a` comes first.", case)
        if _close(got[0], expected[0] - grad.numpy()):
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


def _pair(value: Any, kind: type, what: str, case: str) -> tuple[Any, Any]:
    """A pair of two of a kind; Wrong for anything else."""
    if not (isinstance(value, (tuple, list)) and len(value) == 2) or not all(
        isinstance(part, kind) for part in value
    ):
        raise Wrong(f"The answer has to be a pair of {what}.", case)
    return value[0], value[1]


def _close(got: Any, expected: np.ndarray) -> bool:
    values = (got if isinstance(got, Tensor) else Tensor(got)).numpy()
    return values.shape == expected.shape and np.allclose(values, expected, rtol=1e-4, atol=1e-5)


DIFFERENTIATES = {"gradient", "backward"}


def back_through_cumsum(answer: Any) -> str:
    """answer(grad): what flows back to x through x.cumsum(0)."""
    written_without(answer, DIFFERENTIATES)
    (n,) = fresh_sizes(1)
    cases = {"`grad = [1, 2, 3]`": Tensor([1.0, 2.0, 3.0]), "a different length": fresh_tensor(n)}
    for case, grad in cases.items():
        got = call(answer, grad)
        wants(got, Tensor, "a Tensor", case)
        values = grad.numpy()
        if _close(got, np.cumsum(values)):
            raise Wrong(
                "This adds up the gradients of the places before. But `x[1]` takes no part in "
                "`c[0]`: it counts in `c[1]`, `c[2]` and all that follow.",
                case,
            )
        same_values(got, np.cumsum(values[::-1])[::-1], case, shown=len(values) == 3)
    return "A running sum from the other end. You've just found a gradient that isn't in the table."


def numerical(answer: Any) -> str:
    """answer(f, x, eps): the gradient of f at x by central differences."""
    written_without(answer, DIFFERENTIATES)
    cases: list[tuple[str, Callable[[Tensor], Tensor], np.ndarray, float, np.ndarray]] = []
    x = np.array([1.0, 2.0, 3.0])
    cases.append(("`f = x ** 3`, added up, at `[1, 2, 3]`", _cubes, x, 1e-2, 3 * x**2))
    x = np.random.default_rng().random(fresh_sizes(1)[0]) + 0.5
    cases.append(
        ("a fresh function", lambda t: (t.sin() * t).sum(), x, 1e-3, np.sin(x) + x * np.cos(x))
    )
    for case, f, x, eps, exact in cases:
        given = x.copy()
        got = call(answer, f, given, eps)
        values = _as_numbers(got, len(x), case)
        if not np.array_equal(given, x):
            raise Wrong("Your function changed `x` itself. Nudge a copy of it.", case)
        one_sided = [(_nudged(f, x, i, eps) - _nudged(f, x, i, 0)) / eps for i in range(len(x))]
        if np.allclose(values, one_sided, rtol=1e-6):
            raise Wrong(
                "You nudged in one direction only. Nudge up and down, and divide by `2 * eps`: "
                "then the error shrinks with the square of `eps`.",
                case,
            )
        same_values(Tensor(values), exact, case, shown=len(x) == 3)
    return "With these few lines you can examine any gradient there is."


def _cubes(t: Tensor) -> Tensor:
    return (t * t * t).sum()


def _nudged(f: Callable[[Tensor], Tensor], x: np.ndarray, i: int, eps: float) -> float:
    moved = x.copy()
    moved[i] += eps
    return float(f(Tensor(moved)).item())


def _as_numbers(value: Any, length: int, case: str) -> np.ndarray:
    """An array, a list or a Tensor of so many numbers; Wrong for anything else."""
    try:
        values = value.numpy() if isinstance(value, Tensor) else np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        values = np.array(0.0)
    if values.shape != (length,):
        raise Wrong("The answer has to be an array with one slope for each element.", case)
    return values


def safe_sqrt(answer: Any) -> str:
    """answer(x): sqrt(x) where x > 0, else 0, and a gradient that agrees."""
    fixed = np.array([0.0, 4.0, -1.0, 9.0], dtype=np.float32)
    fresh = np.random.default_rng().normal(size=fresh_sizes(1)[0]).astype(np.float32)
    for case, numbers in {"`x = [0, 4, -1, 9]`": fixed, "fresh numbers": fresh}.items():
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
            if order != n and _close(got, values):
                what = f"the derivative of order {order}" if order else "the function itself"
                raise Wrong(f"That's {what}.", case)
        same_values(got, derivatives[n], case)
    x = fresh_tensor(*fresh_sizes(1))
    got = call(answer, lambda t: t.sin(), x, 5)
    same_values(got, np.cos(x.numpy()), "the fifth derivative of a sine", shown=False)
    return "The table was used on its own output, as often as you asked for."


def straight_through(answer: Any) -> str:
    """answer: a row of the table that passes the gradient of TRUNC on as it is."""
    if (
        not isinstance(answer, tuple)
        or len(answer) != 2
        or not isinstance(answer[0], UPat)
        or not callable(answer[1])
    ):
        raise Wrong("A row has to be a pair: a pattern `UPat(…)`, and a function.")
    with _in_front(answer):
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
        if not isinstance(flowing, tuple):
            raise Wrong(
                "A row's function returns a tuple, with one gradient for each source. TRUNC has "
                "one source: `(…,)`."
            )
        case = "`x = [0.4, 1.7]`, and `[2, 3]` arrives"
        same_values(Tensor(flowing[0]), grad.numpy(), case)
        (cosine,) = x.sin().sum().gradient(x)
        if not _close(cosine, np.cos(x.numpy())):
            raise Wrong("Your pattern also matches SIN, whose gradient is no longer right.")
        before, after = _train_rounded()
    fell = f"the loss fell from {before:.2f} to {after:.2f}"
    return f"With your row, {fell}. Without it, nothing moves."


@contextmanager
def _in_front(row: Any) -> Iterator[None]:
    """Puts a row in front of the gradient table, and takes it out again."""
    table = gradient_module.gradient_rules
    gradient_module.gradient_rules = PatternMatcher([row, *table.rules])
    try:
        yield
    finally:
        gradient_module.gradient_rules = table


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


# ---- training -----------------------------------------------------------------------------------


def momentum_step(answer: Any) -> str:
    """answer(parameter, velocity, gradient, rate): (new parameter, new velocity)."""
    fixed = tuple(Tensor([v]).realize() for v in (1.0, 2.0, 3.0))
    (n,) = fresh_sizes(1)
    fresh = tuple(fresh_tensor(n) for _ in range(3))
    words = "`parameter = [1]`, `velocity = [2]`, `gradient = [3]`, `rate = 0.1`"
    for case, inputs in {words: fixed, "fresh numbers": fresh}.items():
        p, v, g = (t.numpy().copy() for t in inputs)
        got = _pair(call(answer, *inputs, 0.1), Tensor, "Tensors", case)
        velocity = np.round(0.9 * v.astype(float) + g, 6)
        parameter, shown = p - 0.1 * velocity, len(p) == 1
        if _close(got[0], velocity) and _close(got[1], parameter):
            raise Wrong("The two are swapped: the parameter comes first.", case)
        if _close(got[0], p - 0.1 * g):
            raise Wrong("That's a plain step. The parameter moves by the new velocity.", case)
        if _close(got[0], p - 0.1 * v):
            raise Wrong("The parameter moved by the old velocity. Compute the new one first.", case)
        if _close(got[0], p + 0.1 * velocity):
            raise Wrong("The parameter moved uphill: the step is subtracted.", case)
        same_values(got[1], velocity, f"the new velocity for {case}", shown)
        same_values(got[0], parameter, f"the new parameter for {case}", shown)
    return "That's momentum in two lines. `nn.optim.SGD` with `momentum=0.9` takes the same step."


def scale(answer: Any) -> str:
    """answer(captured, x, number): x * number by a captured function, for any number."""
    captured, runs = _counted(lambda x, k: x * k)
    x = Tensor([1.0, 2.0]).realize()
    for number in (2.0, 3.0, 0.5, -7.0):
        case = f"`x = [1, 2]`, `number = {number}`"
        got = call(answer, captured, x, number)
        wants(got, Tensor, "a Tensor", case)
        same_values(got, x.numpy() * number, case)
    if not runs:
        raise Wrong("The values are right, but `captured` was never called.")
    if len(runs) != 2:
        raise Wrong(
            "The Python of `captured` should run twice, for the first call and for the recording.",
            "four calls",
            2,
            len(runs),
        )
    return "Two runs of Python, four results. What changes from call to call goes in as a Tensor."


def normalized(answer: Any) -> str:
    """answer(x): each column with mean 0 and variance 1."""
    written_without(answer, {"BatchNorm", "BatchNorm2d", "batchnorm", "LayerNorm", "layernorm"})
    fixed = np.array([[1.0, 5.0], [5.0, 5.0]], dtype=np.float32)
    fresh = fresh_tensor(*fresh_sizes(2)).numpy()
    for case, values in {"`x = [[1, 5], [5, 5]]`": fixed, "fresh numbers": fresh}.items():
        got = call(answer, Tensor(values).realize())
        wants(got, Tensor, "a Tensor", case)
        centred = values - values.mean(axis=0)
        variance = (centred**2).mean(axis=0)
        n, shown = len(values), len(values) == 2
        if np.isnan(got.numpy()).any():
            raise Wrong("0 / 0 is `nan`: add `eps` to the variance.", case)
        if _close(got, centred / np.sqrt(variance * n / (n - 1) + 1e-5)):
            raise Wrong(
                "You divided by n - 1, as `std()` and `var()` do. Here the variance is the plain "
                "mean of the squares.",
                case,
            )
        spreads = [np.sqrt(values.var(ddof=less) + 1e-5) for less in (0, 1)]
        if any(_close(got, (values - values.mean()) / spread) for spread in spreads):
            raise Wrong(
                "You used one mean and one variance for everything. Each column has its own.", case
            )
        rows = values - values.mean(axis=1, keepdims=True)
        spreads = [np.sqrt(values.var(axis=1, ddof=less, keepdims=True) + 1e-5) for less in (0, 1)]
        if any(_close(got, rows / spread) for spread in spreads):
            raise Wrong("You normalized each row. `axis=0` gives a mean for each column.", case)
        if _close(got, centred / (variance + 1e-5)):
            raise Wrong("You divided by the variance. The spread is its square root.", case)
        same_values(got, np.round(centred / np.sqrt(variance + 1e-5), 5), case, shown)
    return (
        "In training, that's all BatchNorm does, apart from a weight and an offset that it can "
        "learn."
    )


LARGEST, SHARE = 600, 0.97


def design(answer: Any) -> str:
    """answer(side, classes): a model of at most 600 numbers, trained to 97% of the digits."""
    written_without(answer, {"digits"})
    Tensor.manual_seed(0)
    model = call(answer, 8, 10)
    parameters = nn.state.get_parameters(model)
    if not callable(model) or isinstance(model, type) or not parameters:
        raise Wrong("The answer has to be a model: something with parameters, that can be called.")
    most = f"at most {LARGEST} numbers"
    if (found := numbers_in(model)) > LARGEST:
        raise Wrong("Your model is over the budget.", "", most, f"{found} numbers")
    stored = sum(tensor.numel() for tensor in nn.state.get_state_dict(model).values())
    if stored > found + LARGEST:  # a BatchNorm may keep its means
        raise Wrong(
            "Your model carries numbers that aren't trained. They count, too.",
            "", most, f"{stored} numbers",
        )  # fmt: skip
    logits = model(Tensor.zeros(4, 64))
    wants(logits, Tensor, "a model that returns a Tensor", "4 images, of shape (4, 64)")
    if logits.shape != (4, 10):
        raise Wrong("The model's output has the wrong shape.", "4 images", (4, 10), logits.shape)
    share = _share_right(model)
    if share < SHARE:
        raise Wrong(
            "Your model is within the budget and learns, but it gets too many wrong.",
            "355 digits that it has not seen",
            f"{SHARE:.0%} right",
            f"{share:.1%} right",
        )
    return f"Over {SHARE:.0%} of the digits, within the budget. Nicely designed."


def numbers_in(model: Any) -> int:
    """How many numbers of a model are trained."""
    tensors = nn.state.get_parameters(model)
    return sum(t.numel() for t in tensors if t.requires_grad is not False)


def _share_right(model: Any) -> float:
    """The share of the test that a model gets right, after 30 epochs of the digits."""
    images, labels, test_images, test_labels = digits()
    pixels, test = ((t.reshape(-1, 64).float() / 16).numpy() for t in (images, test_images))
    classes = labels.numpy()
    optimizer = nn.optim.Adam(nn.state.get_parameters(model), lr=0.01)

    @TinyJit
    def step(x: Tensor, y: Tensor) -> None:
        optimizer.zero_grad()
        model(x).cross_entropy(y).backward()
        optimizer.step()

    order = np.random.default_rng(0)
    with Tensor.train():
        for _ in range(30):
            for chosen in order.permutation(len(pixels)).reshape(-1, 103):
                step(Tensor(pixels[chosen]), Tensor(classes[chosen]))
    right = model(Tensor(test)).argmax(axis=1).numpy() == test_labels.numpy()
    return float(right.mean())


EXERCISES = (
    Exercise(
        "6.1",
        "gradient-two-paths",
        "The slopes of `a * b + a`",
        predicts(slopes_of_multiply_add),
        (
            "Along how many paths does `a` reach `z`?",
            "Work out the slope along each path by itself. What do you do with the two?",
        ),
        shown_by="the next cell",
        because="`a` reaches `z` along two arrows. Through the product it contributes a slope of "
        "`b`, which is 5. Through the addition it contributes 1. Nudge `a`, and both paths "
        "move `z`, so the slopes are added: 6. Along a path you multiply, where paths meet "
        "you add, and there's nothing more to it than that.",
    ),
    Exercise(
        "6.2",
        "gradient-flow-by-hand",
        "The backward pass by hand",
        flow_by_hand,
        (
            "Go backwards. What does the row of ADD do with `grad`? And the row of SIN?",
            "What arrives at the product is `grad * (a * b).cos()`, and MUL swaps its factors. By "
            "which other path does something get to `a`?",
        ),
        because="ADD hands `grad` on twice: once to the sine, once to `a`. SIN multiplies by the "
        "cosine of its source. MUL multiplies by the other factor. What arrives at `a` on its two "
        "paths is added.",
    ),
    Exercise(
        "6.3",
        "gradient-of-expand",
        "What flows back through an expand",
        predicts(gradient_through_expand),
        (
            "If the first number of `v` grows by 1, how much does the sum grow?",
            "How many times does it appear in that sum? And does its own value play a part?",
        ),
        shown_by="the next cell",
        because="Every number of `v` appears four times in the sum. If it grows by a bit, the sum "
        "grows by four times that. The values 1, 2, 3 don't matter, because nothing was "
        "multiplied by them.",
    ),
    Exercise(
        "6.4",
        "gradient-of-cumsum",
        "Back through a running sum",
        back_through_cumsum,
        (
            "In which elements of `c` does `x[1]` count? Add up the gradients of those.",
            "`cumsum` adds up from the front, and you need it from the end. Which movement turns "
            "one into the other?",
        ),
        because="`x[i]` counts in `c[i]` and in everything after it, so the gradients of these "
        "places are added: a running sum that starts at the end.",
    ),
    Exercise(
        "6.5",
        "gradient-numerical",
        "A gradient that is measured",
        numerical,
        (
            "For each `i`: a copy of `x` with `x[i] + eps`, one with `x[i] - eps`. What next?",
            "`Tensor(…)` turns a copy into what `f` takes, and `.item()` turns what `f` returns "
            "into a number. How far apart are the two copies?",
        ),
        because="One element at a time, so that the change of the result has one cause. Up and "
        "down, so that the errors of a bent curve cancel out.",
    ),
    Exercise(
        "6.6",
        "gradient-of-a-tie",
        "The gradient of a maximum with a tie",
        predicts(gradient_of_a_tie),
        (
            "If both of the largest grow by 1, how much does the maximum grow?",
            "The gradient's elements should add up to 1, and neither of the two is special.",
        ),
        shown_by="the next cell",
        because="The two share it. If both of them grow by a bit, the maximum grows by that bit, "
        "and the gradient gets this right. It can't be right for each of them alone, as the "
        "maximum has no slope there: nudge one up and the maximum follows, nudge it down "
        "and nothing happens.",
    ),
    Exercise(
        "6.7",
        "gradient-safe-sqrt",
        "A square root without nan",
        safe_sqrt,
        (
            "Where does the SQRT get an input that it shouldn't see?",
            "What could the SQRT get there instead, so that its slope is finite? A second `where` "
            "can give it that.",
        ),
        because="The inner WHERE gives the SQRT a harmless 1 where `x` isn't positive, so its "
        "slope is finite there. The outer one still picks 0, and sends a gradient of 0 back.",
    ),
    Exercise(
        "6.8",
        "gradient-nth-derivative",
        "The nth derivative",
        nth_derivative,
        (
            "What do you have to do n times, and with what does it begin?",
            "Each turn of a loop puts the gradient in the place of the function. What should come "
            "out if `n` is 0?",
        ),
        because="A gradient is a graph of `x`, like the function that it came from. So the same "
        "line works on it again.",
    ),
    Exercise(
        "6.9",
        "gradient-straight-through",
        "A row of your own",
        straight_through,
        (
            "You saw the row of TRUNC above: it returns `(zeros(grad),)`. What should it return "
            "instead?",
            "On the way back, it should look as if TRUNC weren't there. ADD passes on what it "
            "gets, too. What would its row look like if it had one source?",
        ),
        because="TRUNC has one source, so the function returns a tuple of one gradient: the one "
        "that arrived, as if TRUNC weren't there.",
    ),
    Exercise(
        "6.10",
        "training-line-on-xor",
        "What a line answers to XOR",
        predicts(answer_of_a_line),
        (
            "The line should be low at two opposite corners, and high at the other two.",
            "Any tilt is wrong at one end. What single number is least wrong for 0, 1, 1, 0?",
        ),
        shown_by="the next cell",
        because="Whatever the line gains at one point by tilting, it loses at another. So both "
        "weights end at 0, and what's left is the mean of the four answers, for everything. "
        "More steps won't help: this is the minimum of the squared loss.",
    ),
    Exercise(
        "6.11",
        "training-first-step-of-adam",
        "The first step of Adam",
        predicts(first_step_of_adam),
        (
            "What's left of `g` if you divide it by the root of `g * g`?",
            "Only the sign. So how long is the step, and in which direction does it go?",
        ),
        shown_by="the next cell",
        because="After one step, the average of the gradient is `g`, and the average of its square "
        "is `g * g`. Dividing `g` by the root of that leaves nothing but the sign. So the "
        "first step is as long as the learning rate, for any gradient. Look at the valley "
        "again: Adam starts out along the diagonal.",
    ),
    Exercise(
        "6.12",
        "training-momentum",
        "A step with momentum",
        momentum_step,
        (
            "Which of the two changes first?",
            "Which velocity moves the parameter, the one you were given or the one you just made?",
        ),
        because="The velocity takes in the new gradient first. Then the parameter moves by the new "
        "velocity, not by the gradient.",
    ),
    Exercise(
        "6.13",
        "training-count-parameters",
        "How many numbers are trained",
        predicts(numbers_of_a_network),
        (
            "How many weights and how many offsets does `Linear(2, 32)` have?",
            "64 + 32 for the first layer, 32 * 32 + 32 for the second. And the third?",
        ),
        shown_by="the next cell",
        because="(64 + 32) + (1024 + 32) + (64 + 2). The `Tanh` layers between them have nothing "
        "to learn.",
    ),
    Exercise(
        "6.14",
        "training-jit-two-changes",
        "What a replay notices",
        predicts(replayed_after_two_changes),
        (
            "This is the sixth call. Does it run the Python of `scaled`?",
            "Only kernels run. `weight` is memory that they read. And where is `factor`?",
        ),
        shown_by="the next cell",
        because="The kernel reads the memory of `weight`, so it sees the 3. But `factor` was 10 "
        "when the kernel was recorded, and that 10 is a constant in its code. No Python runs that "
        "could notice the 100. So it's 1 · 3 · 10, where 300 would be right, and nothing warns "
        "you.",
    ),
    Exercise(
        "6.15",
        "training-number-as-tensor",
        "A number that changes",
        scale,
        (
            "Which kind of value does a replay look up in every call?",
            "A Tensor with memory of its own. Compare `graph(Tensor(3.0))` with "
            "`graph(Tensor([3.0]))`: which of the two has a BUFFER?",
        ),
        because="A replay reads the memory of the Tensors that it's given. `Tensor([number])` has "
        "memory. `Tensor(number)` is a constant, which would have to be part of the kernel.",
    ),
    Exercise(
        "6.16",
        "training-normalized",
        "BatchNorm's arithmetic",
        normalized,
        (
            "Start with `x - x.mean(axis=0)`. What's the mean of its squares?",
            "That mean is the variance. `std()` and `var()` divide by n - 1, so don't use them.",
        ),
        because="Subtracting the mean makes the mean 0. Dividing by the root of the variance makes "
        "the variance 1. `eps` matters only for a column that doesn't vary.",
    ),
    Exercise(
        "6.17",
        "training-running-mean",
        "The running mean after one batch",
        predicts(running_mean_after_one_batch),
        (
            "What does the running mean start from, and what is it moving towards?",
            "From 0 towards 10, by a tenth of the distance.",
        ),
        shown_by="the next cell",
        because="A tenth of the way from 0 to 10 is 1. That's still far from 10, so the same batch "
        "gets very different answers in training and afterwards. It takes dozens of steps before "
        "the running mean can be trusted. If a network is excellent in training and useless "
        "afterwards, look here first.",
    ),
    Exercise(
        "6.18",
        "training-budget-600",
        "Six hundred numbers",
        design,
        (
            "A filter's weights are used at every place of the image. How many numbers does a "
            "`Conv2d(1, 8, 3)` have, and how many values come out of it for an image of 8 × 8?",
            "Reshape to (n, 1, 8, 8) first. After a few filters, a BatchNorm, relu and "
            "`max_pool2d`, how many values are left for the `Linear`? It costs the most. Which "
            "size of filter leaves fewer?",
        ),
        because="Eight filters of 5 × 5 cost 208 numbers, and each is used at 16 places of an "
        "image. Pooling leaves 32 values, and a `Linear` of 330 numbers reads the digit from them. "
        "BatchNorm costs 16, and makes the rest learn better.",
        seconds=90.0,
    ),
)
