"""For each element, how many of `edges` are at or below it. `edges` is in order.
Hint: Compare every element with every edge.
Hint: A column of `a` meets the row of edges. What does each row of that table tell you?
Because: No loop and no search: all comparisons at once, and their number is the bucket.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, different, ints, numbers, size

puzzle = OneLiner(
    "bucket(a, edges)",
    (ints(1, 5, 12, 20), ints(5, 10, 15)),
    lambda a, edges: np.searchsorted(edges, a, side="right"),
    lambda rng: (numbers(rng, size(rng)), np.sort(different(rng, size(rng, 2, 4)))),
    par=9,
    best=8,
)

# %% wrong, each line
lambda a, edges: (a[:, None] < edges).sum(axis=1)  # says reversed

# %% right, each line
lambda a, edges: (edges <= a[:, None]).sum(1)  # turned round
