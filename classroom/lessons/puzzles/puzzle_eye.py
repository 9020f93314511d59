"""The identity matrix of shape `(n, n)`: 1 where row and column have the same number, 0 elsewhere.
Hint: An element knows its row and its column. Which question do you ask about them?
Hint: `Tensor.arange(n)[:, None]` is a column and `Tensor.arange(n)` a row. Which comparison?
Because: A matrix is a rule for row i and column j, and here the rule is `i == j`. True and False
count as 1 and 0.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, a_size

puzzle = OneLiner("eye(n)", (3,), lambda n: np.eye(n), a_size, par=6, best=4)

# %% wrong, each line
lambda n: Tensor.eye(n)  # that is the tool one is to make
Tensor.eye  # not even a function of one's own

# %% right, each line
lambda n: Tensor.arange(n) == Tensor.arange(n).reshape(n, 1)  # turned
