"""Hint: Make x bigger by a tiny bit. By how much does x * y change? And what does `grad` do here?
Hint: x * y changes by y times that bit. `grad` says how much the loss cares about that change, so
it is multiplied on. Then the same with the parts exchanged.
Because: The derivative of x * y with respect to x is y, and the other way round; the chain rule
multiplies each by `grad`.
"""

# %% wrong: says `grad` is missing
@gradient_rule(Ops.MUL)
def mul_gradient(grad, node, x, y):
    return y, x

# %% right: a list, factors swapped
@gradient_rule(Ops.MUL)
def mul_gradient(grad, node, x, y):
    return [y * grad, x * grad]
