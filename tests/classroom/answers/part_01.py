"""Part 1: what somebody might answer, and what they are told."""

from __future__ import annotations

import math

import numpy as np

from tinyframe import Tensor, Variable
from tinyframe.uop import Ops

# exercises that ask for an object, and not for a function
OBJECTS = {"1.8"}

# for each prediction what is right, and what somebody might think
GUESSES = {
    "1.4": (2, 0, 1, 1_000_000, 2_000_000),
    "1.5": ((24, 8), (20, 8), (12, 4), (8, 24)),
    "1.6": (3708, 103, 36, 3709),
}


def endless(grad):
    while True:
        grad = grad + 1


def quits(grad):
    raise SystemExit("enough")


def by_hand(pixels, arriving, i, j):
    return (pixels[:, i : i + 6, j : j + 6] * arriving).sum()


def swapped(pixels, arriving, i, j):
    return by_hand(pixels, arriving, j, i)


def mirrored(pixels, arriving, i, j):
    return by_hand(pixels, arriving, 2 - i, 2 - j)


class Number:
    """As it should be."""

    def __init__(self, value, *sources):
        self.value, self.sources, self.grad = value, sources, 0.0

    def __add__(self, other):
        return type(self)(self.value + other.value, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        return type(self)(self.value * other.value, (self, other.value), (other, self.value))

    def tanh(self):
        t = math.tanh(self.value)
        return type(self)(t, (self, 1.0 - t * t))

    def backward(self, grad=1.0):
        self.grad += grad
        for source, slope in self.sources:
            source.backward(grad * slope)


def number(**methods):
    """A class of its own with these methods, and the others as they should be."""
    return type("Number", (Number,), methods)


def own_slopes(self, other):
    return type(self)(self.value * other.value, (self, self.value), (other, other.value))


def other_slope(self):
    t = math.tanh(self.value)
    return type(self)(t, (self, 1.0 - self.value * self.value))


def replaces(self, grad=1.0):
    self.grad = grad
    for source, slope in self.sources:
        source.backward(grad * slope)


def forgets_what_arrives(self, grad=1.0):
    self.grad += grad
    for source, slope in self.sources:
        source.backward(slope)


def sends_on_what_it_collected(self, grad=1.0):
    self.grad += grad
    for source, slope in self.sources:
        source.backward(self.grad * slope)


def with_a_stack(self, grad=1.0):
    waiting = [(self, grad)]
    while waiting:
        number, arriving = waiting.pop()
        number.grad = number.grad + arriving
        waiting += [(source, arriving * slope) for source, slope in number.sources]


# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("1.1", lambda grad: (grad, grad), "exactly as before"),
    ("1.1", lambda grad: (grad * 2, grad * 2), "not its size"),
    ("1.1", lambda grad: (grad, grad * 0.9), "It still learns"),
    ("1.1", lambda grad: grad, "two gradients, one for each source"),
    ("1.1", lambda grad: (grad, grad, grad), "3 of them"),
    ("1.1", lambda grad: (None, None), "tinyframe noticed"),
    ("1.1", lambda grad: (None, grad), "no gradient reaches"),
    ("1.1", lambda grad: (grad, 1), "second gradient has to be made of `grad`"),
    ("1.1", lambda grad: (grad.reduce_axis(Ops.ADD, (0,)), grad), "first gradient has the wrong"),
    ("1.1", lambda grad: (grad, gard), "NameError"),  # noqa: F821
    ("1.1", quits, "SystemExit"),
    ("1.1", endless, "loop that never ends"),
    ("1.2", lambda grad, x, y: (grad * x, grad * y), "What `x` gets is wrong"),
    ("1.2", lambda grad, x, y: (grad * y, grad * y), "What `y` gets is wrong"),
    ("1.2", lambda grad, x, y: (y, x), "Multiply that by what arrives"),
    ("1.2", lambda grad, x, y: (grad * y, None), "`y` gets nothing"),
    ("1.2", lambda grad, x, y: (grad + y, grad + x), "What `x` gets is wrong"),
    ("1.3", lambda v: (v + v + v, lambda v: v * 3), "does not match"),
    ("1.3", lambda v: (v * 2 + v, lambda v: v * 4), "a different value"),
    ("1.3", lambda v: (v * 2 + v, lambda v: v + v * 2), "Its value is right"),
    ("1.3", lambda v: (v * 2 + v, lambda v: v * 4 - v), "Its value is right"),
    ("1.3", lambda v: (v * 2 + v, lambda v: v * 2 + v + 0), "never ends"),
    ("1.3", lambda v: v * 2 + v, "a tuple of two"),
    ("1.3", lambda v: (v * 2 + v, lambda: v * 3), "by these names: `lambda v: …`"),
    ("1.3", lambda v: (v * 2 + v, lambda w: w * 3), "by these names: `lambda v: …`"),
    ("1.3", lambda v: (Variable("i", 0, 7) * 3, lambda v: v * 3), "write it with `v`"),
    ("1.3", lambda v: (v * 2 + v, v * 3), "be a function"),
    ("1.7", lambda pixels, arriving, i, j: by_hand(pixels, arriving, 1, 1), "not used"),
    ("1.7", swapped, "swapped `i` and `j`"),
    ("1.7", mirrored, "mirrored"),
    ("1.7", lambda *inputs: by_hand(*inputs) / inputs[0].shape[0], "the mean"),
    ("1.7", lambda pixels, arriving, i, j: pixels[:, :6, :6] * arriving, "one number"),
    ("1.7", lambda pixels, arriving, i, j: pixels[:, i, j].sum(), "Which pixels"),
    ("1.8", number(__mul__=own_slopes), "`a.grad` is wrong"),
    ("1.8", number(__mul__=lambda a, b: a.value * b.value), "a Number"),
    ("1.8", number(__mul__=Number.__add__), "a * b"),
    ("1.8", number(tanh=other_slope), "a.tanh()"),
    ("1.8", number(backward=replaces), "used twice"),
    ("1.8", number(backward=forgets_what_arrives), "slope times what has arrived"),
    ("1.8", number(backward=sends_on_what_it_collected), "what has just arrived"),
    ("1.8", Number(1.0), "Pass `Number`"),
]


