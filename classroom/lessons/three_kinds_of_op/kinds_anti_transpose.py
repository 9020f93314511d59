"""Reflected across the other diagonal, without a kernel

Hint: On paper: where does the number in the bottom right corner go? And the one in the top right
corner?
Hint: A transpose swaps the top right corner with the bottom left one. You want it to swap the
other two. What do you have to do to the matrix first?
Because: Reversing both axes is half a turn: each number lands opposite its old place. The
transpose then reflects the result across the main diagonal. Half a turn and a reflection across
one diagonal make a reflection across the other.
Right: You rearranged a whole matrix without moving a single number.
"""

from classroom.ask import moves


def check(answer) -> None:
    """answer(a): a reflected across its other diagonal, without a kernel."""
    moves(answer, lambda a: a[::-1, ::-1].T, "a")

# %% wrong, each line
lambda a: a.T  # says reversed along every axis

# %% wrong: says copies of the numbers
from tinyframe import Tensor
lambda a: Tensor(a.numpy().T[::-1, ::-1].copy())

# %% right, each line
lambda a: a[::-1, ::-1].T
