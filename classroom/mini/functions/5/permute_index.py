"""Hint: Axis k of the result is axis order[k] of the source. The index comes sorted by axes of the
result, and you need it sorted by axes of the source. For source axis 0, which k is it?
Hint: You need the permutation that undoes `order`. For each axis of the source, look for where
`order` mentions it. Tuples have a method that finds things.
Because: For a given source axis, order.index(axis) is the axis of the result that shows it, and
that's whose part of the index you need. It is the inverse of `order`.
"""

# %% wrong: the inverse; right for transposes, not for three axes
def permute_index(index, shape, order):
    return tuple(index[axis] for axis in order)

# %% wrong: says Its parts have to trade places
def permute_index(index, shape, order):
    return index

# %% right: sorted by axis, and no two axes are equal
def permute_index(index, shape, order):
    return tuple(i for _, i in sorted(zip(order, index)))

# %% right
def permute_index(index, shape, order):
    found = [None] * len(order)
    for k, axis in enumerate(order):
        found[axis] = index[k]
    return tuple(found)
