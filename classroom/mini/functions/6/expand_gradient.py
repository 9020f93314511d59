"""Hint: An element was read three times. Each reading brings a gradient back. What do you do with
three of them?
Hint: Add them up, along exactly those axes that were stretched: where the size of the source and
the size of the node differ. The axis has to stay, with size 1.
Because: What forks on the way down is added on the way back. Reading many times and summing are
each other's gradient.
"""

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

# %% right
@gradient_rule(Ops.EXPAND)
def expand_gradient(grad, node, x):
    for axis, size in enumerate(x.shape):
        if size == 1:
            grad = grad.sum(axis, keepdim=True)
    return (grad,)