def with_a_loop(pixels, arriving, i, j):
    total = 0.0
    for image, back in zip(pixels.tolist(), arriving.tolist(), strict=True):
        for row in range(6):
            for column in range(6):
                total += image[row + i][column + j] * back[row][column]
    return total


def in_numpy(pixels, arriving, i, j):
    return np.einsum("nij,nij->", pixels.numpy()[:, i : i + 6, j : j + 6], arriving.numpy())


# number of an exercise, a right answer that is not the usual one
RIGHT = [
    ("1.1", lambda g: (g, None)),
    ("1.1", lambda g: [-g, g]),
    ("1.1", lambda g: (sign * g for sign in (1, -1))),
    ("1.1", lambda g: (g * 0, g * 0)),
    ("1.1", lambda g: (g, g * float("nan"))),
    ("1.1", lambda g: (g > 0, g)),
    ("1.1", lambda g: (Tensor(g) * -1, g)),
    ("1.1", lambda g: (g, g + 1)),
    ("1.2", lambda g, a, b: (g * b, g * a)),
    ("1.2", lambda grad, x, y: [y * grad, x * grad]),
    ("1.2", lambda grad, x, y: (Tensor(grad) * Tensor(y), grad * x)),
    ("1.2", lambda grad, x, y: (grad * side for side in (y, x))),
    ("1.2", lambda grad, x, y: (x * y * grad / x, grad / (1 / x))),
    ("1.3", lambda v: (v + v * 2, lambda v: v * 3)),
    ("1.3", lambda v: (v * 2 + v, lambda v: 3 * v)),
    ("1.3", lambda v: [v * 2 + v, lambda v: v * 3]),
    ("1.3", lambda v: (v * 2 + v, lambda v: v.const_like(3) * v)),
    ("1.3", lambda v: (v * 2 + v, lambda **named: named["v"] * 3)),
    ("1.7", with_a_loop),
    ("1.7", in_numpy),
    ("1.7", lambda pixels, arriving, i, j: by_hand(pixels, arriving, i, j).item()),
    ("1.7", lambda p, a, i, j: (p[:, i:i + 6, j:j + 6] * a).sum().reshape(1, 1)),
    ("1.7", lambda p, a, i, j: (p.shrink((None, (i, i + 6), (j, j + 6))) * a).flatten().sum(0)),
    ("1.8", Number),
    ("1.8", number(backward=with_a_stack)),
]  # fmt: skip
