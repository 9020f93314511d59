"""For 64 × 64 times 64 × 64, `[Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 4)]` keeps a tile of
sums in registers. Change one number, so that they need twice the registers.
Hint: How many rows of sums does UPCAST make, and how wide is each?
Hint: The tile is 4 rows of 8. Either 4 or 8 can be doubled.
Because: The sums are a tile, rows times lanes. Doubling either doubles the registers.
"""

from classroom.puzzlebook.games.hunt import Question, changes

puzzle = Question(changes.twice_the_registers)

# %% wrong, each line
[Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 2)]  # says not twice as much
[Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.UPCAST, 0, 8)]  # says You changed 2 numbers
[Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 4), Opt(OptOps.UPCAST, 1, 2)]  # says Keep these two Opts
[Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 1000)]  # more than there is
8  # says has to be a list of Opts
[Opt(OptOps.UPCAST, 0, 8), Opt(OptOps.VECTOR, 1, 8)]  # the order is different, too

# %% right, each line
[Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.UPCAST, 0, 4)]  # wider vectors
(Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 8))  # a tuple

# %% asked again, each line
[Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 4)]  # as it was

# %% right: a copy with one number changed
import dataclasses
opts = [Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 4)]
opts = [opts[0], dataclasses.replace(opts[1], arg=8)]
