"""Whatever is divided by itself is 1.
Hint: Which float, divided by itself, isn't 1?
Hint: `x = number("x")` can be any float at all, so you needn't even say which.
Because: 0 / 0 and infinity / infinity are NaN. A single variable is enough, since both sources of
the division are the same node.
"""

from classroom.puzzlebook.games.mutants import Mutant, x
from tinyframe.rewrite import PatternMatcher

wrong = PatternMatcher([
    (x / x, lambda x: x.const_like(1)),
])  # fmt: skip

puzzle = Mutant(wrong, par=2, best=2)

# %% wrong: its row is for /
from classroom import puzzle

itself = Variable("i", 0, 3) // Variable("i", 0, 3)
