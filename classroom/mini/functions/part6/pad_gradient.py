"""Hint: The zeros around aren't x's. Which part of the gradient is?
Hint: Cut it out again: along each axis it starts after `before` zeros and is as long as x is.
`shrink` wants a start and an end for each axis, and not widths.
Because: The elements of x are at before … before + size. What flowed to the zeros is dropped.
"""

import numpy as np

from classroom.mini.check import promise
from classroom.mini.functions.part6.shared import buffer, expect_row


@promise("The elements of x, without the zeros around")
def unpadded(mini) -> None:
    x = buffer(mini, np.zeros(3))
    said = "pad_gradient with x of shape (3,), node.arg ((1, 2),), grad = [1, 2, 3, 4, 5, 6]"
    expect_row(mini, said, x.pad((1, 2)), buffer(mini, [1, 2, 3, 4, 5, 6]), [[2, 3, 4]], (
        ([[1, 2, 3]], "Those are the first three. The elements of x begin at `before`."),
        ([[2]], "node.arg holds widths, (before, after), and shrink wants (start, end)."),
    ))  # fmt: skip

# %% wrong: says node.arg holds widths
@gradient_rule(Ops.PAD)
def pad_gradient(grad, node, x):
    return (grad.shrink(*node.arg),)

# %% right: counted from the end of grad
@gradient_rule(Ops.PAD)
def pad_gradient(grad, node, x):
    return (grad.shrink(*((a, size - b) for (a, b), size in zip(node.arg, grad.shape))),)
