"""Hint: What was cut off had no influence on the loss. What is its gradient? Which op puts that
much around something?
Hint: Pad with zeros: as many as were cut off in front, and as many as were cut off behind. node.arg
says where the kept piece starts and where it ends; the size of x says the rest.
Because: In front, `start` elements were cut off, and behind, size - end. Cutting and padding are
each other's gradient.
"""

import numpy as np

from classroom.mini.check import promise, wrong_if
from classroom.mini.functions.part6.shared import buffer, expect_row


@promise("Zeros for what was cut off")
def shrunk(mini) -> None:
    x = buffer(mini, np.zeros(5))
    said = "shrink_gradient with x of shape (5,), node.arg ((1, 3),), grad = [7, 8]"
    got = mini.GRADIENT[mini.Ops.SHRINK](buffer(mini, [7, 8]), x.shrink((1, 3)), x)
    shape = getattr(got[0], "shape", None) if isinstance(got, tuple) and got else None
    wrong_if(shape == (6,), "Padded with (start, end) it has 6 elements. `end` is an index: what "
             "follows is size - end.", said, "shape (5,)", "shape (6,)")  # fmt: skip
    expect_row(mini, said, x.shrink((1, 3)), buffer(mini, [7, 8]), [[0, 7, 8, 0, 0]])

# %% wrong: says `end` is an index
@gradient_rule(Ops.SHRINK)
def shrink_gradient(grad, node, x):
    return (grad.pad(*node.arg),)

# %% right
@gradient_rule(Ops.SHRINK)
def shrink_gradient(grad, node, x):
    return (grad.pad(*((a, n - b) for n, (a, b) in zip(x.shape, node.arg))),)
