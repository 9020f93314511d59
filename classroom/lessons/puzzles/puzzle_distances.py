"""The squared distance of every point of `a` from every point of `b`; a point is a row.
Hint: You need three axes: points of `a`, points of `b`, coordinates. Which is summed?
Hint: `a[:, None]` has shape (m, 1, k), and meets `b`, of shape (n, k).
Because: Two tables with one axis in common meet in three dimensions, and the sum takes the common
axis away.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, ints, numbers, size


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([[((p - q) ** 2).sum() for q in b] for p in a])


puzzle = OneLiner(
    "distances(a, b)",
    (ints([0, 0], [3, 4]), ints([0, 1], [3, 0], [6, 8])),
    distances,
    lambda rng: (
        numbers(rng, size(rng, 2, 4), k := size(rng, 1, 3)),
        numbers(rng, size(rng, 2, 4), k),
    ),
    par=9,
    best=9,
)

# %% wrong, each line
lambda a, b: (a[:, None] - b).sum(axis=2)  # says Element

# %% right, each line
lambda a, b: ((a[:, None] - b) ** 2).sum(axis=2)  # says and we know no better way
