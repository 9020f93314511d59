"""Hint: Somebody asks the new Array for one index. Which other Arrays do you have to ask, and for
which index?
Hint: All of them, and all for the same one. In a call, a star in front of something with many
values hands them over one by one: f(first, *(g(x) for x in rest)).
Because: The same index everywhere, and the function last. Nothing is computed until that index is
asked for.
"""

import numpy as np

from classroom.mini.check import expect_values, promise
from classroom.mini.functions.part3.shared import counting, elements, is_array, nothing_yet


@promise("A function of the elements of two Arrays")
def maps_two(mini) -> None:
    said = "a.map(lambda x, y: 10 * x + y, b)"
    one, other = counting(mini, 2, 2), mini.Array((2, 2), lambda i: 5 - i[0])
    got = one.map(lambda x, y: 10 * x + y, other)
    is_array(said, got, mini, (2, 2))
    nothing_yet(one)
    expect_values(said, elements(got), np.array([[15, 25], [34, 44]]), (
        (np.array([[51, 52], [43, 44]]), "The function got its arguments in the wrong order: "
         "this Array's element comes first, then those of the others."),
    ))  # fmt: skip


@promise("With no other Array, and with two others")
def maps_one_and_three(mini) -> None:
    a = counting(mini, 3)
    expect_values("a.map(lambda x: x * x)", elements(a.map(lambda x: x * x)), np.array([1, 4, 9]))
    got = a.map(lambda x, y, z: 100 * x + 10 * y + z, a, mini.Array((3,), lambda i: i[0]))
    said = "a.map(lambda x, y, z: 100 * x + 10 * y + z, a, b)"
    expect_values(said, elements(got), np.array([110, 221, 332]))

# %% wrong: always a second one
def map(self, function, *others):
    return Array(self.shape, lambda i: function(self.at(i), others[0].at(i)))

# %% wrong: says in the wrong order
def map(self, function, *others):
    return Array(self.shape, lambda i: function(*(o.at(i) for o in others), self.at(i)))

# %% right: refuses shapes that differ
def map(self, function, *others):
    assert all(o.shape == self.shape for o in others), "shapes differ"
    return Array(self.shape, lambda i: function(self.at(i), *(o.at(i) for o in others)))
