"""Hint: A reshape moves nothing. So what has to happen to the gradient, apart from its shape?
Hint: Nothing else. Which shape does the source want? A star hands a tuple over size by size.
Because: Each element is still the same element, it only goes by a different index.
"""

import numpy as np

from classroom.mini.check import promise
from classroom.mini.functions.part6.shared import buffer, expect_row


@promise("Back to the shape of x")
def reshaped(mini) -> None:
    x = buffer(mini, np.zeros((2, 3)))
    grad = buffer(mini, np.arange(6).reshape(3, 2))
    expect_row(mini, "reshape_gradient with x of shape (2, 3), reshaped to (3, 2)",
               x.reshape(3, 2), grad, [np.arange(6).reshape(2, 3).tolist()])  # fmt: skip

# %% wrong: says A gradient has the shape of its source, (2, 3)
@gradient_rule(Ops.RESHAPE)
def reshape_gradient(grad, node, x):
    return (grad,)

# %% right
@gradient_rule(Ops.RESHAPE)
def reshape_gradient(grad, node, x):
    return [grad.reshape(*x.shape)]
