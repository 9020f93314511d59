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

# %% right
@gradient_rule(Ops.RECIP)
def recip_gradient(grad, node, x):
    return (grad / (x * x) * -1,)
