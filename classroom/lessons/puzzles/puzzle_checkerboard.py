"""A board of shape `(n, n)` with 0 in the top left corner, where 0 and 1 alternate along every row
and column.
Hint: Row number plus column number: how does it change with one step down or to the right?
Hint: Add a column of `Tensor.arange(n)` to a row of it. What does `% 2` make of that?
Because: One step changes i + j by 1, so it goes from even to odd and back.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, a_size

puzzle = OneLiner(
    "checkerboard(n)", (4,), lambda n: np.indices((n, n)).sum(0) % 2, a_size, par=7, best=4
)

# %% wrong, each line
lambda n: (Tensor.arange(n)[:, None] + Tensor.arange(n) + 1) % 2  # says reversed

# %% right, each line
lambda n: (Tensor.arange(n)[:, None] ^ Tensor.arange(n)) & 1  # bits
