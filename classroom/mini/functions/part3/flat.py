"""Hint: Take (1, 2) in 3 rows of 4. How many elements have you walked past when row 1 begins? Which
of the two sizes told you that? Now put a third axis in front, and ask again.
Hint: Walk through the axes from the left and keep one number, the place so far. When the next
axis comes along, each of the places so far turns into as many as that axis is long, and then you
go a few further. That's one multiplication and one addition for each axis.
Because: After each axis, `place` is right for the axes seen so far. The next axis splits each of
those places into `size` smaller ones. It's how you read 365 digit by digit: 3, then 3 * 10 + 6,
then 36 * 10 + 5. Here, every digit has a base of its own.
"""

import itertools

import numpy as np

from classroom.mini.check import Wrong, describe, expect, expect_values, promise
from classroom.mini.functions.part3.shared import NO_IF, Later


@promise("The place of element (1, 2) in 3 rows of 4 is 6")
def two_axes(mini) -> None:
    expect("flat((1, 2), (3, 4))", mini.flat((1, 2), (3, 4)), 6, {
        5: "You multiplied the row by 3, the number of rows. One whole row comes before this "
           "element, and a row has 4 elements: the size of the axis after it.",
        7: "That would be its place if the columns were written one after another. Here the rows "
           "are, so the last axis changes fastest.",
        3: "You added the two numbers of the index. One step along the first axis skips a whole "
           "row.",
        11: "You multiplied each number by the size of its own axis. One step along an axis skips "
            "as many elements as the axes after it hold.",
        2: "Only the last axis counts here. What happened to the first one?",
    })  # fmt: skip


@promise("It works for three axes and for none")
def more_axes(mini) -> None:
    expect("flat((1, 0, 2), (2, 3, 4))", mini.flat((1, 0, 2), (2, 3, 4)), 14, {
        3: "This is right for two axes. Here are three, and one step along the first axis skips "
           "3 * 4 elements.",
        13: "The last axis should change fastest, and the first one slowest.",
    })  # fmt: skip
    expect("flat((), ())", mini.flat((), ()), 0)


@promise("It is right for every element of four other shapes")
def flat_agrees(mini) -> None:
    for shape in [(5,), (2, 7), (3, 1, 5), (2, 3, 2, 4)]:
        for place, index in enumerate(itertools.product(*map(range, shape))):
            expect(f"flat({index}, {shape})", mini.flat(index, shape), place)


@promise("An index may be made of arrays, or of numbers that are not known yet",
        told={ValueError: NO_IF.format("NumPy arrays"), TypeError: NO_IF.format("loop counters"),
              AttributeError: NO_IF.format("loop counters")})  # fmt: skip
def flat_of_anything(mini) -> None:
    said = "flat((np.array([0, 1]), np.array([1, 2])), (3, 4))"
    expect_values(said, mini.flat((np.array([0, 1]), np.array([1, 2])), (3, 4)), np.array([1, 6]))
    got = mini.flat((Later(lambda now: now), 2), (3, 4))
    if not isinstance(got, Later):
        raise Wrong(NO_IF.format("loop counters"), "flat((i, 2), (3, 4))", got=describe(got))
    expect("flat((i, 2), (3, 4)), and then i = 1", got.value(1), 6)

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
