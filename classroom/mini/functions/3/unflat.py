"""Hint: Place 6, in rows of 4. Which column is that, and what arithmetic did you just do? What is
left over to find the row from?
Hint: The last axis changes fastest, so it comes first: the remainder is its index, and the
quotient is a place in what remains of the shape. You find the index from back to front, so it has
to be turned round in the end.
Because: It's how you take a number apart into digits: remainder, quotient, remainder, quotient.
The last digit comes out first.
"""

# %% wrong: a list, and a tuple was asked for
def unflat(place, shape):
    return [place // prod(shape[k + 1:]) % n for k, n in enumerate(shape)]

# %% wrong, changed: says You started with the first axis
-     for size in reversed(shape):
+     for size in shape:

-     return tuple(reversed(index))
+     return tuple(index)

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
