"""Kernels of five expressions

Hint: For each one: does something need the complete result of a reduction?
Hint: The sum of a row is done as soon as you've gone through that row. The sum of all rows is
done at the very end. And how often is each element of `a @ b` needed in number 5?
Because: Elementwise work before or after a reduction goes into its loop (1 and 4). A row sum fits
into the loop over rows (2). But every quotient of number 3 needs the sum of everything, and
number 5 needs each element of `a @ b` 64 times, so these have two kernels each.
"""

from classroom.ask import (
    kernels,
    predicts,
)
from tinyframe import Tensor


def kernels_of_five() -> tuple[int, ...]:
    a, b = (Tensor.zeros(64, 64).contiguous().realize() for _ in range(2))
    expressions = [
        (a + b).relu().sum(),
        a / a.sum(axis=1, keepdim=True),
        a / a.sum(),
        (a @ b).relu(),
        (a @ b) @ b,
    ]
    return tuple(kernels(e) for e in expressions)


check = predicts(kernels_of_five)

# %% guesses
((1, 1, 2, 1, 2), (1, 2, 2, 1, 2), (3, 2, 2, 2, 2), (1, 1, 1, 1, 1))

# %% wrong, each line
(2, 2, 2, 2, 2)  # PyTorch's habit, rounded down

# %% right, each line
[1, 1, 2, 1, 2]  # a list
