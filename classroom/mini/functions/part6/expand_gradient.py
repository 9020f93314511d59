"""Hint: An element was read three times. Each reading brings a gradient back. What do you do with
three of them?
Hint: Add them up, along exactly those axes that were stretched: where the size of the source and
the size of the node differ. The axis has to stay, with size 1.
Because: What forks on the way down is added on the way back. Reading many times and summing are
each other's gradient.
"""

import numpy as np

from classroom.mini.check import promise, wrong_if
from classroom.mini.functions.part6.shared import buffer, expect_row


@promise("A row that was read three times collects three gradients")
def expanded(mini) -> None:
    x = buffer(mini, np.zeros((1, 4)))
    values = np.arange(12).reshape(3, 4)
    said = "expand_gradient with x of shape (1, 4), expanded to (3, 4)"
    got = mini.GRADIENT[mini.Ops.EXPAND](buffer(mini, values), x.expand(3, 4), x)
    shape = getattr(got[0], "shape", None) if isinstance(got, tuple) and got else None
    for mistake, sentence in (
        ((3, 4), "The gradient still has the shape of the result. An element that was read three "
                 "times gets the sum of three gradients."),
        ((4,), "The axis is gone. x has it, with size 1: keepdim=True."),
    ):  # fmt: skip
        wrong_if(shape == mistake, sentence, said, "shape (1, 4)", f"shape {shape}")
    expect_row(mini, said, x.expand(3, 4), buffer(mini, values), [[values.sum(0).tolist()]], (
        ([[values[0].tolist()]], "Only the first of the three gradients arrives. Add them up."),
        ([[values.mean(0).tolist()]], "That is the mean of the three gradients. It should be the "
                                      "sum."),
    ))  # fmt: skip
    other, cube = buffer(mini, np.zeros((1, 2, 1))), np.arange(24).reshape(3, 2, 4)
    said = "expand_gradient with x of shape (1, 2, 1), expanded to (3, 2, 4)"
    wanted = cube.sum((0, 2), keepdims=True).tolist()
    expect_row(mini, said, other.expand(3, 2, 4), buffer(mini, cube), [wanted])

# %% wrong: says still has the shape of the result
@gradient_rule(Ops.EXPAND)
def expand_gradient(grad, node, x):
    return (grad,)

# %% wrong: says Only the first of the three gradients arrives
@gradient_rule(Ops.EXPAND)
def expand_gradient(grad, node, x):
    return (grad.shrink(*((0, size) for size in x.shape)),)

# %% right: all axes of size 1, stretched or not, and a reshape
@gradient_rule(Ops.EXPAND)
def expand_gradient(grad, node, x):
    return (grad.sum(*[k for k, n in enumerate(x.shape) if n == 1]).reshape(*x.shape),)
