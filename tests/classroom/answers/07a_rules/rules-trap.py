# %% shared
from tinyframe import Variable
from tinyframe.rewrite import PatternMatcher, UPat
x, y, z, v = (UPat.var(name) for name in "xyzv")
m, n = Variable("m", 0, 9), Variable("n", 0, 5)
DOUBLE = (x + x, lambda x: x * 2)
HALVE = (x * 2, lambda x: x + x)

# %% wrong, each line
(DOUBLE, HALVE, m * 3)  # says Neither row fired
((x + 1, lambda x: x * 2), (x * 2, lambda x: x + 1), m + 1)  # says That's a lie
(DOUBLE, HALVE)  # says has to be three things
(DOUBLE, HALVE, m + m, n + n)  # says a row, another one, and an expression
(DOUBLE, m + m)  # says You gave 1

# %% wrong: says never ends even by itself
TURN = (x + y, lambda x, y: y + x)
(TURN, DOUBLE, m + n)

# %% wrong: since patterns are met either way, each of the two goes on for ever alone
def trap(i, j):
    z = UPat.var("z")
    left = ((x + y) + z, lambda x, y, z: x + (y + z))
    right = (x + (y + z), lambda x, y, z: (x + y) + z)
    return left, right, i + j + 3

# %% right, each line
(DOUBLE, HALVE, m + m)

# %% right: a subtraction is an addition is a subtraction
def trap(i, j):
    minus = UPat(Ops.SUB, src=(x, y))
    apart = (minus, lambda x, y: x + y * -1)
    together = (x + y * -1, lambda x, y: x.alu(Ops.SUB, y))
    return apart, together, i.alu(Ops.SUB, j)
