# %% wrong: says The factor of a half is missing
@gradient_rule(Ops.SQRT)
def sqrt_gradient(grad, node, x):
    return (grad / node,)

# %% right: the root of 1 / x
@gradient_rule(Ops.SQRT)
def sqrt_gradient(grad, node, x):
    return (grad * 0.5 * x.recip().sqrt(),)

# %% right
@gradient_rule(Ops.SQRT)
def sqrt_gradient(grad, node, x):
    return (grad * 0.5 / x.sqrt(),)
