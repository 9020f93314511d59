"""A remainder changes nothing if the number is small enough, and not negative.
Hint: How small is small enough? Try it with the largest number that the row lets through.
Hint: `vmax <= c.arg` lets c itself through, and c % c is 0. To save a node: does the left side have
to be a Variable?
Because: `<=` should be `<`. A Variable up to 5 shows that in three nodes. The constant 5 has
bounds, too, both of them 5: `5 % 5` is two nodes, because both sources are the same constant.
"""

from classroom.puzzlebook.games.mutants import Mutant, PatternMatcher, c, i

wrong = PatternMatcher([
    (i % c, lambda x, c: x if 0 <= x.vmin and x.vmax <= c.arg else None),
])  # fmt: skip

puzzle = Mutant(wrong, par=3, best=2)

# %% wrong, each line
Variable("i", 0, 4) % 5  # says The rule fired
Variable("i", -1, 4) % 5  # says never fired

# %% right, each line
UOp.variable("n", 3, 3) % 3  # a Variable of one value
