"""Hint: What undoes a flip?
Hint: The same op, along the same axes. `flip` takes axes one by one, so mind the star.
Because: Flipping twice is doing nothing, so each element's gradient is back at its place.
"""

import numpy as np

from classroom.mini.check import promise
from classroom.mini.functions.part6.shared import buffer, expect_row


@promise("Back to front, along the same axes")
def flipped(mini) -> None:
    for shape, axes in (((3,), (0,)), ((2, 2), (1,)), ((2, 3, 2), (0, 2))):
        x, values = buffer(mini, np.zeros(shape)), np.arange(np.prod(shape)).reshape(shape)
        said = f"flip_gradient with x of shape {shape}, node.arg {axes}"
        expect_row(mini, said, x.flip(*axes), buffer(mini, values),
                   [np.flip(values, axes).tolist()], (
            ([values.tolist()], "Nothing is flipped back."),
        ))  # fmt: skip

# %% wrong: FLIP is no elementwise op
@gradient_rule(Ops.FLIP)
def flip_gradient(grad, node, x):
    return (grad.alu(Ops.FLIP),)

# %% wrong: says Nothing is flipped back
@gradient_rule(Ops.FLIP)
def flip_gradient(grad, node, x):
    return (grad,)

# %% wrong: says Element (0, 0) should be 1
@gradient_rule(Ops.FLIP)
def flip_gradient(grad, node, x):
    return (grad.flip(*range(len(x.shape))),)
