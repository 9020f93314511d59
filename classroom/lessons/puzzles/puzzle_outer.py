"""Every product of an element of `a` and an element of `b`: a table with a row for each element of
`a`.
Hint: What happens when a column meets a row?
Hint: `a[:, None]` is a column, and so is `a.reshape(-1, 1)`. Multiply it by `b`.
Because: The column is stretched to the right and the row downwards; then one multiplication does
the rest.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import Inputs, OneLiner, ints, numbers, size


def two_vectors(rng: np.random.Generator) -> Inputs:
    return numbers(rng, size(rng)), numbers(rng, size(rng))


puzzle = OneLiner(
    "outer(a, b)", (ints(1, 2, 3), ints(10, 20)), np.outer, two_vectors, par=5, best=5
)

# %% wrong, each line
lambda a, b: b[:, None] * a  # says swapped
lambda a, b: a[:, None] + b  # says Element
lambda a, b: a.unsqueeze(1) * b  # not among the tools

# %% right, each line
lambda a, b: (a[None] * b[:, None]).T  # transposed twice
