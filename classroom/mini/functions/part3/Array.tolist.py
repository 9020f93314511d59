"""Hint: How many elements does an Array of this shape have, and in what order are they wanted?
Hint: There is a place for each of them, 0, 1, 2 and so on, and you have a function that turns a
place into an index. `prod` of a shape is how many there are.
Because: `unflat` knows the order of the places, so the list comes out row after row for any
number of axes. Even for none: the product of no sizes is 1.
"""

from typing import Any

from classroom.mini.check import describe, expect, promise, wrong_if


@promise("All elements in the order of their places", needs=("unflat",))
def lists(mini) -> None:
    said = "Array((2, 3), lambda i: 10 * i[0] + i[1]).tolist()"

    def at(index: Any) -> Any:
        wrong_if(not isinstance(index, (tuple, list)), "`at` takes an index, and was given a "
                 "place. Which function of yours turns a place into an index?", said, "at((0, 0))",
                 f"at({describe(index)})")  # fmt: skip
        return 10 * index[0] + index[1]

    expect(said, mini.Array((2, 3), at).tolist(), [0, 1, 2, 10, 11, 12])
    expect("Array((), lambda i: 5).tolist()", mini.Array((), lambda i: 5).tolist(), [5])

# %% wrong: as many as axes
def tolist(self):
    return list(self.at(unflat(p, self.shape)) for p in range(len(self.shape)))

# %% wrong: places in place of indices
def tolist(self):
    return [self.at(place) for place in range(prod(self.shape))]

# %% wrong: says IndexError
def tolist(self):
    return [self.at((i,)) for i in range(self.shape[0])]

# %% right: a map
def tolist(self):
    return [*map(lambda place: self.at(unflat(place, self.shape)), range(prod(self.shape)))]
