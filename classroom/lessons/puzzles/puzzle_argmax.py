"""The index of the largest element, as a Tensor of shape `()`. No two elements are equal.
Hint: `a == a.max()` is True in one place. How do you get the number of that place?
Hint: Multiplied by `Tensor.arange(len(a))`, every other place is 0. How do you make one number of
that?
Because: A mask with a single True, times the indices, leaves one index; the sum brings it out.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, different, ints, size

puzzle = OneLiner(
    "argmax(a)",
    (ints(3, 9, 4, 1),),
    lambda a: np.array(a.argmax()),
    lambda rng: (different(rng, size(rng)),),
    par=10,
    best=6,
)

# %% wrong, each line
lambda a: a.max()  # says 9
lambda a: a == a.max()  # says axis

# %% right, each line
lambda a: (a == a.max()).where(Tensor.arange(len(a)), 0).sum()  # where
