"""Hint: 1/x falls when x grows, and it falls more slowly the larger x is. Which formula says that?
And do you have to divide at all, given what `node` is?
Hint: The derivative of 1/x is -1/x², and 1/x is right there: it is `node`.
Because: -1/x² is minus `node` times `node`. Using `node` again saves a division, and it has been
computed anyway.
"""

from classroom.mini.check import promise
from classroom.mini.functions.part6.shared import buffer, expect_row


@promise("x = 2, grad = 8 gives (-2,)")
def reciprocal(mini) -> None:
    expect_row(mini, "recip_gradient with x = 2, grad = 8", buffer(mini, [2]).recip(),
               buffer(mini, [8]), [[-2]], (
        ([[2]], "The sign is wrong: when x grows, 1/x shrinks."),
        ([[-32]], "You squared x. Square 1/x instead, which is `node`."),
        ([[-4]], "That is -grad / x. Divide by x twice."),
    ))  # fmt: skip

# %% wrong: says The sign is wrong
@gradient_rule(Ops.RECIP)
def recip_gradient(grad, node, x):
    return (grad * node * node,)

# %% wrong: says A row returns a tuple
@gradient_rule(Ops.RECIP)
def recip_gradient(grad, node, x):
    return -grad * node * node

# %% right: by x
@gradient_rule(Ops.RECIP)
def recip_gradient(grad, node, x):
    return (-grad / (x * x),)
