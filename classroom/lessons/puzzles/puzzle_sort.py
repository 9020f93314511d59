"""The elements in ascending order. No two are equal.
Hint: If you knew for each element how many are smaller, you would know where it goes.
Hint: The rank is `(a[:, None] > a).sum(axis=1)`. Then ask `rank == i` for every place i: that is a
matrix that picks.
Because: Counting the smaller ones gives each element its place, and a one-hot matrix puts it there.
It does n² comparisons, all of them at once.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, different, ints, size

puzzle = OneLiner(
    "sort(a)",
    (ints(20, 40, 30, 10),),
    lambda a: np.sort(a),
    lambda rng: (different(rng, size(rng)),),
    par=18,
    best=14,
)

# %% wrong, each line
lambda a: a.sort()[0]  # says `sort` is not one of the tools
lambda a: Tensor(sorted(a.tolist()))  # Python sorts

# %% right, each line
lambda a: (((rows := a.expand(len(a), len(a))).T > rows).sum(axis=1, keepdim=True) == Tensor.arange(len(a))).where(rows.T, 0).sum(axis=0)  # says and we know no better way
