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
