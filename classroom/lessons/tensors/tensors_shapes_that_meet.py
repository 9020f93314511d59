"""Three shapes

Hint: Write the two shapes below each other, aligned on the right.
Hint: A 1, or an axis that is missing on the left, takes the other size. For `@`, look at the last
two axes.
Because: Align on the right. (5, 1) and (7,) give (5, 7); (2, 1, 4) and (3, 1) give (2, 3, 4). In
a matrix product the 3 disappears, since it is summed, and the 6 in front stays: (6, 2, 5).
"""

from classroom.ask import (
    predicts,
)
from classroom.guesses import Shape
from classroom.lessons.tensors.shared import shapes_of
from tinyframe import Tensor


def shapes_that_meet() -> tuple[Shape, ...]:
    ones = Tensor.ones
    return shapes_of(ones(5, 1) + ones(7), ones(2, 1, 4) * ones(3, 1), ones(6, 2, 3) @ ones(3, 5))


check = predicts(shapes_that_meet)

# %% guesses
(
    ((5, 7), (2, 3, 4), (6, 2, 5)),
    ((5, 7), (2, 1, 4), (6, 2, 5)),
    ((5, 1), (2, 3, 4), (6, 3, 5)),
)

# %% right, each line
[(5, 7), (2, 3, 4), [6, 2, 5]]  # mixed
