"""Kernels of a chain of movements

Hint: Which of these methods computes a new number?
Hint: If only the places change, what is left for a kernel to do?
Because: None of the six steps computes anything, so there is nothing to run. Each one adds its
rule to the index that the next kernel reads with. The multiplication does compute something, so
it gets one kernel, and all six steps are in its index. (Grey cells in the picture can't be
reached any more.)
"""

from classroom.ask import (
    kernels,
    predicts,
)
from classroom.lessons.three_kinds_of_op.shared import numbered_grid


def kernels_of_a_view() -> tuple[int, ...]:
    grid = numbered_grid()
    moved = grid.T.flip(0).reshape(2, 12)[:, 2:10].reshape(2, 1, 8).expand(2, 3, 8)
    return kernels(moved), kernels(moved * 2)


check = predicts(kernels_of_a_view)

# %% guesses
((0, 1), (6, 7), (1, 1), (1, 2))

# %% asked again, each line
(False, True)  # truths for counts

# %% right, each line
'0, 1'  # text
