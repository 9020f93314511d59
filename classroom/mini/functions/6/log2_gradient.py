"""Hint: The derivative of the natural logarithm is 1/x. By what factor is the logarithm to base 2
larger?
Hint: log2(x) is ln(x) / ln(2). The natural logarithm of 2 is in `math`.
Because: d/dx log2(x) = 1 / (x ln 2).
"""

# %% wrong: forgets grad, which is 1 in both examples
@gradient_rule(Ops.LOG2)
def log2_gradient(grad, node, x):
    return (1 / (x * math.log(2)),)

# %% wrong: says the derivative of the natural logarithm
@gradient_rule(Ops.LOG2)
def log2_gradient(grad, node, x):
    return (grad / x,)

# %% right
@gradient_rule(Ops.LOG2)
def log2_gradient(grad, node, x):
    return (grad * (math.log2(math.e) / x),)
