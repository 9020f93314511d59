"""A quarter turn

Hint: Where does the first row go? It becomes the last column.
Hint: `x.T` turns rows into columns. Which of the two axes do you have to reverse after that?
`flip` does it.
Because: The transpose makes the first row the first column. Reversing the columns puts it last,
and that is a clockwise turn. Two movements, and no kernel.
Right: A rotated picture, and no pixel was moved: only the rule for what is at (i, j) is new.
"""

import numpy as np

from classroom.ask import moves


def check(answer) -> None:
    """answer(x): turned by 90 degrees clockwise, without a kernel."""
    moves(answer, lambda x: np.rot90(x, -1), "x")

# %% wrong, each line
lambda x: x.T  # says reversed along axis 1
lambda x: x.flip(1)  # says Rows and columns are swapped
lambda x: x.T.flip(1) + 0  # says kernel
lambda x: x.t().flip(dims=(1,))  # PyTorch's name for the axes, which tinyframe hasn't (I had said right)

# %% right, each line
lambda x: x[::-1].T  # a negative step
