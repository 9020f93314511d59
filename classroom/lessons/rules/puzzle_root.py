"""The root of a square is the number without its sign. (Look how careful its author was: 0 - x
turns -0.0 into 0.0, and a NaN stays one.)
Hint: The sign is handled. What else can happen to a number on its way through a square?
Hint: What's 1e30 squared, if the largest float is 3.4e38?
Because: The square overflows, so the honest answer is infinity. (For tiny numbers it's 0.) Your
algebra is about numbers, and the compiler's has to be about floats.
"""

from classroom.puzzlebook.games.mutants import Mutant, PatternMatcher, f

wrong = PatternMatcher([
    ((f * f).sqrt(), lambda x: (0 < x).where(x, 0 - x)),
])  # fmt: skip

puzzle = Mutant(wrong, par=3, best=3)

# %% shared
x, y = number("x"), number("y")

# %% wrong, each line
x.sqrt()  # says never fired

# %% right, each line
(x * x).sqrt()  # says and we know no better way
