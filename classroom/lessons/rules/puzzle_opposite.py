"""x isn't below y? Then y is at most x.
Hint: For whole numbers that's true. Which float doesn't play along?
Hint: NaN is neither below nor above anything. Is it at most itself?
Because: NaN < NaN is False, so `not` of it is True; and NaN <= NaN is False. One variable is
enough, since NaN isn't even equal to itself.
"""

from classroom.puzzlebook.games.mutants import Mutant, f, y
from tinyframe.rewrite import PatternMatcher
from tinyframe.uop import Ops

wrong = PatternMatcher([
    ((f < y).ne(True), lambda x, y: y.alu(Ops.CMPLE, x)),
])  # fmt: skip

puzzle = Mutant(wrong, par=5, best=4)

# %% right, each line
(number('x') < number('x')).logical_not()  # a NaN compared with itself
