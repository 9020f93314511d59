"""How often each of the numbers 0, 1, … below `n` occurs in `labels`.
Hint: You had a table with a row for each label. What is in its columns?
Hint: Those are the columns of `one_hot`. Along which axis do you add up?
Because: Each label puts a 1 in its column, so the sum of a column counts.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, ints, labels_and_count

puzzle = OneLiner(
    "histogram(labels, n)",
    (ints(1, 3, 1, 0, 1), 4),
    lambda labels, n: np.bincount(labels, minlength=n),
    labels_and_count,
    par=9,
    best=9,
)

# %% wrong, each line
lambda labels, n: labels[:, None] == Tensor.arange(n)  # says 2 axes

# %% right, each line
lambda labels, n: (Tensor.arange(n)[:, None] == labels).sum(axis=1)  # the table the other way round
