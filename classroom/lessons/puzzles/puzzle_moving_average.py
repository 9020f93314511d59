"""The mean of every three neighbours: two elements fewer.
Hint: `diff` had two slices. This has three.
Hint: `a[:-2]`, `a[1:-1]` and `a[2:]` have the same shape: add them up.
Because: Three views of the same memory, each one step further. In two dimensions this is a blur.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, floats, numbers, size

puzzle = OneLiner(
    "moving_average(a)",
    (floats(1, 2, 6, 4, 2),),
    lambda a: (a[:-2] + a[1:-1] + a[2:]) / 3,
    lambda rng: (numbers(rng, size(rng, 4, 9)).astype(np.float32),),
    par=6,
    best=6,
)

# %% wrong, each line
lambda a: a[:-2] + a[1:-1] + a[2:]  # says factor of 3
lambda a: (a[:-1] + a[1:]) / 2  # says axis 0
lambda a: a.unfold(0, 3, 1).mean(-1)  # unfold is no tool

# %% right, each line
lambda a: (a[2:] + a[1:-1] + a[:-2]) * (1 / 3)  # times a third
