"""If c is below d, then max(x, c) is below d whenever x is.
Hint: When c isn't below d, max(x, c) < d can't be true. Which case did the row forget?
Hint: c and d may be the same number, and then they're also the same node.
Because: `<=` should be `<`. With c = d, `max(x, c) < c` is never true, and `x < c` may be. The two
constants are one node.
"""

from classroom.puzzlebook.games.mutants import Mutant, Ops, PatternMatcher, c, d, i

wrong = PatternMatcher([
    (i.alu(Ops.MAX, c) < d, lambda x, c, d: x < d if c.arg <= d.arg else None),
])  # fmt: skip

puzzle = Mutant(wrong, par=4, best=4)

# %% shared
i = Variable("i", -2, 6)

# %% wrong, each line
i.maximum(2) < 3  # says fired, and

# %% right, each line
i.maximum(2) < 2  # says and we know no better way
