"""Hint: Place 6, in rows of 4. Which column is that, and what arithmetic did you just do? What is
left over to find the row from?
Hint: The last axis changes fastest, so it comes first: the remainder is its index, and the
quotient is a place in what remains of the shape. You find the index from back to front, so it has
to be turned round in the end.
Because: It's how you take a number apart into digits: remainder, quotient, remainder, quotient.
The last digit comes out first.
"""

import numpy as np

from classroom.mini.check import Wrong, describe, expect, expect_values, promise
from classroom.mini.functions.part3.shared import NO_IF, Later


@promise("The element at place 6 of 3 rows of 4 is (1, 2)")
def back(mini) -> None:
    expect("unflat(6, (3, 4))", mini.unflat(6, (3, 4)), (1, 2), {
        (2, 1): "These are the right numbers, back to front. You find the last number of the index "
                "first.",
        (0, 2): "You started with the first axis. The last one changes fastest, so start there.",
        (2, 0): "You divided by 3, the number of rows. A row is 4 long.",
        (6, 2): "The row is still the whole place. Divide by 4 once you have the remainder.",
    })  # fmt: skip


@promise("It works for three axes and for none")
def back_from_more(mini) -> None:
    expect("unflat(14, (2, 3, 4))", mini.unflat(14, (2, 3, 4)), (1, 0, 2),
           {(2, 0, 1): "These are the right numbers, back to front."})  # fmt: skip
    expect("unflat(0, ())", mini.unflat(0, ()), ())


@promise("A place may be an array of places, or not be known yet",
        told={ValueError: NO_IF.format("NumPy arrays"), TypeError: NO_IF.format("loop counters"),
              AttributeError: NO_IF.format("loop counters")})  # fmt: skip
def unflat_of_anything(mini) -> None:
    got = mini.unflat(np.arange(12), (3, 4))
    for axis, wanted in enumerate(np.unravel_index(np.arange(12), (3, 4))):
        expect_values(f"unflat(np.arange(12), (3, 4))[{axis}]", got[axis], wanted)
    got = mini.unflat(Later(lambda now: now), (3, 4))
    if not all(isinstance(i, Later) for i in got):
        raise Wrong(NO_IF.format("loop counters"), "unflat(place, (3, 4))", got=describe(got))
    said = "unflat(place, (3, 4)), and then place = 6"
    expect(said, tuple(i.value(6) for i in got), (1, 2))


@promise("It undoes flat, for every element of a few shapes", needs=("flat",))
def there_and_back(mini) -> None:
    for shape in [(5,), (2, 7), (3, 1, 5), (2, 3, 2, 4)]:
        for place in range(int(np.prod(shape))):
            said = f"flat(unflat({place}, {shape}), {shape})"
            expect(said, mini.flat(mini.unflat(place, shape), shape), place)

# %% wrong: a list, and a tuple was asked for
def unflat(place, shape):
    return [place // prod(shape[k + 1:]) % n for k, n in enumerate(shape)]

# %% wrong, changed: says You started with the first axis
# -     for size in reversed(shape):
# +     for size in shape:
#
# -     return tuple(reversed(index))
# +     return tuple(index)

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

# %% right: divmod, from the right
def unflat(place, shape):
    index = ()
    for n in reversed(shape):
        place, i = divmod(place, n)
        index = (i, *index)
    return index
