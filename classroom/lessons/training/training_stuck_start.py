"""A start that is stuck

Hint: If two hidden values start out the same, what's different about their gradients?
Hint: Nothing is. `Tensor.full((2, hidden), …)` has the same number everywhere.
Because: Hidden values that start as copies get the same gradient, so they take the same step, and
stay copies forever. That's why networks start from random numbers: they don't have to be good,
only different.
"""

import numpy as np

from classroom.ask import Wrong, call, describe, wants, wrong_if
from tinyframe import Tensor

SECONDS = 30.0


def check(answer) -> str:
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
        wrong_if(tensor.shape != shape, f"`{name}` has the wrong shape.", case, shape, tensor.shape)
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
    wrong_if(np.abs(w1.numpy() - start).max() < 1e-6, "From there, nothing moves at all: `tanh` is "
             "flat that far out. We want a network that does learn, and still gets nothing from "
             "having more than one hidden value.", case)  # fmt: skip
    values = (x @ w1 + b1).tanh().numpy()
    # of how they vary from point to point: all of them near 1 is not yet all of them the same
    sizes = np.linalg.svd(values - values.mean(axis=0), compute_uv=False)
    wrong_if(sizes[1] > 1e-3 * sizes[0], "After 30 steps, the hidden values differ from one "
             "another, so each of them can learn something of its own.", case)  # fmt: skip
    return f"All {hidden} hidden values learned, and all of them learned the same thing."

# %% shared
from tinyframe import Tensor, nn

# %% wrong, each line
lambda hidden: Tensor.ones(2, hidden)  # says three Tensors
lambda h: (Tensor.randn(2, h), Tensor.randn(h), Tensor.randn(h, 1))  # says differ from one another
lambda h: (Tensor.ones(2, h), Tensor.zeros(h), Tensor.ones(h, 1))  # says has a 0 in it
lambda h: (Tensor.full((2, h), 50.0), Tensor.full((h,), 900.0), Tensor.full((h, 1), 0.5))  # says nothing moves at all

# %% wrong: says wrong shape
def transposed_start(hidden):
    return Tensor.ones(hidden, 2), Tensor.ones(hidden), Tensor.ones(hidden, 1)
transposed_start

# %% wrong: says isn't finite
def infinite(hidden):
    return Tensor.ones(2, hidden) / 0, Tensor.ones(hidden), Tensor.ones(hidden, 1)
infinite

# %% right: the rows differ, the columns don't; a view
def stuck_start(hidden):
    column = Tensor([[0.5], [-0.25]]).expand(2, hidden)
    return column, Tensor.full((hidden,), 0.1), Tensor.full((hidden, 1), 0.3)
