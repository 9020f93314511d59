"""Dividing by c, and then by d, is dividing by c * d.
Hint: `//` rounds down, also below zero. What happens to the rounding if d is negative?
Hint: Try -2 for both, and a few values of i. Two equal constants are one node.
Because: Each `//` rounds down. Divide by a negative number after that, and down has become up. -1
// -2 // -2 is 0 // -2, which is 0; -1 // 4 is -1.
"""

from classroom.puzzlebook.games.mutants import Mutant, PatternMatcher, c, d, i

wrong = PatternMatcher([
    (i // c // d, lambda x, c, d: x // (c.arg * d.arg)),
])  # fmt: skip

puzzle = Mutant(wrong, par=5, best=4)

# %% shared
i, minus_one = Variable("i", -2, 6), UOp.const(dtypes.int, -1)

# %% wrong, each line
i // 2 // 2  # says fired, and
minus_one // -2 // -2  # says never fired: `(-1//-2)//-2` does match the row, but

# %% right, each line
i // -2 // -2  # says and we know no better way
