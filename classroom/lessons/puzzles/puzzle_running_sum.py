"""The sum of all elements up to and including each one, without `cumsum`.
Hint: Which elements does result i add up? Write a table of 0 and 1 that says so.
Hint: In row i of the table there is a 1 in every column up to i. Ask that question, then use `@`.
Because: Row i of the triangle picks the elements up to i, and the product adds them up.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, a_vector, ints

puzzle = OneLiner(
    "running_sum(a)", (ints(1, 2, 3, 4),), lambda a: np.cumsum(a), a_vector, par=13, best=8
)

# %% wrong, each line
lambda a: a.cumsum(0)  # without cumsum

# %% right: a mask and a sum for the product
def running_sum(a):
    n = len(a)
    return (a * (Tensor.arange(n)[:, None] >= Tensor.arange(n))).sum(axis=1)
