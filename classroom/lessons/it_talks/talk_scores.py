"""How well queries fit keys

Hint: For one pair of places you multiply two rows and add up. Which shape has room for every pair
of places, and for all numbers of both rows?
Hint: `q.reshape(n, places, 1, width)` times `k.reshape(n, 1, places, width)` is stretched to
(n, places, places, width). Add up along axis 3, and multiply by `width**-0.5`.
Because: It's the matrix product of part 5, for each name in the batch: stretch both, multiply, add
up. Queries vary along axis 1, and keys along axis 2.
Right: A score for every pair of places. No loop, and no op that mini didn't have.
"""

import numpy as np

from classroom.lessons.it_talks.shared import SMALL, expect, expect_no_mistake, values_of

Q, K = np.array([[[1.0, 2.0], [3.0, 4.0]]]), np.array([[[1.0, 0.0], [2.0, 1.0]]])


def check(answer) -> None:
    """answer(q, k): the scaled products of all pairs."""
    got = values_of(answer, Q, K, case=SMALL)
    right = np.einsum("nid,njd->nij", Q, K) / 2**0.5
    mistakes = {
        "Queries and keys have changed places: [n, i, j] is query i with key j.": right.swapaxes(
            1, 2
        ),
        "They aren't divided by the square root of the width yet.": right * 2**0.5,
        "You divided by the width. It's its square root.": right / 2**0.5,
        "You multiplied by the square root of the width. Divide by it.": right * 2,
    }
    expect_no_mistake(got, right, mistakes, case=SMALL)
    expect(got, right, SMALL, shown=True)
    dice = np.random.default_rng()
    q, k = dice.standard_normal((2, 3, 5, 4)).astype(np.float32)
    case = "three names, five places, four numbers"
    expect(
        values_of(answer, q, k, case=case), np.einsum("nid,njd->nij", q, k) / 2, case, shown=False
    )

# %% shared
import numpy as np
from classroom.mini.own_c import module
def scores(q, k, factor=None):
    n, places, width = q.shape
    products = q.reshape(n, places, 1, width) * k.reshape(n, 1, places, width)
    return products.sum(3) * (width**-0.5 if factor is None else factor)

# %% wrong, each line
lambda q, k: scores(k, q)  # says have changed places
lambda q, k: scores(q, k, 1)  # says aren't divided
lambda q, k: scores(q, k, 1 / q.shape[2])  # says It's its square root
lambda q, k: scores(q, k, q.shape[2]**0.5)  # says Divide by it
lambda q, k: scores(q, k).numpy()  # says has to be a Tensor
lambda q, k: (q * k).sum(2)  # says 3 axes

# %% wrong: says you left the graph
def by_numpy(q, k):
    return module("part4").Tensor(np.einsum("nid,njd->nij", q.numpy(), k.numpy()) / q.shape[2] ** 0.5)
by_numpy

# %% wrong: only the first name of the batch
def first_only(q, k):
    n, places, width = q.shape
    q, k = (x.shrink((0, 1), (0, places), (0, width)).expand(1, places, width) for x in (q, k))
    return scores(q, k)
first_only

# %% right: as matrix products, name by name, put together by padding
def by_matrices(q, k):
    n, places, width = q.shape
    total = None
    for row in range(n):
        one, other = (x.shrink((row, row + 1), (0, places), (0, width)).reshape(places, width) for x in (q, k))
        part = (one @ other.permute(1, 0) / width**0.5).reshape(1, places, places)
        part = part.pad((row, n - 1 - row), (0, 0), (0, 0))
        total = part if total is None else total + part
    return total
by_matrices
