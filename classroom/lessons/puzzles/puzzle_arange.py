"""The numbers 0, 1, 2, … below `n`, without `arange`. `cumsum`, the running sum, is allowed.
Hint: What is the running sum of 1, 1, 1, …?
Hint: It begins with 1. What do you have to subtract?
Because: Counting is adding up ones. (tinyframe has a node for it, IOTA, since it is needed so
often.)
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, a_size

puzzle = OneLiner(
    "arange(n)",
    (5,),
    lambda n: np.arange(n),
    a_size,
    par=2,
    best=2,
    without=("arange",),
    also=("cumsum",),
)

# %% wrong, each line
lambda n: Tensor.ones(n).cumsum(0)  # says 1 too large
lambda n: Tensor.arange(n)  # says not one of the tools
lambda n: Tensor(list(range(n)))  # Python's list, not tensors

# %% right, each line
lambda n: Tensor.ones(n).cumsum(dim=0) - 1  # dim
