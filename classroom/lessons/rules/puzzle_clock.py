"""On a clock, 12 hours later is the same time. CMOD is the remainder as C computes it.
Hint: C's remainder has the sign of its left side: -1 CMOD 3 is -1. When do x + c and x have
different signs?
Hint: `Variable("i", -1, 5)` includes a negative number. `u.alu(Ops.CMOD, v)` builds the node, and a
constant is `i.const_like(3)`.
Because: -1 + 3 is 2, whose remainder is 2, and C's remainder of -1 is -1. With Python's remainder
the row would be right.
"""

from classroom.puzzlebook.games.mutants import Mutant, c, i
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.uop import Ops

wrong = PatternMatcher([
    (UPat(Ops.CMOD, src=(i + c, c)), lambda x, c: x.alu(Ops.CMOD, c)),
])  # fmt: skip

puzzle = Mutant(wrong, par=4, best=4)
