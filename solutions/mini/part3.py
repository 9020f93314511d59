"""Stage 3: an Array is a shape and a rule. Nothing is stored.

The rule answers one question: what is at index i? Whatever you do to an Array, you get a new Array
whose rule uses the old one. No number is computed until you ask for one.
"""

import operator
from math import prod


def flat(index, shape):
    """The place of an element if all rows are written one after another, counting from 0.

    Example: flat((1, 2), (3, 4)) is 6. The shape means 3 rows of 4. Row 1 starts after one whole
    row, at place 4, and column 2 is two places further on. This has to work for any number of axes:
    flat((1, 0, 2), (2, 3, 4)) is 14, and flat((), ()) is 0.
    """
    ### BEGIN SOLUTION
    place = 0
    for i, size in zip(index, shape, strict=True):
        place = place * size + i
    return place
    ### END SOLUTION


def unflat(place, shape):
    """The index (a tuple) of the element at this place. This undoes `flat`.

    Example: unflat(6, (3, 4)) is (1, 2). Start with the last axis, which changes fastest: 6 divided
    by 4 is 1, remainder 2. The remainder is the column, and you find the row from the 1.
    """
    ### BEGIN SOLUTION
    index = []
    for size in reversed(shape):
        index.append(place % size)
        place = place // size
    return tuple(reversed(index))
    ### END SOLUTION


class Array:
    """A shape, and `at`: a function that takes an index (a tuple) and returns the number there."""

    def __init__(self, shape, at):
        self.shape, self.at = shape, at

    @staticmethod
    def of(values, *shape):
        """An Array of this shape that reads its elements from a flat list.

        Example: Array.of([10, 20, 30, 40, 50, 60], 2, 3).at((1, 0)) is 40, which is at place 3.
        """
        ### BEGIN SOLUTION
        return Array(shape, lambda index: values[flat(index, shape)])
        ### END SOLUTION

    def moved(self, shape, source_index):
        """The elements of this Array in a different arrangement, with a new shape.

        source_index takes an index of the new Array, and returns the index of this one to read.

        Example: if `a` has the shape (2, 3), its transpose is
        a.moved((3, 2), lambda i: (i[1], i[0])). Ask that for element (2, 0), and it reads
        a.at((0, 2)).
        """
        ### BEGIN SOLUTION
        return Array(shape, lambda index: self.at(source_index(index)))
        ### END SOLUTION

    def map(self, function, *others):
        """A new Array: the function of each element, and of the others' elements at the same index.

        Example: a.map(max, b).at((0, 1)) is max(a.at((0, 1)), b.at((0, 1))).
        """
        ### BEGIN SOLUTION
        return Array(
            self.shape,
            lambda index: function(self.at(index), *(other.at(index) for other in others)),
        )
        ### END SOLUTION

    def sum(self, axis):
        """Add up the elements along one axis. That axis disappears from the shape.

        Example: if `a` has the shape (2, 3), then a.sum(1) has the shape (2,), and its element (1,)
        is a.at((1, 0)) + a.at((1, 1)) + a.at((1, 2)).
        """
        ### BEGIN SOLUTION
        shape = self.shape[:axis] + self.shape[axis + 1 :]

        def at(index):
            before, after = index[:axis], index[axis:]
            return sum(self.at((*before, k, *after)) for k in range(self.shape[axis]))

        return Array(shape, at)
        ### END SOLUTION

    def tolist(self):
        """All elements in one flat list, row after row.

        Example: Array((2, 2), lambda i: 10 * i[0] + i[1]).tolist() is [0, 1, 10, 11].
        """
        ### BEGIN SOLUTION
        return [self.at(unflat(place, self.shape)) for place in range(prod(self.shape))]
        ### END SOLUTION

    def __add__(self, other):
        return self.map(operator.add, other)

    def __mul__(self, other):
        return self.map(operator.mul, other)

    def __repr__(self):
        return f"Array of shape {self.shape}"
