"""Hint: Along one axis: `before` zeros, then `size` elements, then `after` zeros. Between which two
indices do the elements lie? How do you say "and" if there is no `and`?
Hint: Two comparisons for each axis, and all of them have to hold. True counts as 1 and False as
0, in Python, in NumPy and in a graph. What does `*` do with those?
Because: A product of 0s and 1s is 1 only if all of them are: an "and" that works for numbers,
arrays and nodes. The comparisons are written with `<` alone, as nodes have no `<=`.
"""

import numpy as np

from classroom.mini.check import expect_values, promise

NO_AND = (
    "This index is made of NumPy arrays, and Python's `if`, `and`, `or`, `min` and `max` need a "
    'single number. Write `*` for "and", as in `(x < y) * (y < z)`.'
)


@promise("A row of 3 with (1, 2) around it: 1, 2 and 3 are inside")
def which_are_inside(mini) -> None:
    got = [bool(mini.inside((i,), (3,), ((1, 2),))) for i in range(6)]
    said = "[inside((i,), (3,), ((1, 2),)) for i in range(6)]"
    expect_values(said, got, np.array([0, 1, 1, 1, 0, 0]), (
        ([1] * 6, "Everything counts as inside, so the padding is not masked: where there should "
                  "be zeros, you would see element 0."),
        ([0, 1, 1, 1, 1, 1], "You only checked the beginning. The source ends at before + size."),
        ([1, 1, 1, 1, 0, 0], "You only checked the end. The first `before` indices are outside."),
        ([1, 1, 1, 0, 0, 0], "You compared as if there were no zeros before the source. It "
                             "starts at `before`."),
        ([0, 1, 1, 1, 1, 0], "One too many at the end."),
        ([0, 0, 1, 1, 0, 0], "Element 0 of the source is missing: it is at index `before`."),
        ([0, 1, 1, 0, 0, 0], "The last element of the source is missing."),
    ))  # fmt: skip


@promise("Along two axes, both have to be inside", told={ValueError: NO_AND})
def inside_along_two(mini) -> None:
    shape, widths = (2, 2), ((1, 0), (0, 1))
    wanted = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 0]])
    got = [[bool(mini.inside((i, j), shape, widths)) for j in range(3)] for i in range(3)]
    said = f"inside(index, {shape}, {widths}), for each index"
    expect_values(said, got, wanted)
    every = tuple(np.indices((3, 3)))
    expect_values(f"{said}, with arrays", mini.inside(every, shape, widths) * 1, wanted)

# %% wrong: says Write `*` for "and"
def inside(index, shape, widths):
    return all(b <= i < b + n for i, n, (b, _) in zip(index, shape, widths))

# %% wrong: says the padding is not masked
def inside(index, shape, widths):
    return True

# %% right: a product of products
def inside(index, shape, widths):
    return math.prod((i > b - 1) * (i < b + n) for i, n, (b, _) in zip(index, shape, widths))
