"""Hint: A reshape moves nothing in memory. So what do an element of the result and its element of
the source have in common?
Hint: Their place, if all rows are written one after another. You have a function from an index to
a place, and one back. Which shape goes with which?
Because: The index belongs to the new shape, so its place is counted there. Then the old shape
says which index is at that place.
"""

from classroom.mini.functions.part5.shared import of_rule

example, numbers, arrays, nodes = of_rule(
    "RESHAPE", shape=(2, 6), arg=(3, 4), index=(1, 3), wanted=(1, 1),
    more=(((2, 3, 4), (4, 6)), ((12,), (3, 2, 2))),
    mistakes={
        (2, 1): "You used the old shape for `flat` and the new one for `unflat`. It's the other "
                "way round: the index belongs to the new shape.",
    },
)  # fmt: skip

# %% wrong: NumPy has both, but loop counters are not for NumPy
def reshape_index(index, shape, new):
    return np.unravel_index(np.ravel_multi_index(index, new), shape)

# %% wrong: says should be (1, 1)
def reshape_index(index, shape, new):
    return index

# %% right
def reshape_index(index, shape, new):
    place = 0
    for i, size in zip(index, new):
        place = place * size + i
    found = []
    for size in shape[::-1]:
        found.insert(0, place % size)
        place = place // size
    return tuple(found)
