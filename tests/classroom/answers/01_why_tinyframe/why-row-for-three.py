# %% wrong, each line
lambda v: (v + v + v, lambda v: v * 3)  # says does not match
lambda v: (v * 2 + v, lambda v: v * 2 + v + 0)  # says never ends
lambda v: v * 2 + v  # says a tuple of two
lambda v: (v * 2 + v, lambda: v * 3)  # says by these names: `lambda v: …`
lambda v: (v * 2 + v, v * 3)  # says be a function
(UPat.var('v') * 2 + UPat.var('v'), lambda v: v * 3)  # a row, where a function was asked for
lambda v: (v * 2 + v, lambda x: x * 3)  # the function has to take v
lambda v: (v * 2 + v, lambda v: v + v + v)  # round and round

# %% wrong: says write it with `v`
from tinyframe import Tensor, Variable
lambda v: (Variable("i", 0, 7) * 3, lambda v: v * 3)

# %% right, each line
lambda v: (v + v * 2, lambda v: v * 3)
lambda v: (v * UPat.cvar('c') + v, lambda v, c: v * (c.arg + 1))  # a rule for i + i + … as long as you like
