"""Hint: Softmax is exp(x) divided by the sum of all exp(x). What is the logarithm of a quotient? And
why do you get `inf` for 1000?
Hint: Shifting a whole row by a number changes nothing about its softmax, so shift it by the
largest element: the biggest exponent is 0 then. `max` and `sum` take keepdim=True, which makes
the shapes fit. And the shift has no gradient: x.detach().
Because: log(exp(x) / s) = x - log(s), so no quotient is ever computed. With the largest element
subtracted, every exp is at most 1 and their sum at least 1: nothing overflows, and no logarithm
of 0.
"""

# %% wrong: the largest of everything: in a row far below it, all exponentials are 0
@method
def log_softmax(x):
    x = x - x.max()
    return x - x.exp().sum(-1, keepdim=True).log()

# %% wrong: says An exponential overflows
@method
def log_softmax(x):
    return x - x.exp().sum(-1, keepdim=True).log()

# %% wrong: says Each row is a softmax of its own
@method
def log_softmax(x):
    return x - x.exp().sum().log()

# %% right: as everybody writes it
@method
def log_softmax(x):
    x = x - x.max(-1, keepdim=True)
    return x - x.exp().sum(-1, keepdim=True).log()

# %% right
@method
def log_softmax(x):
    x = x - x.max(len(x.shape) - 1, keepdim=True)
    total = x.exp().sum(-1, keepdim=True)
    return x - total.alu(Ops.LOG2) * math.log(2)
