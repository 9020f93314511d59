"""Hint: Nothing is moved! Somebody will ask the new Array for an index of *its own*. What do you
have to know in order to answer, and who can tell you?
Hint: Two functions in a row: first the one that turns a new index into an old one, then the one
that has the numbers. The new Array's function is the two together.
Because: It is the composition of two functions. So a transpose of a million by a million costs
nothing, and neither does the transpose of the transpose.
"""

import numpy as np

from classroom.limit import OutOfTime
from classroom.mini.check import expect, expect_values, promise
from classroom.mini.functions.part3.shared import counting, elements, is_array, nothing_yet

NOT_MOVED = "The elements did not move. Read this Array at source_index(index), not at index."


@promise("A transpose reads element (2, 0) from (0, 2)")
def transposes(mini) -> None:
    said = "a.moved((3, 2), lambda i: (i[1], i[0]))"
    source = counting(mini, 2, 3)
    got = source.moved((3, 2), lambda i: (i[1], i[0]))
    is_array(said, got, mini, (3, 2))
    nothing_yet(source)
    expect_values(said, elements(got), np.arange(1, 7).reshape(2, 3).T, (
        ([[1, 2], [4, 5], [7, 8]], NOT_MOVED),
    ))  # fmt: skip


@promise("The rule takes an index of the new Array and gives one of the old")
def direction_of_the_rule(mini) -> None:
    said = "Array((3,), lambda i: i[0]).moved((4,), lambda i: (max(i[0] - 1, 0),))"
    got = mini.Array((3,), lambda i: i[0]).moved((4,), lambda i: (max(i[0] - 1, 0),))
    expect_values(said, elements(got), np.array([0, 0, 1, 2]), (
        ([0, 1, 2, 3], NOT_MOVED),
    ))  # fmt: skip


@promise(
    "A table of 8 TB gives one element at once",
    needs=("Array.map",),
    told={
        OutOfTime: "One element of the table took too long. Is the whole table computed?",
        MemoryError: "You stored a table of a million times a million numbers. Keep only the rule.",
    },
)
def table(mini) -> None:
    size = 10**6
    numbers = mini.Array((size,), lambda i: i[0])
    down = numbers.moved((size, size), lambda i: (i[0],))
    across = numbers.moved((size, size), lambda i: (i[1],))
    got = down.map(lambda x, y: x * y, across).at((123_456, 654_321))
    expect("table.at((123456, 654321))", got, 123_456 * 654_321)

# %% wrong: says Elements were computed when the Array was made
def moved(self, shape, source_index):
    values = [self.at(source_index(unflat(p, shape))) for p in range(prod(shape))]
    return Array.of(values, *shape)

# %% wrong: in place
def moved(self, shape, source_index):
    self.shape, old = shape, self.at
    self.at = lambda index: old(source_index(index))
    return self

# %% wrong: says The elements did not move
def moved(self, shape, source_index):
    return Array(shape, lambda index: self.at(index))

# %% wrong: says `at` should give a number
def moved(self, shape, source_index):
    return Array(shape, source_index)

# %% wrong: says should give an Array. Is there a `return`?
def moved(self, shape, source_index):
    Array(shape, lambda index: self.at(source_index(index)))

# %% wrong: says The shape should be (3, 2)
def moved(self, shape, source_index):
    return Array(self.shape, lambda index: self.at(source_index(index)))

# %% right: tuples whatever comes
def moved(self, shape, source_index):
    return Array(tuple(shape), lambda index: self.at(tuple(source_index(index))))
