"""If x * c is below d, then x is below d / c, rounded up.
Hint: You did this at school, with x on one side of a `<`. There was a warning. Which?
Hint: If you divide by a negative number, `<` turns round. Is there a constant that can serve as c
and as d?
Because: Dividing by a negative number turns `<` into `>`, and the row doesn't look at the sign of
c. With c = d = -1, the two constants are one node.
"""

from classroom.puzzlebook.games.mutants import Mutant, PatternMatcher, c, d, i

wrong = PatternMatcher([
    (i * c < d, lambda x, c, d: x < -(-d.arg // c.arg) if c.arg else None),
])  # fmt: skip

puzzle = Mutant(wrong, par=5, best=4)

# %% shared
i = Variable("i", -2, 6)

# %% wrong, each line
i * 2 < 3  # says fired, and
i * 0 < 3  # says never fired

# %% right, each line
i * -1 < -1  # says and we know no better way
