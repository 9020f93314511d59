"""Hint: Take (1, 2) in 3 rows of 4. How many elements have you walked past when row 1 begins? Which
of the two sizes told you that? Now put a third axis in front, and ask again.
Hint: Walk through the axes from the left and keep one number, the place so far. When the next
axis comes along, each of the places so far turns into as many as that axis is long, and then you
go a few further. That's one multiplication and one addition for each axis.
Because: After each axis, `place` is right for the axes seen so far. The next axis splits each of
those places into `size` smaller ones. It's how you read 365 digit by digit: 3, then 3 * 10 + 6,
then 36 * 10 + 5. Here, every digit has a base of its own.
"""

# %% wrong: two axes only
def flat(index, shape):
    return index[0] * shape[1] + index[1]

# %% wrong: NumPy has it, but not for an index of arrays or counters
def flat(index, shape):
    import numpy as np
    return int(np.ravel_multi_index(index, shape)) if shape else 0

# %% wrong: says returns nothing. Is there a `return`?
def flat(index, shape):
    print(index)

# %% wrong: says AttributeError: 'tuple' object has no attribute 'place'
def flat(index, shape):
    return index.place

# %% wrong: says loop counters
import numpy as np

def flat(index, shape):
    place = 0
    for i, size in zip(index, shape, strict=True):
        if isinstance(i, (int, np.ndarray)):
            place = place * size + i
    return place

# %% right: strides by prod
def flat(index, shape):
    return sum(i * prod(shape[k + 1:]) for k, i in enumerate(index))

# %% right
def flat(index, shape):
    step, place = 1, 0
    for axis in range(len(shape) - 1, -1, -1):
        place, step = place + step * index[axis], step * shape[axis]
    return place
