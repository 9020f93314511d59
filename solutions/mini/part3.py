"""Stage 3: an Array is a shape and a rule. Nothing is stored.

The rule answers one question: what is at index i? Everything that you do to an Array makes a new
rule out of the old one, and no number is computed until somebody asks for one.
"""

import operator
from math import prod


def flat(index, shape):
    """The place of an element when the rows lie one after another in a list. Places start at 0.

    Example: flat((1, 2), (3, 4)) is 6. The shape says 3 rows of 4. Row 1 begins after one whole
    row, at place 4, and column 2 is 2 places further on. It has to work for any number of axes:
    flat((1, 0, 2), (2, 3, 4)) is 14, and flat((), ()) is 0.
    """
    ### BEGIN SOLUTION
    place = 0
    for i, size in zip(index, shape, strict=True):
        place = place * size + i
    return place
    ### END SOLUTION


def unflat(place, shape):
    """The index, a tuple, of the element at this place: the way back from `flat`.

    Example: unflat(6, (3, 4)) is (1, 2). The last axis moves fastest, so start there: 6 divided by
    4 leaves a remainder of 2, the column; the quotient, 1, is what is left for the row.
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

        Example: Array.of([10, 20, 30, 40, 50, 60], 2, 3).at((1, 0)) is 40: place 3 of the list.
        """
        ### BEGIN SOLUTION
        return Array(shape, lambda index: values[flat(index, shape)])
        ### END SOLUTION

    def moved(self, shape, source_index):
        """An Array of a new shape with the elements of this one in different places.

        source_index: takes an index of the new Array, returns the index of this one to read there.

        Example: a.moved((3, 2), lambda i: (i[1], i[0])) is the transpose of an `a` of shape (2, 3).
        Asked for its element (2, 0), it reads a.at((0, 2)).
        """
        ### BEGIN SOLUTION
        return Array(shape, lambda index: self.at(source_index(index)))
        ### END SOLUTION

    def map(self, function, *others):
        """Apply a function to each element, together with the elements of the others at that index.

        Example: a.map(max, b).at((0, 1)) is max(a.at((0, 1)), b.at((0, 1))).
        """
        ### BEGIN SOLUTION
        arrays = (self, *others)
        return Array(self.shape, lambda index: function(*(array.at(index) for array in arrays)))
        ### END SOLUTION

    def sum(self, axis):
        """Add up along one axis, which disappears from the shape.

        Example: if the shape is (2, 3), that of a.sum(1) is (2,), and its element (1,) is
        a.at((1, 0)) + a.at((1, 1)) + a.at((1, 2)).
        """
        ### BEGIN SOLUTION
        shape = self.shape[:axis] + self.shape[axis + 1 :]

        def at(index):
            before, after = index[:axis], index[axis:]
            return sum(self.at((*before, k, *after)) for k in range(self.shape[axis]))

        return Array(shape, at)
        ### END SOLUTION

    def tolist(self):
        """All elements in one flat list, in the order of their places.

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
