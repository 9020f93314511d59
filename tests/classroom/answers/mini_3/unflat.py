# %% wrong: a list, and a tuple was asked for
def unflat(place, shape):
    return [place // prod(shape[k + 1:]) % n for k, n in enumerate(shape)]

# %% wrong: says You started with the first axis
def unflat(place, shape):
    index = []
    for size in shape:
        index.append(place % size)
        place = place // size
    return tuple(index)

# %% wrong: says stopped after 5 seconds
def unflat(place, shape):
    index = []
    while place >= 0:
        place = place // 4
    return tuple(index)

# %% wrong: says loop counters
import numpy as np

def unflat(place, shape):
    index = [0] * len(shape)
    for axis in reversed(range(len(shape))):
        if isinstance(place, (int, np.ndarray)):
            place, index[axis] = divmod(place, shape[axis])
    return tuple(index)

# %% right: each axis by itself
def unflat(place, shape):
    return tuple(place // prod(shape[k + 1:]) % shape[k] for k in range(len(shape)))

# %% right: divmod, from the right
def unflat(place, shape):
    index = ()
    for n in reversed(shape):
        place, i = divmod(place, n)
        index = (i, *index)
    return index
