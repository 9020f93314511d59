"""Hint: Only the larger one had any say in the result. How do you write "1 where x is larger and 0
elsewhere" with `<`? What is that at a tie?
Hint: (y < x) is such a mask. Where the two are equal, both masks are 0, and nobody would get
anything. x.eq(y) is a mask too, and half of it for each makes the sum right.
Because: The two masks and the tie add up to 1 everywhere, so what comes in goes out, whoever is
larger.
"""

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
