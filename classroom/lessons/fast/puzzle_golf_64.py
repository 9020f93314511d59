"""Hint: All of it fits into the nearest cache. What is left to save, but loads?
Hint: A vector along axis 1, and then only rows: how many of them fit into the registers?
Because: Small matrices never leave the cache, so neither order nor panels matter. All that counts
is loads for each multiplication, and a tile takes care of those.
"""

from classroom.puzzlebook.games.golf import Hole

puzzle = Hole(64, best=2)

# %% wrong, each line
[Opt(OptOps.VECTOR, 3, 8)]  # says Opt(OptOps.VECTOR, 3, 8): there is no axis 3
[Opt(OptOps.VECTOR, 1, 12)]  # says vectors have 2, 4, 8, 16, 32 or 64 lanes, not 12.
[vector, Opt(OptOps.UPCAST, 2, 4)]  # says axis 2 is a reduce's: UNROLL it
[vector, "UPCAST"]  # says Everything in the list has to be an Opt.
5  # says has to be a list of Opts
