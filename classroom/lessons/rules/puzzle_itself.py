"""Whatever is divided by itself is 1.
Hint: Which float, divided by itself, isn't 1?
Hint: `x = number("x")` can be any float at all, so you needn't even say which.
Because: 0 / 0 and infinity / infinity are NaN. A single variable is enough, since both sources of
the division are the same node.
"""

from classroom.puzzlebook.games.mutants import Mutant, PatternMatcher, x

wrong = PatternMatcher([
    (x / x, lambda x: x.const_like(1)),
])  # fmt: skip

puzzle = Mutant(wrong, par=2, best=2)

# %% shared
x, y = number("x"), number("y")
i = Variable("i", -2, 6)

# %% wrong, each line
x / 2.0  # says never fired
Tensor([1.0]) / 2  # says A Tensor has buffers
1.0  # says Python has computed that already
True  # says Python has computed that already
"x / x"  # says has to be an expression
UOp.range(4, 0) % 4  # says There's a RANGE in it
sum((i * k for k in range(2, 150)), i)  # says It can be done in a handful

# %% right, each line
x / x  # says and we know no better way

# %% asked again, each line
lambda: ...  # a function that isn't written

# %% wrong: its row is for /
from classroom import puzzle

itself = Variable("i", 0, 3) // Variable("i", 0, 3)
