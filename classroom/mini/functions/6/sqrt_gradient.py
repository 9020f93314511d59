"""Hint: The root of x is x to the power of one half. What does the rule for powers say? And where in
it does the root itself come back?
Hint: The derivative is one over twice the root, and `node` is the root.
Because: d/dx sqrt(x) = 1 / (2 sqrt(x)). At 0 that is infinite: the curve is vertical there.
"""

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
