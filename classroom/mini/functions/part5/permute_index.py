"""Hint: Axis k of the result is axis order[k] of the source. The index comes sorted by axes of the
result, and you need it sorted by axes of the source. For source axis 0, which k is it?
Hint: You need the permutation that undoes `order`. For each axis of the source, look for where
`order` mentions it. Tuples have a method that finds things.
Because: For a given source axis, order.index(axis) is the axis of the result that shows it, and
that's whose part of the index you need. It is the inverse of `order`.
"""

from classroom.mini.functions.part5.shared import of_rule

example, numbers, arrays, nodes = of_rule(
    "PERMUTE", shape=(2, 3, 4), arg=(2, 0, 1), index=(3, 1, 2), wanted=(1, 2, 3),
    more=(((2, 3), (1, 0)), ((2, 1, 3, 2), (3, 1, 0, 2))),
    mistakes={
        (2, 3, 1): "This is the inverse permutation. index[k] belongs to source axis order[k]; "
                   "for source axis d you have to find the k with order[k] == d.",
        (3, 1, 2): "The index hasn't changed. Its parts have to trade places.",
    },
)  # fmt: skip

# %% wrong: the inverse; right for transposes, not for three axes
def permute_index(index, shape, order):
    return tuple(index[axis] for axis in order)

# %% wrong: says Its parts have to trade places
def permute_index(index, shape, order):
    return index

# %% right: sorted by axis, and no two axes are equal
def permute_index(index, shape, order):
    return tuple(i for _, i in sorted(zip(order, index)))
