"""Each row one place further to the right

Hint: Cut into rows one number longer than the eight that repeat, and each row starts one number
later. What if the rows are one number *shorter* than what repeats?
Hint: The result has n + m - 1 columns. Pad every row with zeros until it's one longer than that,
write all rows in one line, and cut the line into rows of n + m - 1.
Because: Each padded row has n + m numbers, and each row of the result takes n + m - 1. So every
row starts one place earlier in its padded row than the row above, and its numbers stand one place
further to the right.
Right: Now add up the columns of a sheared table of products, and you have the multiplication that
you learned at school.
"""

import numpy as np

from classroom.ask import (
    count,
    fresh_sizes,
    fresh_tensor,
    kernels,
    no_copy,
    same_values,
    small_tensor,
    tensor_of,
)
from classroom.exercise import wrong_if


def check(answer) -> None:
    """answer(x): row i of a matrix, i places further to the right, by movement alone."""
    for rows, columns in ((3, 3), tuple(fresh_sizes(2))):
        small = rows == 3
        x = small_tensor(3, 3) if small else fresh_tensor(rows, columns)
        case = "`x = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]`" if small else "a larger matrix"
        got = tensor_of(answer, x, case=case)
        moved = kernels(got)
        values = x.numpy()
        expected = sheared(values)
        mistakes = {
            "Your rows move to the left. Should the next row start later or earlier?":
                sheared(values[:, ::-1])[:, ::-1],
            "Your columns move down. It's the rows that should move to the right.":
                sheared(values.T),
        }  # fmt: skip
        same_values(got, expected, case, small, mistakes)
        wrong_if(moved, "The values are right, but they are computed. Movement alone can do this.",
                 case, "no kernel", count(moved, "kernel"))  # fmt: skip
        no_copy(got, x, "x", case)


def sheared(values: np.ndarray) -> np.ndarray:
    rows, columns = values.shape
    result = np.zeros((rows, rows + columns - 1), values.dtype)
    for i, row in enumerate(values):
        result[i, i : i + columns] = row
    return result

# %% shared
from tinyframe import Tensor
def sheared(x):
    n, m = x.shape
    padded = x.pad(((0, 0), (0, n))).reshape(n * (n + m))
    return padded[: n * (n + m - 1)].reshape(n, n + m - 1)

# %% wrong, each line
lambda x: sheared(x.T)  # says columns move down
lambda x: x.pad(((0, 0), (0, len(x) - 1)))  # says not in the right places
lambda x: sheared(Tensor(x.numpy() + 0).realize())  # says copies of the numbers

# %% wrong: says Movement alone
def shear(x):
    n, m = x.shape
    return Tensor.stack(*[x[i].pad((i, n - 1 - i)) for i in range(n)])

# %% right, each line
lambda x: sheared(x).flip(0).flip(0)
