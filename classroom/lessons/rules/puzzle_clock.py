"""On a clock, 12 hours later is the same time. CMOD is the remainder as C computes it.
Hint: C's remainder has the sign of its left side: -1 CMOD 3 is -1. When do x + c and x have
different signs?
Hint: `Variable("i", -1, 5)` includes a negative number. `u.alu(Ops.CMOD, v)` builds the node, and a
constant is `i.const_like(3)`.
Because: -1 + 3 is 2, whose remainder is 2, and C's remainder of -1 is -1. With Python's remainder
the row would be right.
"""

from classroom.puzzlebook.games.mutants import Mutant, Ops, PatternMatcher, UPat, c, i

wrong = PatternMatcher([
    (UPat(Ops.CMOD, src=(i + c, c)), lambda x, c: x.alu(Ops.CMOD, c)),
])  # fmt: skip

puzzle = Mutant(wrong, par=4, best=4)

# %% shared
i, three = Variable("i", -2, 6), UOp.const(dtypes.int, 3)

# %% wrong, each line
(Variable("i", 0, 9) + 3).alu(Ops.CMOD, three)  # says fired, and
(i + 3) % 3  # says never fired

# %% right, each line
(i + 3).alu(Ops.CMOD, three)  # says and we know no better way
