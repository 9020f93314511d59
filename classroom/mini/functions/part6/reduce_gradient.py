"""Hint: Two ops, two answers. In a sum, if one element grows by 1, what does the sum do? And in a
maximum, whose growing matters?
Hint: For a sum, everybody gets all of it: expand. For a maximum you need a mask of the largest
elements (equal to the maximum, once that is expanded), and you need to know how many of them
share.
Because: In a sum each element counts fully. In a maximum only the largest do, and if there are
several, the gradient is divided by their number, so that it isn't handed out twice.
"""

import math

import numpy as np

from classroom.mini.check import promise
from classroom.mini.functions.part6.shared import buffer, expect_row, rest_is_right


@promise("The gradient of a sum is a copy for each element")
def summed(mini) -> None:
    x = buffer(mini, [[1, 4, 4]])
    node = x.sum(1, keepdim=True)
    expect_row(mini, "reduce_gradient of ADD with x = [[1, 4, 4]], grad = [[6]]", node,
               buffer(mini, [[6]]), [[[6, 6, 6]]], (
        ([[[2, 2, 2]]], "That is the gradient of a mean. In a sum, every element counts fully."),
        ([[[6, 24, 24]]], "That is grad times x. Every element of a sum counts once."),
    ))  # fmt: skip


@promise("That of a maximum goes to the largest, in equal shares")
def largest(mini) -> None:
    x = buffer(mini, [[1, 4, 4]])
    node = x.max(1, keepdim=True)
    expect_row(mini, "reduce_gradient of MAX with x = [[1, 4, 4]], grad = [[6]]", node,
               buffer(mini, [[6]]), [[[0, 3, 3]]], (
        ([[[0, 6, 6]]], "Two elements are equally large, and each of them got everything. They "
                        "share it."),
        ([[[6, 6, 6]]], "That is the row of a sum. Only the largest elements count in a maximum."),
        ([[[0, 6, 0]]], "The first of the two largest got everything. They share it."),
        ([[[2, 2, 2]]], "You shared grad among all elements. Only the largest ones get a share."),
    ))  # fmt: skip
    several = buffer(mini, [[1, 4, 4], [7, 7, 7], [0, 0, -1]])
    expect_row(mini, "reduce_gradient of MAX with x = [[1, 4, 4], [7, 7, 7], [0, 0, -1]], "
               "grad = [[6], [6], [6]]", several.max(1, keepdim=True), buffer(mini, [[6]] * 3),
               [[[0, 3, 3], [2, 2, 2], [3, 3, 0]]])  # fmt: skip
    block = np.array([[[1, 5], [5, 2]], [[3, 3], [0, 3]]])
    expect_row(mini, "reduce_gradient of MAX over axes 1 and 2, grad = 6", buffer(mini, block).max(
        1, 2, keepdim=True), buffer(mini, [[[6]], [[6]]]),
        [[[[0, 3], [3, 0]], [[2, 2], [0, 2]]]])  # fmt: skip


@promise("A NaN stays in its row")
def largest_of_nan(mini) -> None:
    x = buffer(mini, [[1, math.nan, 2], [1, 4, 4]])
    rest_is_right(mini, "reduce_gradient of MAX with x = [[1, nan, 2], [1, 4, 4]], grad = "
                  "[[6], [6]]", x.max(1, keepdim=True), buffer(mini, [[6], [6]]),
                  [[[0, 0, 0], [0, 3, 3]]], np.array([[True] * 3, [False] * 3]))  # fmt: skip

# %% wrong: says Element (0, 1) should be 3
@gradient_rule(Ops.REDUCE_AXIS)
def reduce_gradient(grad, node, x):
    op, axes = node.arg
    if op is Ops.ADD:
        return (grad.expand(*x.shape),)
    is_largest = x.eq(node.expand(*x.shape))
    return (is_largest * grad / is_largest.sum(),)

# %% wrong: says A NaN spoils the gradient of a different element: (1, 0)
@gradient_rule(Ops.REDUCE_AXIS)
def reduce_gradient(grad, node, x):
    op, axes = node.arg
    if op is Ops.ADD:
        return (grad.expand(*x.shape),)
    is_largest = x.eq(node.expand(*x.shape))
    share = is_largest / is_largest.sum(*axes, keepdim=True)
    return (share * grad + 0 * x.sum(),)

# %% wrong: says That is the row of a sum
@gradient_rule(Ops.REDUCE_AXIS)
def reduce_gradient(grad, node, x):
    return (grad.expand(*x.shape),)

# %% right: broadcasting stretches node and grad; divided before it is spread
@gradient_rule(Ops.REDUCE_AXIS)
def reduce_gradient(grad, node, x):
    op, axes = node.arg
    if op is Ops.ADD:
        return (grad.expand(*x.shape),)
    mask = x.eq(node)
    return (mask * (grad / mask.sum(*axes, keepdim=True)),)
