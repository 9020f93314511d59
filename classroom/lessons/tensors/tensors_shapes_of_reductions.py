"""The shapes of three reductions

Hint: Which axes of (2, 3, 4) are left in each?
Hint: A reduced axis disappears. With `keepdim=True` it stays, with size 1.
Because: Cross out the axes that are reduced: axis 1 of (2, 3, 4) leaves (2, 4), and axes 0 and 2
leave (3,). `keepdim=True` writes a 1 in place of crossing out: (2, 3, 1).
"""

from classroom.ask import predicts
from classroom.guesses import Shape
from classroom.lessons.tensors.shared import shapes_of
from tinyframe import Tensor


def shapes_of_reductions() -> tuple[Shape, ...]:
    x = Tensor.ones(2, 3, 4)
    return shapes_of(x.sum(axis=1), x.max(axis=2, keepdim=True), x.sum(axis=(0, 2)))


check = predicts(shapes_of_reductions)

# %% guesses
(
    ((2, 4), (2, 3, 1), (3,)),
    ((2, 1, 4), (2, 3), (1, 3, 1)),
    ((3, 4), (2, 1, 4), (3,)),
)

# %% wrong, each line
((2, 4), (2, 3, 1), (1, 3, 1))  # kept

# %% right, each line
[[2, 4], [2, 3, 1], [3]]  # lists
