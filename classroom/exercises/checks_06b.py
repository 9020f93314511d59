"""Part 6b, training: what its prediction is about, and what an answer has to do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import numpy as np

from classroom.ask import (
    call,
    describe,
    fresh_sizes,
    fresh_tensor,
    same_number,
    same_values,
    wants,
    whole_number,
    written_without,
)
from classroom.exercise import Wrong
from classroom.exercises.checks_06a import close, pair
from tinyframe import Tensor, TinyJit, nn
from tinyframe.jit.jit import JitError
from tinyframe.nn.datasets import digits
from tinyframe.uop import Ops, UOp


def replayed_after_two_changes() -> int:
    factor, weight = 10.0, Tensor([1.0]).realize()
    captured = TinyJit(lambda x: x * weight * factor)
    for n in range(5):
        captured(Tensor([float(n)]))
    weight.assign(Tensor([3.0]))
    factor = 100.0
    return round(captured(Tensor([1.0])).item())


# ---- a start that is stuck -----------------------------------------------------------------------


def stuck_start(answer: Any) -> str:
    """answer(hidden): w1, b1, w2 without a 0, from which the hidden values stay copies of one."""
    hidden = 6
    case = f"`hidden = {hidden}`"
    got = call(answer, hidden)
    if not isinstance(got, (tuple, list)) or len(got) != 3:
        raise Wrong("The answer has to be three Tensors: w1, b1, w2.", case, got=describe(got))
    w1, b1, w2 = got
    shapes = {"w1": (2, hidden), "b1": (hidden,), "w2": (hidden, 1)}
    for (name, shape), tensor in zip(shapes.items(), got, strict=True):
        wants(tensor, Tensor, f"three Tensors, and `{name}` is none", case)
        if tensor.shape != shape:
            raise Wrong(f"`{name}` has the wrong shape.", case, shape, tensor.shape)
        if not np.isfinite(tensor.numpy()).all():
            raise Wrong(f"`{name}` has a number that isn't finite.", case)
        if (np.abs(tensor.numpy()) < 1e-3).any():
            raise Wrong(f"`{name}` has a 0 in it, or nearly one. That would be too easy.", case)
    x = Tensor(np.random.default_rng().normal(size=(40, 2)).astype(np.float32)).realize()
    wanted = Tensor((x.numpy() ** 2).sum(axis=1, keepdims=True) < 1).float().realize()
    w1, b1, w2 = (tensor.float().detach().contiguous().realize() for tensor in got)
    start = w1.numpy().copy()
    for _ in range(30):
        loss = (((x @ w1 + b1).tanh() @ w2 - wanted) ** 2).mean()
        for p, slope in zip((w1, b1, w2), loss.gradient(w1, b1, w2), strict=True):
            p.assign((p - 0.1 * slope).detach())
        Tensor.realize(w1, b1, w2)
    if np.abs(w1.numpy() - start).max() < 1e-6:
        raise Wrong(
            "From there, nothing moves at all: `tanh` is flat that far out. We want a network that "
            "does learn, and still gets nothing from having more than one hidden value.",
            case,
        )
    values = (x @ w1 + b1).tanh().numpy()
    # of how they vary from point to point: all of them near 1 is not yet all of them the same
    sizes = np.linalg.svd(values - values.mean(axis=0), compute_uv=False)
    if sizes[1] > 1e-3 * sizes[0]:
        raise Wrong(
            "After 30 steps, the hidden values differ from one another, so each of them can learn "
            "something of its own.",
            case,
        )
    return f"All {hidden} hidden values learned, and all of them learned the same thing."


# ---- what an optimizer keeps ---------------------------------------------------------------------


def remembered(answer: Any) -> str:
    """answer(optimizer): how many numbers it keeps beside the parameters."""
    inside, out = fresh_sizes(2)
    first = nn.Linear(3, 2)
    fresh = [nn.Linear(inside, out), nn.Linear(out, 2)]
    shown = "`SGD` with momentum, for a `Linear(3, 2)`"
    optimizers = {
        shown: nn.optim.SGD(nn.state.get_parameters(first), lr=0.1, momentum=0.9),
        "`SGD` without momentum": nn.optim.SGD(nn.state.get_parameters(first), lr=0.1),
        "`Adam`, for two layers": nn.optim.Adam(nn.state.get_parameters(fresh)),
    }
    for case, optimizer in optimizers.items():
        parameters = sum(tensor.numel() for tensor in optimizer.params)
        every = nn.state.get_state_dict(optimizer).values()
        expected = sum(tensor.numel() for tensor in every) - parameters
        plain = whole_number(call(answer, optimizer), case)
        # Adam's counts of missed steps are constants until there is one: nobody has to see them
        without = expected - len(getattr(optimizer, "missed", ()))
        expected = without if plain <= without else expected
        if plain == expected + parameters:
            raise Wrong("You counted the parameters, too. They belong to the model.", case)
        if expected - 2 <= plain < expected:
            raise Wrong(
                "Nearly. Did you count the learning rate, and the number of steps if there is one? "
                "They're Tensors with one number each.",
                case,
            )
        same_number(plain, expected, case, "numbers")
    return "Nothing for SGD but its learning rate. For Adam, two more copies of the whole model."


def momentum_step(answer: Any) -> str:
    """answer(parameter, velocity, gradient, rate): (new parameter, new velocity)."""
    fixed = tuple(Tensor([v]).realize() for v in (1.0, 2.0, 3.0))
    (n,) = fresh_sizes(1)
    fresh = tuple(fresh_tensor(n) for _ in range(3))
    words = "`parameter = [1]`, `velocity = [2]`, `gradient = [3]`, `rate = 0.1`"
    for case, inputs in {words: fixed, "fresh numbers": fresh}.items():
        p, v, g = (t.numpy().copy() for t in inputs)
        got = pair(call(answer, *inputs, 0.1), Tensor, "Tensors", case)
        velocity = np.round(0.9 * v.astype(float) + g, 6)
        parameter, shown = p - 0.1 * velocity, len(p) == 1
        if close(got[0], velocity) and close(got[1], parameter):
            raise Wrong("The two are swapped: the parameter comes first.", case)
        if close(got[0], p - 0.1 * g):
            raise Wrong("That's a plain step. The parameter moves by the new velocity.", case)
        if close(got[0], p - 0.1 * v):
            raise Wrong("The parameter moved by the old velocity. Compute the new one first.", case)
        if close(got[0], p + 0.1 * velocity):
            raise Wrong("The parameter moved uphill: the step is subtracted.", case)
        same_values(got[1], velocity, f"the new velocity for {case}", shown)
        same_values(got[0], parameter, f"the new parameter for {case}", shown)
    return "That's momentum in two lines. `nn.optim.SGD` with `momentum=0.9` takes the same step."


# ---- what TinyJit follows ------------------------------------------------------------------------


def _counted(function: Callable[..., Tensor]) -> tuple[TinyJit, list[str]]:
    """A function under TinyJit, and a list that gets an item each time its Python runs."""
    runs: list[str] = []

    def noted(*inputs: Tensor) -> Tensor:
        runs.append("run")
        return function(*inputs)

    noted.__name__ = noted.__qualname__ = "captured"  # what an error calls it
    return TinyJit(noted), runs


def scale(answer: Any) -> str:
    """answer(captured, x, number): x * number by a captured function, for any number."""
    captured, runs = _counted(lambda x, k: x * k)
    x = Tensor([1.0, 2.0]).realize()
    for number in (2.0, 3.0, 0.5, -7.0):
        case = f"`x = [1, 2]`, `number = {number}`"
        try:
            got = call(answer, captured, x, number)
        except JitError as error:
            if "is a constant" not in str(error):
                raise
            raise Wrong(
                f"`Tensor({number})` of a single number is a constant: it's written into the "
                "kernel, and has no memory that a replay could look up. Give it memory: "
                "`.contiguous()` does.",
                case,
            ) from None
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
    return "Two runs of Python, and four right results."


# ---- a BatchNorm that has disappeared ------------------------------------------------------------


def folded(answer: Any) -> str:
    """answer(linear, norm): one Linear that does what both do after training."""
    random = np.random.default_rng()

    def draw(*shape: int, around: float, spread: float) -> Tensor:
        return Tensor(random.normal(around, spread, shape).astype(np.float32)).realize()

    for inside, out in ((3, 2), fresh_sizes(2)):
        case = f"`Linear({inside}, {out})`" if out == 2 else "a different size"
        linear, norm = nn.Linear(inside, out), nn.BatchNorm(out)
        norm.weight, norm.bias = (draw(out, around=a, spread=0.3) for a in (2.0, 1.0))
        norm.running_mean = draw(out, around=3.0, spread=1.0)
        norm.running_var = Tensor(random.uniform(1e-4, 4e-4, out).astype(np.float32)).realize()
        x = draw(20, inside, around=0.0, spread=1.0)
        before = nn.state.get_state_dict([linear, norm])
        kept = {name: tensor.numpy().copy() for name, tensor in before.items()}
        y, scale, shift = linear(x).numpy(), *(t.numpy() for t in (norm.weight, norm.bias))
        mean, variance = norm.running_mean.numpy(), norm.running_var.numpy()
        got = call(answer, linear, norm)
        if type(got) is not nn.Linear:
            raise Wrong("The answer has to be an `nn.Linear`.", case, got=type(got).__name__)
        for name, tensor in nn.state.get_state_dict([linear, norm]).items():
            if not np.array_equal(tensor.numpy(), kept[name]):
                raise Wrong("You changed the layers that you were given. Make a new one.", case)
        values = got(x).numpy()
        spread = np.sqrt(variance + norm.eps)
        expected = (y - mean) / spread * scale + shift

        def is_like(other: np.ndarray, values: np.ndarray = values) -> bool:
            return values.shape == other.shape and np.allclose(values, other, rtol=2e-3, atol=2e-3)

        if is_like(expected):
            continue
        if is_like(y):
            raise Wrong("This still does what `linear` does alone.", case)
        if is_like((y - mean) / np.sqrt(variance) * scale + shift):
            raise Wrong("Nearly. BatchNorm adds `norm.eps` to the variance.", case)
        if is_like((y - mean) / spread):
            raise Wrong("Nearly. BatchNorm has a weight and a bias of its own.", case)
        if is_like((y - mean) / (variance + norm.eps) * scale + shift):
            raise Wrong("You divided by the variance. The spread is its square root.", case)
        differs = (values - values.mean(0)) - (expected - expected.mean(0))
        if values.shape == expected.shape and np.abs(differs).max() < 2e-3:
            raise Wrong("The weights are right, but the bias isn't.", case)
        same_values(got(x), expected, case, shown=False)
    return "Two layers in, one layer out, and the same answers. After training, BatchNorm is free."


# ---- six hundred numbers -------------------------------------------------------------------------

LARGEST, SHARE = 600, 0.97
CARRIES = "Your model carries numbers that aren't trained. They count, too."


def design(answer: Any) -> str:
    """answer(side, classes): a model of at most 600 numbers, trained to 97% of the digits."""
    written_without(answer, {"digits", "load_digits"}, "and the model has to learn from scratch")
    Tensor.manual_seed(0)
    model = call(answer, 8, 10)
    parameters = nn.state.get_parameters(model)
    if not callable(model) or isinstance(model, type) or not parameters:
        raise Wrong("The answer has to be a model: something with parameters, that can be called.")
    most = f"at most {LARGEST} numbers"
    if (found := numbers_in(model)) > LARGEST:
        raise Wrong("Your model is over the budget.", "", most, f"{found} numbers")
    stored = sum(tensor.numel() for tensor in parameters)
    if stored > found + LARGEST:  # a BatchNorm may keep its means
        raise Wrong(CARRIES, "", most, f"{stored} numbers")
    x = Tensor(np.zeros((4, 64), np.float32)).realize()
    with _unread():
        logits = model(x)
    wants(logits, Tensor, "a model that returns a Tensor", "4 images, of shape (4, 64)")
    if logits.shape != (4, 10):
        raise Wrong("The model's output has the wrong shape.", "4 images", (4, 10), logits.shape)
    known = {node for tensor in (x, *parameters) for node in tensor.uop.toposort()}
    foreign = [u for u in logits.uop.toposort() if u.op is Ops.BUFFER and u not in known]
    if (hidden := sum(_numbers(u) for u in foreign)) > LARGEST:
        raise Wrong(CARRIES, "", most, f"{hidden + found} numbers")
    share = _share_right(model)
    for seed in (1, 2):  # a start is luck, and so is the last digit of somebody's compiler
        if share < SHARE:
            Tensor.manual_seed(seed)
            share = max(share, _share_right(call(answer, 8, 10)))
    if share < SHARE:
        raise Wrong(
            "Your model is within the budget and learns, but it gets too many wrong.",
            "355 digits that it has not seen",
            f"{SHARE:.0%} right",
            f"{share:.1%} right",
        )
    return f"Over {SHARE:.0%} of the digits, within the budget. Nicely designed."


def _numbers(buffer: UOp) -> int:
    return math.prod(buffer.shape)


@contextmanager
def _unread() -> Iterator[None]:
    """Wrong where a model takes numbers out of a Tensor: what it does then, no graph shows."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise Wrong("Your model reads numbers out of a Tensor. It should only write down a graph.")

    with ExitStack() as stack:
        for name in ("numpy", "tolist", "item"):
            stack.enter_context(mock.patch.object(Tensor, name, refuse))
        yield


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
