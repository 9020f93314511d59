"""A row for each label, with 1 in the label's column and 0 in the other `n - 1`.
Hint: In row i, which column has to be 1?
Hint: Compare a column of labels with the row `Tensor.arange(n)`.
Because: The identity matrix asks `i == j`; this one asks `labels[i] == j`.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, ints, labels_and_count


def one_hot(labels: np.ndarray, n: int) -> np.ndarray:
    return np.eye(n, dtype=np.int32)[labels]


puzzle = OneLiner(
    "one_hot(labels, n)", (ints(2, 0, 1), 4), one_hot, labels_and_count, par=6, best=6
)

# %% wrong, each line
lambda labels, n: labels == Tensor.arange(n)[:, None]  # says swapped

# %% right, each line
lambda labels, n: labels[..., None] == Tensor.arange(n)  # …
