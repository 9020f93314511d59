"""Part 6: what somebody might answer, and what they are told."""

from __future__ import annotations

import numpy as np

from tinyframe import Tensor, nn
from tinyframe.nn import datasets
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop import Ops

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = {"6.9"}

# for each prediction what is right, and what somebody might think
GUESSES = {
    "6.1": ((6, 2), (5, 2), (2, 5), (6, 3), (5, 1)),
    "6.3": ((4, 4, 4), (1, 1, 1), (4, 8, 12), (1, 2, 3)),
    "6.6": ((0.0, 0.5, 0.5, 0.0), (0.0, 1.0, 1.0, 0.0), (0.0, 1.0, 0.0, 0.0)),
    "6.10": (0.5, 0.0, 1.0, 2.0),
    "6.11": (-0.1, 0.1, -100.0, -1000.0, 0.0),
    "6.13": (1218, 1152, 1154, 68),
    "6.14": (30, 300, 10, 100),
    "6.17": (1, 10, 0, 9),
}


def normalized_rows(x, correction):
    variance = x.var(axis=1, correction=correction, keepdim=True)
    return (x - x.mean(axis=1, keepdim=True)) / (variance + 1e-5).sqrt()


def one_path(grad, a, b):
    at_product = grad * (a * b).cos()
    return at_product * b, at_product * a


def swapped(grad, a, b):
    at_product = grad * (a * b).cos()
    return at_product * a, at_product * b + grad


def sine_of_the_result(grad, a, b):
    at_product = grad * (a * b).sin()
    return at_product * b + grad, at_product * a


def slope(f, x, i, up, down, eps):
    results = []
    for nudge in (up, down):
        moved = x.copy()
        moved[i] += nudge
        results.append(f(Tensor(moved)).item())
    return (results[0] - results[1]) / eps


def nudged_in_place(f, x, eps):
    slopes = []
    for i in range(len(x)):
        before = f(Tensor(x.copy())).item()
        x[i] += eps
        slopes.append((f(Tensor(x.copy())).item() - before) / eps)
    return np.array(slopes)


def outer_where_only(x):
    return (x > 0).where(x.sqrt(), 0.0)


def once(f, x, n):
    return f(x).sum().gradient(x)[0]


def one_too_many(f, x, n):
    y = f(x)
    for _ in range(n + 1):
        (y,) = y.sum().gradient(x)
    return y


def small_conv(channels):
    return nn.Sequential(
        lambda x: x.reshape(-1, 1, 8, 8),
        nn.Conv2d(1, channels, 3),
        nn.ReLU(),
        lambda x: x.max_pool2d(2).flatten(1),
        nn.Linear(9 * channels, 10),
    )


def hidden_layer(width):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 10))


def through_cumsum(grad):
    x = Tensor.zeros(*grad.shape)
    return (x.cumsum(0) * grad).sum().gradient(x)[0]


class Nearest:
    """Compares with images that it has stored; what it trains is small."""

    def __init__(self):
        self.images = Tensor.ones(1400, 64)
        self.images.requires_grad = False
        self.linear = nn.Linear(10, 10)

    def __call__(self, x):
        return self.linear((x @ self.images.T)[:, :10])


def recaptured(captured, x, number):
    captured.reset()
    return captured(x, Tensor([number]))


# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("6.2", one_path, "one path is missing"),
    ("6.2", swapped, "swapped"),
    ("6.2", sine_of_the_result, "At `a`"),
    ("6.2", lambda grad, a, b: grad * b, "a pair of UOps"),
    ("6.2", lambda grad, a, b: (Tensor(grad), Tensor(a)), "a pair of UOps"),
    ("6.4", lambda grad: grad.cumsum(0), "the places before"),
    ("6.4", lambda grad: grad, "elements are wrong"),
    ("6.4", lambda grad: grad.flip(0).cumsum(0), "reversed"),
    ("6.4", lambda grad: grad.sum(), "axis"),
    ("6.4", through_cumsum, "uses `gradient`"),
    ("6.5", lambda f, x, e: f(t := Tensor(x)).gradient(t)[0].numpy(), "uses `gradient`"),
    ("6.5", lambda f, x, e: [slope(f, x, i, e, 0, e) for i in range(len(x))], "one direction"),
    ("6.5", lambda f, x, e: [slope(f, x, i, e, -e, e) for i in range(len(x))], "2"),
    ("6.5", lambda f, x, e: [slope(f, x, i, -e, e, 2 * e) for i in range(len(x))], "sign"),
    ("6.5", nudged_in_place, "changed `x` itself"),
    ("6.5", lambda f, x, e: (f(Tensor(x + e)) - f(Tensor(x - e))).item() / (2 * e), "an array"),
    ("6.7", outer_where_only, "`nan` in the gradient"),
    ("6.7", lambda x: x.abs().sqrt(), "element"),
    ("6.7", lambda x: (x > 0).where(x.abs().sqrt().detach(), 0.0), "went through detach()"),
    ("6.8", once, "the derivative of order 1"),
    ("6.8", one_too_many, "the derivative of order 2"),
    ("6.9", (UPat(Ops.TRUNC), lambda grad: grad), "returns a tuple"),
    ("6.9", (UPat(Ops.TRUNC), lambda grad: (grad * 0,)), "element"),
    ("6.9", (UPat((Ops.TRUNC, Ops.SIN)), lambda grad: (grad,)), "matches SIN"),
    ("6.9", lambda grad: (grad,), "has to be a pair"),
    ("6.9", (Ops.TRUNC, lambda grad: (grad,)), "has to be a pair"),
    ("6.12", lambda p, v, g, r: (p - r * v, 0.9 * v + g), "old velocity"),
    ("6.12", lambda p, v, g, r: (0.9 * v + g, p - r * (0.9 * v + g)), "swapped"),
    ("6.12", lambda p, v, g, r: (p + r * (0.9 * v + g), 0.9 * v + g), "uphill"),
    ("6.12", lambda p, v, g, r: (p - r * g, g), "the new velocity"),
    ("6.12", lambda p, v, g, r: p - r * (0.9 * v + g), "a pair of Tensors"),
    ("6.15", lambda captured, x, number: x * number, "never called"),
    ("6.15", lambda captured, x, number: captured(x, number), "raised JitError"),
    ("6.15", lambda captured, x, number: captured(x, Tensor(number)), "raised JitError"),
    ("6.15", recaptured, "should run twice"),
    ("6.16", lambda x: (x - x.mean(axis=0)) / (x.std(axis=0) ** 2 + 1e-5).sqrt(), "n - 1"),
    ("6.16", lambda x: (x - x.mean(axis=0)) / x.std(axis=0, correction=0), "add `eps`"),
    ("6.16", lambda x: (x - x.mean(axis=0)) / (x.var(axis=0, correction=0) + 1e-5), "square root"),
    ("6.16", lambda x: nn.BatchNorm(x.shape[1])(x), "uses `BatchNorm`"),
    ("6.16", lambda x: x - x.mean(axis=0), "too large by a factor of 2"),
    ("6.16", lambda x: (x - x.mean()) / (x.var() + 1e-5).sqrt(), "one mean and one variance"),
    ("6.16", lambda x: normalized_rows(x, correction=0), "each row"),
    ("6.16", lambda x: normalized_rows(x, correction=1), "each row"),
    ("6.18", lambda side, classes: nn.Linear(64, 10), "budget"),
    ("6.18", lambda side, classes: small_conv(8), "budget"),  # the network of part 1
    ("6.18", lambda side, classes: hidden_layer(7), "too many wrong"),
    ("6.18", lambda side, classes: nn.Linear(64, 8), "wrong shape"),
    ("6.18", lambda side, classes: Nearest(), "numbers that aren't trained"),
    ("6.18", lambda side, classes: Tensor(datasets.digits()[0]), "uses `digits`"),
    ("6.18", lambda side, classes: nn.Linear, "has to be a model"),
    ("6.18", lambda side, classes: small_conv(2), "too many wrong"),
]
