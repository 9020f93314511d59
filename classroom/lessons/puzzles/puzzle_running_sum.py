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
lambda a: a.cumsum(0)  # says `cumsum` is not one of the tools
lambda a: getattr(a, "cum" + "sum")(0)  # says `getattr` is not
lambda a: Tensor([a[: k + 1].sum().item() for k in range(len(a))])  # says is not one
Tensor.cumsum  # says a function of your own

# %% right, each line
lambda a: a.pad(((len(a) - 1, 0),)).expand(2 * len(a), 2 * len(a) - 1).reshape(2 * len(a) - 1, 2 * len(a))[: len(a), : len(a)].sum(axis=1)  # says and we know no better way
