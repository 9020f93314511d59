"""An int that becomes a float and then an int again is what it was.
Hint: A float32 has 32 bits, like the int. What does it use some of them for?
Hint: A float32 has 24 bits for digits. Which is the first whole number that needs 25, and isn't
even? Give your Variable bounds that include it.
Because: Above 2**24, not every int is a float32: 16,777,217 becomes 16,777,216. A Variable with
bounds up there shows it.
"""

from classroom.puzzlebook.games.mutants import Mutant, PatternMatcher, dtypes, i

wrong = PatternMatcher([
    (i.cast(dtypes.float).cast(dtypes.int), lambda x: x),
])  # fmt: skip

puzzle = Mutant(wrong, par=3, best=3)

# %% wrong, each line
Variable("i", 0, 2**24).cast(dtypes.float).cast(dtypes.int)  # says fired, and
number("x").cast(dtypes.int).cast(dtypes.float)  # says never fired

# %% right, each line
Variable("i", 0, 2**25).cast(dtypes.float).cast(dtypes.int)  # says and we know no better way
