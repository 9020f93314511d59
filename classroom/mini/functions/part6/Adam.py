"""Hint: Which numbers live on from one step to the next? Two for each parameter, and something that
knows how many steps there have been. Where could that live, if not as a number in Python?
Hint: Make Tensors for m, v, and for b1 and b2 to the power of the number of steps, which start at
1 and are multiplied in each step. They all get a new `uop`, as a parameter does, and all are
realized with it, in one go.
Because: The averages start at 0, and dividing by 1 - b1**t makes up for that. With the powers in
Tensors, every step is the same graph with other numbers in it, so a compiler has to look at it
once.
"""

import itertools
import math
from typing import Any
from unittest import mock

import numpy as np

from classroom.mini.check import Wrong, expect, expect_values, promise, wrong_if
from classroom.mini.functions.part6.shared import (
    TRAINING,
    has_realized_loss,
    is_loss,
    is_realized,
    with_a_step,
)


def adam_by_numpy(
    grads: list[float], lr: float, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> float:
    """Where a parameter that begins at 0 is after these gradients."""
    w = m = v = 0.0
    for t, g in enumerate(grads, 1):
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        w -= lr * (m / (1 - b1**t)) / (math.sqrt(v / (1 - b2**t)) + eps)
    return w


@promise("The first step is as long as lr", needs=TRAINING)
def first_step(mini) -> None:
    w = mini.Tensor([2.0])
    with_a_step(mini.Adam([w], lr=0.5), "Adam")
    said = "Adam([w], lr=0.5).step((w * 10).sum()) with w = [2.0]"
    got = mini.Adam([w], lr=0.5).step((w * 10).sum())
    expect_values(f"w after {said}", w.numpy(), np.array([1.5]), (
        ([2 - 0.5 / math.sqrt(0.1)], "The averages are not corrected: M is m / (1 - b1**t), "
                                     "and V is v / (1 - b2**t)."),
        ([2 - 0.05], "m is not corrected: M is m / (1 - b1**t)."),
        ([2 - 0.5 * 10 / math.sqrt(0.1)], "v is not corrected: V is v / (1 - b2**t)."),
        ([2.5], "The step goes uphill: it is subtracted."),
        ([2 - 0.5 * 10 / 100], "The square root of V is missing."),
        ([2.0], "w has not changed. Give it a new `uop`."),
    ))  # fmt: skip
    is_loss(mini, said, got, 20.0)


@promise("Five steps with different gradients", needs=TRAINING)
def five_steps(mini) -> None:
    w, grads = mini.Tensor([0.0]), [1.0, -2.0, 0.5, 4.0, -1.0]
    adam = mini.Adam([w], lr=0.1)
    for count, g in enumerate(grads, 1):
        loss = adam.step((w * g).sum())
        has_realized_loss(mini, "Adam.step", loss)
        said = f"w, which begins at 0, after {count} steps with the gradients {grads[:count]}"
        is_realized(mini, "Adam.step", [w])
        once = adam_by_numpy(grads[:count], 0.1)
        forgetful = sum(adam_by_numpy([0.0] * t + [g], 0.1) for t, g in enumerate(grads[:count]))
        expect_values(said, w.numpy(), np.array([once]), (
            ([forgetful], "Each step forgets the ones before it. Give m and v a new `uop`, too."),
        ))  # fmt: skip


@promise("Each parameter has averages of its own, of its own shape", needs=TRAINING)
def several_parameters(mini) -> None:
    a, b = mini.Tensor(np.zeros((2, 3))), mini.Tensor([0.0])
    adam = mini.Adam([a, b], lr=0.1, b1=0.5, b2=0.9, eps=1e-3)
    for g in (1.0, -2.0, 0.5):
        adam.step((a * g).sum() + (b * (g * g)).sum())
    after = "after three steps of Adam([a, b], lr=0.1, b1=0.5, b2=0.9, eps=1e-3)"
    for name, t, grads in (("a", a, [1.0, -2.0, 0.5]), ("b", b, [1.0, 4.0, 0.25])):
        wanted = np.full(t.shape, adam_by_numpy(grads, 0.1, 0.5, 0.9, 1e-3))
        ignored = np.full(t.shape, adam_by_numpy(grads, 0.1))
        expect_values(f"{name}, {after}", t.numpy(), wanted, (
            (ignored, "b1, b2 and eps are not used: these are the numbers of b1=0.9, b2=0.999."),
        ))  # fmt: skip


@promise("Every step makes the same graph, with other numbers in its buffers", needs=TRAINING)
def same_graph(mini) -> None:
    w = mini.Tensor([1.0, 2.0])
    adam = mini.Adam([w], lr=0.1)
    steps: list[list[str]] = []
    constants: list[list[str]] = []
    run = mini.Tensor.run

    def measured(sink: Any) -> Any:
        for node in sink.toposort():
            if node.op is not mini.Ops.BUFFER:
                kept = constants if node.op is mini.Ops.CONST else steps
                kept[-1].append(repr((str(node.op), node.arg)))
        return run(sink)

    with mock.patch.object(mini.Tensor, "run", staticmethod(measured)):
        for _ in range(4):
            steps.append([])
            constants.append([])
            adam.step((w * w).sum())
    said = "four steps of Adam"
    sizes = [len(step) for step in steps]
    wrong_if(len(set(sizes)) != 1, "Your steps make graphs of different sizes. Otherwise the next "
             "step's graph contains this one's: is everything that a step changes realized in it?",
             said, got=f"{sizes} nodes")  # fmt: skip
    if any(sorted(step) != sorted(kept[0]) for kept in (steps, constants) for step in kept):
        raise Wrong("The graph has a constant in it that changes with every step. A number that is "
                    "counted in Python makes a different graph each time, and a compiler would "
                    "have to compile each. Keep it in a Tensor.", said)  # fmt: skip


@promise("Four points that no line separates (XOR) are learned in 200 steps",
        needs=TRAINING, seconds=30)  # fmt: skip
def xor(mini) -> None:
    dice = np.random.default_rng(0)
    x = mini.Tensor(list(itertools.product([0, 1], repeat=2)))
    y = mini.Tensor([[0], [1], [1], [0]])
    weights = [dice.standard_normal(shape) for shape in ((2, 8), (8, 1))]
    w1, b1, w2, b2 = (mini.Tensor(v) for v in (weights[0], np.zeros(8), weights[1], np.zeros(1)))
    adam = mini.Adam([w1, b1, w2, b2], lr=0.03)

    def model() -> Any:
        return (x @ w1 + b1).relu() @ w2 + b2

    for _ in range(200):
        off = model() - y
        adam.step((off * off).mean())
    answers = model().numpy().ravel()
    expect("the four answers, rounded", [round(float(a)) for a in answers], [0, 1, 1, 0])

# %% wrong: eps under the root
class Adam:
    def __init__(self, params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8):
        self.params, self.rest, self.t = list(params), (lr, b1, b2, eps), 0
        self.m, self.v = ([Tensor(np.zeros(p.shape)) for p in params] for _ in "mv")

    def step(self, loss):
        lr, b1, b2, eps = self.rest
        self.t += 1
        c1, c2 = Tensor(1 - b1**self.t), Tensor(1 - b2**self.t)
        grads = loss.gradient(*self.params)
        for p, m, v, g in zip(self.params, self.m, self.v, grads):
            m.uop, v.uop = (m * b1 + g * (1 - b1)).uop, (v * b2 + g * g * (1 - b2)).uop
            p.uop = (p - lr * (m / c1) / (v / c2 + eps).sqrt()).uop
        return loss.realize(*self.params, *self.m, *self.v)

# %% right: counts in Python, and puts the two corrections into Tensors
class Adam:
    def __init__(self, params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8):
        self.params, self.rest, self.t = list(params), (lr, b1, b2, eps), 0
        self.m, self.v = ([Tensor(np.zeros(p.shape)) for p in params] for _ in "mv")

    def step(self, loss):
        lr, b1, b2, eps = self.rest
        self.t += 1
        c1, c2 = Tensor(1 - b1**self.t), Tensor(1 - b2**self.t)
        grads = loss.gradient(*self.params)
        for p, m, v, g in zip(self.params, self.m, self.v, grads):
            m.uop, v.uop = (m * b1 + g * (1 - b1)).uop, (v * b2 + g * g * (1 - b2)).uop
            p.uop = (p - lr * (m / c1) / ((v / c2).sqrt() + eps)).uop
        return loss.realize(*self.params, *self.m, *self.v)
