"""Classes that are called, functions made by functions, and enumerated names."""

from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tinyframe import Tensor
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop import Ops


class Row(StrEnum):
    REDUCE_AXIS, EXP2, LOG2 = "REDUCE_AXIS", "EXP2", "LOG2"
    MUL, WHERE, EXPAND = "MUL", "WHERE", "EXPAND"


class Examiner:
    def __init__(self, f):
        self.f = f

    def __call__(self, x, eps=0.01):
        flat = x.reshape(-1)
        return Tensor.stack(
            *(self.along(flat, x.shape, n, eps) for n in range(flat.shape[0]))
        ).reshape(x.shape)

    def along(self, flat, shape, n, eps):
        nudge = (Tensor.arange(flat.shape[0]) == n).cast(flat.dtype) * eps
        up, down = (self.f((flat + way * nudge).reshape(shape).realize()) for way in (1, -1))
        return ((up - down) / (2 * eps)).reshape(()).realize()


def finite_difference(f, x, eps=0.01):
    return Examiner(f)(x, eps)


class Flows(NamedTuple):
    to_x: Any
    to_y: Any


def mul_row(grad, x, y):
    return Flows(to_x=np.multiply(grad, y), to_y=np.multiply(grad, x))


def old_names():
    found = defaultdict(lambda: Row.REDUCE_AXIS, Exp=Row.EXP2, Log=Row.LOG2, Neg=Row.MUL)
    found |= {"Relu": Row.WHERE, "Less": None, "_broadcasted": Row.EXPAND}
    assert found["Sum"] is found["Max"]
    return found


def huber(error, below, above):
    """Each side by its own border."""
    border = (error > 0).where(above, below)
    far = border * (error.abs() - border / 2)
    return (error.abs() <= border).where(error**2 * 0.5, far)


class Minimum:
    pattern = UPat(Ops.MIN, src=(UPat.var("x"), UPat.var("y")))

    def __call__(self, grad, x, y):
        half, none = grad * 0.5, grad.const_like(0.0)
        first = (x < y).where(grad, x.eq(y).where(half, none))
        return (first, (y < x).where(grad, x.eq(y).where(half, none)))


def minimum_row():
    return [Minimum.pattern, lambda grad, x, y: Minimum()(grad, x, y)]


@dataclass
class Walk:
    rules: dict
    arrived: dict = field(default_factory=lambda: defaultdict(list))

    def through(self, u):
        if self.arrived[u] and (rule := self.rules.get(u.op.name)):
            for source, grad in zip(u.src, rule(sum(self.arrived[u][1:], self.arrived[u][0]), u),
                                    strict=True):  # fmt: skip
                self.arrived[source] += [grad]

    def run(self, root):
        self.arrived[root].append(root.const_like(1.0))
        for u in reversed([*root.toposort()]):
            self.through(u)


def walk(f, x, rules):
    walker = Walk(rules)
    walker.run(f(x).uop)
    first, *others = map(Tensor, walker.arrived[x.uop])
    return sum(others, first)


def hessian(f, x):
    first = f(x).gradient(x)[0]
    second = partial(lambda n, number: number.gradient(x)[0].reshape(1, n), x.shape[0])
    return Tensor.cat(*[second(first[i]) for i in range(x.shape[0])])


class Descent:
    rate = 2.0

    def __init__(self, weights):
        self.weights = {name: Tensor(value.numpy()) for name, value in weights.items()}
        self.losses = []

    def step(self, x, y):
        loss = (predict(x, self.weights) - y).square().mean()  # noqa: F821
        slopes = loss.gradient(*self.weights.values())
        new = {name: (value - self.rate * g).detach()
               for (name, value), g in zip(self.weights.items(), slopes, strict=True)}  # fmt: skip
        Tensor.realize(loss, *new.values())
        self.losses.append(loss.numpy().item())
        self.weights = new


def train(x, y, weights):
    descent = Descent(weights)
    while not descent.losses or descent.losses[-1] > 0.004:
        descent.step(x, y)
    return descent.weights, descent.losses
