"""Stage 3: an Array is a shape and a rule. Nothing is stored.

The rule answers one question: what is at index i? Whatever you do to an Array, you get a new Array
whose rule uses the old one. No number is computed until you ask for one.
"""

import operator
from math import prod


def flat(index, shape):
    """The place of an element if all rows are written one after another, counting from 0.

    Any number of axes, none included. From stage 5 on, an index may be made of NumPy arrays, or of
    loop counters that have no number yet. So stick to arithmetic: + - * // %, and no `if`.

    Examples:
    - flat((1, 2), (3, 4)) is 6: row 1, column 2 in 3 rows of 4.
    - flat((1, 0, 2), (2, 3, 4)) is 14, and flat((), ()) is 0.
    """
    ### BEGIN SOLUTION
    place = 0
    for i, size in zip(index, shape, strict=True):
        place = place * size + i
    return place
    ### END SOLUTION


def unflat(place, shape):
    """The index (a tuple) of the element at this place: `flat`, backwards.

    The same goes for the place: one day it will be a whole array of places.

    Examples:
    - unflat(6, (3, 4)) is (1, 2).
    - unflat(14, (2, 3, 4)) is (1, 0, 2), and unflat(0, ()) is ().
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

        Examples:
        - Array.of([10, 20, 30, 40, 50, 60], 2, 3).at((1, 0)) is 40.
        - Array.of([7]).at(()) is 7: no axes, one element.
        """
        ### BEGIN SOLUTION
        return Array(shape, lambda index: values[flat(index, shape)])
        ### END SOLUTION

    def moved(self, shape, source_index):
        """The elements of this Array in a different arrangement, with a new shape.

        source_index takes an index of the new Array, and returns the index of this one to read.

        Examples:
        - If `a` has the shape (2, 3), a.moved((3, 2), lambda i: (i[1], i[0])) is its transpose.
        - a.moved((2,), lambda i: (i[0], 0)) is the first column of `a`.
        """
        ### BEGIN SOLUTION
        return Array(shape, lambda index: self.at(source_index(index)))
        ### END SOLUTION

    def map(self, function, *others):
        """A new Array: the function of each element, and of the others' elements at the same index.

        Examples:
        - a.map(max, b).at((0, 1)) is max(a.at((0, 1)), b.at((0, 1))).
        - a.map(lambda x: x * x) squares every element.
        """
        ### BEGIN SOLUTION
        return Array(self.shape, lambda i: function(self.at(i), *(other.at(i) for other in others)))
        ### END SOLUTION

    def sum(self, axis):
        """Add up the elements along one axis. That axis disappears from the shape.

        Examples, for an `a` of shape (2, 3):
        - a.sum(1) has the shape (2,): a sum for each row.
        - a.sum(0) has the shape (3,), and its element (2,) is a.at((0, 2)) + a.at((1, 2)).
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

        Examples:
        - Array((2, 2), lambda i: 10 * i[0] + i[1]).tolist() is [0, 1, 10, 11].
        - Array((), lambda i: 5).tolist() is [5].
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
