# %% wrong: on a tie, x gets all of it
@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    first = x < y
    return grad * (1 - first), grad * first

# %% wrong: says nobody gets anything
@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    return grad * (y < x), grad * (x < y)

# %% wrong: says should be 10
@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    tie = x.eq(y) * 0.5
    return grad * ((y < x) + tie), grad - grad * ((y < x) + tie).sum() / 3

# %% right: whoever is the maximum shares; for a NaN nobody is, and 0 / 0 is NaN there only
@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    a, b = x.eq(node), y.eq(node)
    return grad * a / (a + b), grad * b / (a + b)

# %% right
@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    first = (y < x).where(1, (x < y).where(0, 0.5))
    return grad * first, grad * (1 - first)
