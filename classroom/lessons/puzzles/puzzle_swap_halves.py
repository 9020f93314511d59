"""The second half first, then the first half. The length is even.
Hint: Two halves are two rows.
Hint: `reshape(2, -1)`, exchange the rows, and `reshape(-1)`.
Because: An axis can be split wherever it helps; after that, exchanging halves is a flip.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, ints, numbers, size


def swapped(a: np.ndarray) -> np.ndarray:
    return np.roll(a, len(a) // 2)


puzzle = OneLiner(
    "swap_halves(a)",
    (ints(1, 2, 3, 4, 5, 6),),
    swapped,
    lambda rng: (numbers(rng, 2 * size(rng, 1, 4)),),
    par=3,
    best=3,
)

# %% wrong, each line
lambda a: a.roll(len(a) // 2)  # `roll` is no tool

# %% right, each line
lambda a: a.reshape(2, -1).flip(0).reshape(-1)  # says and we know no better way
