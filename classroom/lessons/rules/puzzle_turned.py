"""A constant looks better on the right of a `<`, so turn the comparison round, and swap what is
chosen.
Hint: What does each side take if x is neither above c nor below it?
Hint: `i > 2` builds the node `2 < i`, and `(i > 2).where(7, 5)` chooses. Can one of the two be a
node that's there already?
Because: When x is c, the right answer is b, and the row takes a. The opposite of `c < x` is `x <=
c`. One of a and b may be the Variable itself, which saves a leaf.
"""

from classroom.puzzlebook.games.mutants import Mutant, PatternMatcher, a, b, c, i

wrong = PatternMatcher([
    ((c < i).where(a, b), lambda x, c, a, b: (x < c).where(b, a)),
])  # fmt: skip

puzzle = Mutant(wrong, par=6, best=5)

# %% shared
i = Variable("i", -2, 6)

# %% wrong, each line
(i > 2).where(i, 2)  # says fired, and

# %% right, each line
(i > 2).where(i, 5)  # says and we know no better way
