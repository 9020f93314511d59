"""Hint: A row of 4, back to front. Element 0 of the result is which element of the source? And
element 3?
Hint: The two indices always add up to the same number, one less than the size. Only the axes in
`axes` are treated like that; `enumerate` counts the axes for you.
Because: Index and mirrored index add up to size - 1, the last index that there is.
"""

from classroom.mini.functions.part5.shared import of_rule

example, numbers, arrays, nodes = of_rule(
    "FLIP", shape=(2, 4), arg=(1,), index=(1, 0), wanted=(1, 3),
    more=(((2, 3, 4), (0, 2)), ((5,), (0,))),
    mistakes={
        (1, 4): "One too far: the last of 4 elements is element 3.",
        (0, 3): "Only the axes in `axes` are flipped: here axis 1 alone.",
        (0, 0): "That flips the axes that are not in `axes`.",
        (1, 0): "Nothing is flipped.",
    },
)  # fmt: skip

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
