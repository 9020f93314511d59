"""Hint: Take the shape (2, 3) and sum over axis 1. Somebody asks for element (1,) of the result.
Which indices of the old Array do you need? Now the same over axis 0.
Hint: An index of the result lacks one number. Cut it in two at `axis`, and put k between the
halves, for each k from 0 up to the size of that axis. Shapes can be cut the same way.
Because: The index and the shape are cut at the same spot. In the index a k goes in; out of the
shape, the size goes.
"""

import numpy as np

from classroom.mini.check import Wrong, expect_values, promise
from classroom.mini.functions.part3.shared import counting, elements, is_array, nothing_yet


@promise("A sum over the last axis, and that axis is gone")
def sums(mini) -> None:
    said = "a.sum(1)"
    source = counting(mini, 2, 3)
    got = source.sum(1)
    if isinstance(got, mini.Array) and tuple(got.shape) == (2, 1):
        raise Wrong("The summed axis should disappear: (2,), not (2, 1).", said, "(2,)", "(2, 1)")
    is_array(said, got, mini, (2,))
    nothing_yet(source)
    expect_values(said, elements(got), np.array([6, 15]))


@promise("Over the first axis, over the middle one, and over the only one")
def sums_anywhere(mini) -> None:
    for shape, axis in [((2, 3), 0), ((2, 3, 4), 1), ((4,), 0)]:
        said = f"a.sum({axis}), where the shape of a is {shape}"
        got = counting(mini, *shape).sum(axis)
        wanted = np.arange(1, 1 + np.prod(shape)).reshape(shape).sum(axis)
        is_array(said, got, mini, wanted.shape)
        expect_values(said, elements(got), wanted)


@promise("A matrix product, from moved, map and sum", needs=("Array.moved", "Array.map"))
def product(mini) -> None:
    a, b = np.arange(6).reshape(2, 3), np.array([[1, 0], [2, 1], [0, 3]])
    left = mini.Array((2, 3), lambda i: int(a[i])).moved((2, 2, 3), lambda i: (i[0], i[2]))
    right = mini.Array((3, 2), lambda i: int(b[i])).moved((2, 2, 3), lambda i: (i[2], i[1]))
    got = left.map(lambda x, y: x * y, right).sum(2)
    expect_values("the matrix product of (2, 3) and (3, 2)", elements(got), a @ b)

# %% wrong: says The summed axis should disappear
def sum(self, axis):
    shape = tuple(1 if k == axis else n for k, n in enumerate(self.shape))
    return Array(shape, lambda i: sum(
        self.at(i[:axis] + (k,) + i[axis + 1:]) for k in range(self.shape[axis])))

# %% wrong: says An index has one number for each axis
def sum(self, axis):
    shape = self.shape[:axis] + self.shape[axis + 1 :]
    return Array(shape, lambda i: sum(
        self.at(i[:axis] + (k,) + i[axis + 1 :]) for k in range(self.shape[axis])))

# %% wrong: says Element
def sum(self, axis):
    shape = self.shape[:axis] + self.shape[axis + 1 :]
    return Array(shape, lambda i: sum(self.at((*i, k)) for k in range(self.shape[axis])))

# %% right: pop
def sum(self, axis=0):
    shape = list(self.shape)
    n = shape.pop(axis)
    return Array(tuple(shape), lambda i: sum(self.at((*i[:axis], k, *i[axis:])) for k in range(n)))
