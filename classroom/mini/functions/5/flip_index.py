"""Hint: A row of 4, back to front. Element 0 of the result is which element of the source? And
element 3?
Hint: The two indices always add up to the same number, one less than the size. Only the axes in
`axes` are treated like that; `enumerate` counts the axes for you.
Because: Index and mirrored index add up to size - 1, the last index that there is.
"""

# %% wrong: NumPy counts from the end; memory doesn't
def flip_index(index, shape, axes):
    return tuple(-1 - i if axis in axes else i for axis, i in enumerate(index))

# %% wrong: says Only the axes in `axes` are flipped
def flip_index(index, shape, axes):
    return tuple(n - 1 - i for i, n in zip(index, shape))

# %% wrong: says This reads the wrong element
def flip_index(index, shape, axes):
    flipped = list(index)
    flipped[axes[0]] = shape[axes[0]] - 1 - index[axes[0]]
    return tuple(flipped)

# %% right: axis by axis
def flip_index(index, shape, axes):
    turned = list(index)
    for axis in axes:
        turned[axis] = (shape[axis] - 1) + turned[axis] * -1
    return tuple(turned)

# %% right
def flip_index(index, shape, axes):
    found = list(index)
    for axis in axes:
        found[axis] = -index[axis] + (shape[axis] - 1)
    return tuple(found)
