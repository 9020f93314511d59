"""x isn't below y? Then y is at most x.
Hint: For whole numbers that's true. Which float doesn't play along?
Hint: NaN is neither below nor above anything. Is it at most itself?
Because: NaN < NaN is False, so `not` of it is True; and NaN <= NaN is False. One variable is
enough, since NaN isn't even equal to itself.
"""

from classroom.puzzlebook.games.mutants import Mutant, Ops, PatternMatcher, f, y

wrong = PatternMatcher([
    ((f < y).ne(True), lambda x, y: y.alu(Ops.CMPLE, x)),
])  # fmt: skip

puzzle = Mutant(wrong, par=5, best=4)

# %% shared
x, y = number("x"), number("y")

# %% wrong, each line
x < y  # says never fired

# %% right, each line
x >= y  # the other way round
