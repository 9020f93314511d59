"""The cheapest trip, as a matrix product

Hint: There is a price for every i, k and j. What shape does a tensor with all of those have? And
which of the three axes has to go?
Hint: `a[:, :, None]` has the shape (m, k, 1), and `b` fits under its last two axes. `min` takes
`axis=`, like `sum`.
Because: Broadcasting lines up a[i, k] with b[k, j] at place (i, k, j), as in a matrix product.
Then they are added instead of multiplied, and the minimum over k takes the place of the sum.
Right: A matrix product with + for × and min for Σ: shortest routes. Nothing in the framework had to
change for it.
"""

import numpy as np

from classroom.ask import fresh_sizes, fresh_tensor, tensor_of
from classroom.lessons.matmul_and_convolution.shared import in_one_kernel
from tinyframe import Tensor


def check(answer) -> None:
    """answer(a, b): the smallest a[i, k] + b[k, j] over all k, in one kernel."""
    first = np.array([[3, 1], [4, 9], [8, 2]], np.float32), np.array([[5, 2], [6, 1]], np.float32)
    m, k, n = fresh_sizes(3)
    fresh = fresh_tensor(m, k).numpy(), fresh_tensor(k, n).numpy()
    for a, b in (first, fresh):
        small = a is first[0]
        case = (
            "`a = [[3, 1], [4, 9], [8, 2]]`, `b = [[5, 2], [6, 1]]`" if small else "larger tables"
        )
        got = tensor_of(answer, Tensor(a).realize(), Tensor(b).realize(), case=case)
        trips = a[:, :, None] + b[None]
        expected = trips.min(axis=1)
        mistakes = {
            "That's the matrix product: prices are added here, and the lowest sum counts.": a @ b,
            "You multiplied the two prices. A trip costs their sum.":
                (a[:, :, None] * b[None]).min(axis=1),
            "You found the most expensive trips.": trips.max(axis=1),
            "You added up the trips over all airports. Only the cheapest of them counts.":
                trips.sum(axis=1),
            "That's the cheapest trip to j, wherever you start. You reduced over i; the letter "
            "that `a[i, k]` and `b[k, j]` share is k.": trips.min(axis=0),
            "That's the cheapest trip from i, wherever you go. You reduced over j; the letter "
            "that `a[i, k]` and `b[k, j]` share is k.": trips.min(axis=2),
            "You chose the cheapest of each on its own: the two have to meet in the same airport.":
                a.min(axis=1, keepdims=True) + b.min(axis=0),
        }  # fmt: skip
        in_one_kernel(got, expected, case, small, mistakes)

# %% shared
def trips(a, b):
    return a[:, :, None] + b

# %% wrong, each line
lambda a, b: a @ b  # says the matrix product
lambda a, b: trips(a, b).contiguous().min(axis=1)  # says 2 kernels; it should take 1

# %% wrong: a soft minimum
def cheapest(a, b):
    return -((-a).unsqueeze(2) - b.unsqueeze(0)).logsumexp(1)

# %% right, each line
lambda a, b: -(-trips(a, b)).max(axis=1)
