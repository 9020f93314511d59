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
