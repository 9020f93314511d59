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
