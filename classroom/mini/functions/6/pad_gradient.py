"""Hint: The zeros around aren't x's. Which part of the gradient is?
Hint: Cut it out again: along each axis it starts after `before` zeros and is as long as x is.
`shrink` wants a start and an end for each axis, and not widths.
Because: The elements of x are at before … before + size. What flowed to the zeros is dropped.
"""

# %% wrong: says node.arg holds widths
@gradient_rule(Ops.PAD)
def pad_gradient(grad, node, x):
    return (grad.shrink(*node.arg),)

# %% right: counted from the end of grad
@gradient_rule(Ops.PAD)
def pad_gradient(grad, node, x):
    return (grad.shrink(*((a, size - b) for (a, b), size in zip(node.arg, grad.shape))),)

# %% right
@gradient_rule(Ops.PAD)
def pad_gradient(grad, node, x):
    return (grad.shrink(*((a, n - b) for n, (a, b) in zip(grad.shape, node.arg))),)
