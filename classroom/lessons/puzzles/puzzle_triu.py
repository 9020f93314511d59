"""The upper triangle: 1 where the column's number is at least the row's, 0 elsewhere.
Hint: This is `eye` with a different question about i and j.
Hint: `Tensor.arange(n)` is a row, and `[:, None]` makes a column of it. Is `column > row` almost
what you want?
Because: `<=` is recorded as *not greater*: one comparison, and one more node that turns it around.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, a_size

puzzle = OneLiner("triu(n)", (4,), lambda n: np.triu(np.ones((n, n))), a_size, par=7, best=5)

# %% wrong, each line
lambda n: Tensor.arange(n)[:, None] >= Tensor.arange(n)  # says transposed
lambda n: Tensor.ones(n, n).triu()  # `triu` is no tool

# %% right, each line
lambda n: 1 - (Tensor.arange(n)[:, None] > Tensor.arange(n))  # one minus what is below
