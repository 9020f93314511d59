"""Hint: Only the larger one had any say in the result. How do you write "1 where x is larger and 0
elsewhere" with `<`? What is that at a tie?
Hint: (y < x) is such a mask. Where the two are equal, both masks are 0, and nobody would get
anything. x.eq(y) is a mask too, and half of it for each makes the sum right.
Because: The two masks and the tie add up to 1 everywhere, so what comes in goes out, whoever is
larger.
"""

import math

import numpy as np

from classroom.mini.check import promise
from classroom.mini.functions.part6.shared import buffer, expect_row, rest_is_right


@promise("To the larger one, and half to each where they are equal")
def maximum(mini) -> None:
    x, y = buffer(mini, [1, 5, 4]), buffer(mini, [2, 2, 4])
    said = "max_gradient with x = [1, 5, 4], y = [2, 2, 4], grad = [10, 10, 10]"
    half = "Where they are equal, {}. Each of the two should get half of it."
    expect_row(mini, said, x.maximum(y), buffer(mini, [10] * 3), [[0, 10, 5], [10, 0, 5]], (
        ([[0, 10, 0], [10, 0, 10]], half.format("y gets everything")),
        ([[0, 10, 10], [10, 0, 0]], half.format("x gets everything")),
        ([[0, 10, 0], [10, 0, 0]], half.format("nobody gets anything")),
        ([[0, 10, 10], [10, 0, 10]],
         half.format("both get everything, which is twice what came in")),
        ([[10, 0, 5], [0, 10, 5]], "It goes to the smaller one. Which of x < y and y < x says that "
                                   "x is the larger one?"),
    ))  # fmt: skip


@promise("A NaN stays where it is")
def maximum_of_nan(mini) -> None:
    x, y = buffer(mini, [math.nan, 5, 1, 4]), buffer(mini, [2, 2, math.nan, 4])
    rest_is_right(mini, "max_gradient with x = [nan, 5, 1, 4], y = [2, 2, nan, 4], grad = [10] * 4",
                  x.maximum(y), buffer(mini, [10] * 4), [[0, 10, 0, 5], [0, 0, 0, 5]],
                  np.array([True, False, True, False]))  # fmt: skip

# %% wrong: on a tie, x gets all of it
@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    first = x < y
    return grad * (1 - first), grad * first

# %% wrong: says nobody gets anything
@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    return grad * (y < x), grad * (x < y)

# %% wrong: says should be 10
@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    tie = x.eq(y) * 0.5
    return grad * ((y < x) + tie), grad - grad * ((y < x) + tie).sum() / 3

# %% right: whoever is the maximum shares; for a NaN nobody is, and 0 / 0 is NaN there only
@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    a, b = x.eq(node), y.eq(node)
    return grad * a / (a + b), grad * b / (a + b)
