"""Fill the holes with the mean

Hint: What is the sum of the elements that are not holes? And how many are there?
Hint: With zeros in the holes, the sum of `x` would be that of the others: use `where`. And
`~holes` is True for the others.
Because: Zeros do not change a sum, so put zeros into the holes, add up, and divide by the number
of elements that are not holes. The result has shape `()`, which fits everywhere.
Right: With `where`, nothing has to be cut out or put back: it chooses between two tensors, index by
index.
"""

import numpy as np

from classroom.ask import fresh_sizes, fresh_tensor, same_values, small_tensor, tensor_of
from tinyframe import Tensor


def check(answer) -> None:
    """answer(x, holes): the mean of the other elements where `holes` is True."""
    rows, columns = fresh_sizes(2)
    pattern = np.random.default_rng().random((rows, columns)) < 0.3
    pattern[0, :2] = True, False
    cases = [
        (small_tensor(2, 3), np.array([[True, True, False], [False, False, False]])),
        (fresh_tensor(rows, columns), pattern),
    ]
    for x, holes in cases:
        small = holes.size == 6
        table = "`x = [[1, 2, 3], [4, 5, 6]]`, the 1 and the 2 are holes"
        case = table if small else "a different shape"
        values = x.numpy().copy()
        got = tensor_of(answer, x, Tensor(holes).realize(), case=case)
        mean, expected = values[~holes].mean(), np.where(holes, values[~holes].mean(), values)
        mistakes = {
            "The mean includes the elements in the holes. Leave those out.":
                np.where(holes, values.mean(), values),
            "The mean counts the holes as zeros. Divide by how many elements are not holes.":
                np.where(holes, values[~holes].sum() / values.size, values),
            "You filled the places that are not holes.": np.where(holes, values, mean),
            "`x.where(mask, other)` is PyTorch's order. Here the mask comes first: "
            "`mask.where(x, other)`.":
                np.where(values != 0, ~holes, mean),
        }  # fmt: skip
        same_values(got, expected, case, small, mistakes)

# %% wrong, each line
lambda x, holes: holes.where(x.mean(), x)  # says includes the elements in the holes
lambda x, holes: holes.where(0, x)  # says [0, 0] is 0
lambda x, holes: x.where(~holes, x[~holes].mean())  # PyTorch's x.where(mask, other); here the mask stands in front

# %% right, each line
lambda x, holes: holes.where(x[~holes].mean(), x)
