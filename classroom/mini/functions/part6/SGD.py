"""Hint: What does an optimizer have to remember between steps? And in a step, in which order: may
one parameter move before the others have their gradients?
Hint: loss.gradient gives all of them at once. A parameter is a Tensor that everybody holds, so it
has to stay the same object: only its `uop` becomes a new node. Then realize the loss and the
parameters together.
Because: All gradients are taken while nothing has moved. Realizing at the end of each step keeps
the next step's graph from containing this one's.
"""

import numpy as np

from classroom.mini.check import expect_values, promise
from classroom.mini.functions.part6.shared import (
    TRAINING,
    has_realized_loss,
    is_loss,
    is_realized,
    with_a_step,
)


@promise("[2.0] with gradient [10.0] and lr 0.1 becomes [1.0]", needs=TRAINING)
def one_step(mini) -> None:
    w = mini.Tensor([2.0])
    with_a_step(mini.SGD([w], lr=0.1), "SGD")
    said = "SGD([w], lr=0.1).step((w * 10).sum()) with w = [2.0]"
    got = mini.SGD([w], lr=0.1).step((w * 10).sum())
    expect_values(f"w after {said}", w.numpy(), np.array([1.0]), (
        ([3.0], "The step goes uphill: the gradient is subtracted."),
        ([-8.0], "lr is missing."),
        ([2.0], "w has not changed. Give it a new `uop`."),
    ))  # fmt: skip
    is_loss(mini, said, got, 20.0)


@promise("All gradients are taken before any parameter moves", needs=TRAINING)
def together(mini) -> None:
    a, b = mini.Tensor([2.0]), mini.Tensor([3.0])
    loss = mini.SGD([a, b], lr=0.1).step((a * b).sum())
    said = "SGD([a, b], lr=0.1).step((a * b).sum()) with a = [2.0], b = [3.0]"
    is_realized(mini, said, [a, b])
    has_realized_loss(mini, said, loss)
    expect_values(f"a after {said}", a.numpy(), np.array([1.7]))
    expect_values(f"b after {said}", b.numpy(), np.array([2.8]), (
        ([2.83], "b was moved with the new value of a. Ask for all gradients at once."),
        ([3.0], "b has not moved. You asked for its gradient after a had become a new node. Ask "
                "for all gradients at once."),
    ))  # fmt: skip

# %% wrong: the loss isn't realized
class SGD:
    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr

    def step(self, loss):
        for p, g in zip(self.params, loss.gradient(*self.params)):
            p.uop = (p - self.lr * g).realize().uop
        return loss

# %% wrong: says SGD has no method `step` yet
class SGD:
    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr

# %% right: thought wrong; but the graph of the loss holds the old nodes, so no gradient changes
class SGD:
    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr

    def step(self, loss):
        for p in self.params:
            (g,) = loss.gradient(p)
            p.uop = (p - g * self.lr).realize().uop
        return loss.realize()
