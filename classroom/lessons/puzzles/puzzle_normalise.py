"""Each row divided by its sum.
Hint: Which shape must the sums have, so that each meets its own row?
Hint: `x.sum(axis=1, keepdim=True)` is a column.
Because: `keepdim` leaves a column, and a column is what meets rows. Without it, a square x gives
wrong numbers and no error.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, floats, size

puzzle = OneLiner(
    "normalise(x)",
    (floats([1, 1, 2], [3, 0, 1]),),
    lambda x: x / x.sum(axis=1, keepdims=True),
    lambda rng: (rng.integers(1, 9, (size(rng), size(rng))).astype(np.float32),),
    par=3,
    best=3,
)

# %% wrong, each line
lambda x: x / x.sum()  # says factor of 2
lambda x: x / x.sum(dim=1)  # the trap of part 3a

# %% right, each line
lambda x: x / x.sum(-1)[:, None]  # without keepdim
