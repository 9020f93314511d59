"""`a` filled up with zeros at the end, to length `n`, without `pad`.
Hint: Which matrix turns 3 numbers into 5, and leaves the first three as they are?
Hint: A table that asks `i == j`, with `n` rows and a column for each element of `a`. Then `@ a`.
Because: A row without a 1 picks nothing, and that is 0. tinyframe's own PAD is cheaper: it is a
condition on an index, as part 5 shows.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, ints, numbers, size


def padded(a: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([a, np.zeros(n - len(a), a.dtype)])


puzzle = OneLiner(
    "pad(a, n)",
    (ints(1, 2, 3), 5),
    padded,
    lambda rng: ((a := numbers(rng, size(rng))), len(a) + size(rng, 0, 4)),
    par=13,
    best=7,
    without=("pad",),
)

# %% wrong, each line
lambda a, n: a.pad(((0, n - len(a)),))  # says `pad` is not one of the tools
lambda a, n: (Tensor.arange(n) < len(a)).where(a.expand(n), 0)  # expand stretches an axis of size 1 only, so this raises

# %% right, each line
lambda a, n: (Tensor.arange(n) < len(a)).where(a.expand(n, len(a)).reshape(-1)[:n], 0)  # says and we know no better way
