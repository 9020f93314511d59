"""Stage 5: three kinds of op are enough. Matmul and convolution are movement, `*` and `sum`.

A movement op computes nothing. For each element of its result, it says which element of its source
to read: a little arithmetic on indices. These rules don't care what an index is made of. They get
whole numbers in stage 3's Arrays, NumPy arrays with all the indices at once when a graph is
computed, and loop counters in stage 7.
"""

import math

import numpy as np

from mini.part3 import flat, unflat
from mini.part4 import COMPUTE, SHAPE, Ops, Tensor, UOp, method

# ---- movement: which index of the source? --------------------------------------------------------

# op: from the shape of the source and the node's arg to the shape of the result.
MOVED_SHAPE = {
    Ops.RESHAPE: lambda shape, new: new,
    Ops.PERMUTE: lambda shape, order: tuple(shape[axis] for axis in order),
    Ops.EXPAND: lambda shape, new: new,
    Ops.SHRINK: lambda shape, bounds: tuple(end - start for start, end in bounds),
    Ops.FLIP: lambda shape, axes: shape,
    Ops.PAD: lambda shape, widths: tuple(
        before + size + after for size, (before, after) in zip(shape, widths, strict=True)
    ),
    Ops.DETACH: lambda shape, arg: shape,
}

# op: from an index of the result, the source's shape and the node's arg to an index of the source.
SOURCE_INDEX = {Ops.DETACH: lambda index, shape, arg: index}


def index_rule(op):
    """@index_rule(op) makes the function below it the op's row of SOURCE_INDEX."""

    def add(function):
        SOURCE_INDEX[op] = function
        return function

    return add


def where(condition, x, y):
    """x where the condition is true, and y elsewhere: for numbers, NumPy arrays and UOps."""
    if isinstance(condition, UOp):
        return condition.where(x, y)
    if isinstance(condition, np.ndarray):
        return np.where(condition, x, y)
    return x if condition else y


@index_rule(Ops.RESHAPE)
def reshape_index(index, shape, new):
    """The element at the same place, if all rows are written one after another.

    Example: a source of shape (2, 6) becomes new = (3, 4). In the new shape, index (1, 3) is at
    place 7. In the old shape, place 7 is index (1, 1).
    """
    ### BEGIN SOLUTION
    return unflat(flat(index, new), shape)
    ### END SOLUTION


@index_rule(Ops.PERMUTE)
def permute_index(index, shape, order):
    """Axis k of the result is axis order[k] of the source.

    Example: with order = (2, 0, 1), a source of shape (2, 3, 4) becomes (4, 2, 3). Index (3, 1, 2)
    of the result reads (1, 2, 3): the 3 goes to axis 2 of the source, the 1 to axis 0, and the 2 to
    axis 1.
    """
    ### BEGIN SOLUTION
    return tuple(index[order.index(axis)] for axis in range(len(shape)))
    ### END SOLUTION


@index_rule(Ops.EXPAND)
def expand_index(index, shape, new):
    """Where the source's axis has size 1, read element 0. The other axes stay as they are.

    Example: a source of shape (1, 4) becomes new = (3, 4). Index (2, 3) reads (0, 3).
    """
    ### BEGIN SOLUTION
    return tuple(0 if size == 1 else i for i, size in zip(index, shape, strict=True))
    ### END SOLUTION


@index_rule(Ops.SHRINK)
def shrink_index(index, shape, bounds):
    """Keep a part of each axis: bounds has a (start, end) for each of them.

    Example: bounds = ((1, 3), (0, 4)) keeps rows 1 and 2 and all four columns. Index (0, 2) reads
    (1, 2).
    """
    ### BEGIN SOLUTION
    return tuple(i + start for i, (start, _) in zip(index, bounds, strict=True))
    ### END SOLUTION


@index_rule(Ops.FLIP)
def flip_index(index, shape, axes):
    """Reverse these axes, so that the last element comes first.

    Example: in a source of shape (2, 4) with axes = (1,), index (1, 0) reads (1, 3).
    """
    ### BEGIN SOLUTION
    return tuple(
        size - 1 - i if axis in axes else i
        for axis, (i, size) in enumerate(zip(index, shape, strict=True))
    )
    ### END SOLUTION


def inside(index, shape, widths):
    """PAD puts zeros around its source. Does an index of the result fall on one of its elements?

    widths has a (before, after) for each axis: how many zeros. The parts of the index may be
    arrays, which Python's `and` can't handle. Compare with `<`, and write `*` for "and", as in
    (x < y) * (y < z).

    Example: a source of shape (3,) with widths = ((1, 2),) becomes (6,). Indices 1, 2 and 3 are
    inside, and 0, 4 and 5 are not.
    """
    ### BEGIN SOLUTION
    condition = True
    for i, size, (before, _) in zip(index, shape, widths, strict=True):
        condition = condition * (before - 1 < i) * (i < before + size)
    return condition
    ### END SOLUTION


@index_rule(Ops.PAD)
def pad_index(index, shape, widths):
    """The index of the source; or 0 along every axis, if this index isn't inside the source.

    The element that is read there is thrown away, but it has to exist. Don't read outside of the
    memory. `where(condition, x, y)`, above, chooses for numbers and for arrays.

    Example: for a source of shape (3,) with widths = ((1, 2),), index (3,) reads (2,). Indices
    (0,), (4,) and (5,) are outside, and read (0,).
    """
    ### BEGIN SOLUTION
    condition = inside(index, shape, widths)
    return tuple(
        where(condition, i - before, 0) for i, (before, _) in zip(index, widths, strict=True)
    )
    ### END SOLUTION


def moved_values(node, values):
    """The values of a movement node: call its rule once, with the indices of all elements.

    Example: PERMUTE by (1, 0) turns the shape (2, 3) into (3, 2). `indices` is a pair of arrays:
    all row numbers [[0], [1], [2]] and all column numbers [[0, 1]]. The rule swaps the two, and
    NumPy looks up values[[[0, 1]], [[0], [1], [2]]]: the whole transpose.
    """
    shape = node.src[0].shape
    indices = tuple(np.indices(node.shape, sparse=True))
    found = values[SOURCE_INDEX[node.op](indices, shape, node.arg)]
    if node.op is Ops.PAD:
        found = np.where(inside(indices, shape, node.arg), found, np.float32(0))
    return np.broadcast_to(found, node.shape)


for _op in MOVED_SHAPE:
    SHAPE[_op] = lambda node: MOVED_SHAPE[node.op](node.src[0].shape, node.arg)
    COMPUTE[_op] = moved_values


@method
def reshape(x, *shape):
    """A size of -1 stands for whatever is left over."""
    if -1 in shape:
        left_over = math.prod(x.shape) // -math.prod(shape)
        shape = tuple(left_over if size == -1 else size for size in shape)
    if math.prod(shape) != math.prod(x.shape):
        raise ValueError(f"{x.shape} cannot be reshaped to {shape}: the numbers of elements differ")
    return x if shape == x.shape else UOp(Ops.RESHAPE, (x,), shape)


@method
def expand(x, *shape):
    if len(shape) != len(x.shape) or any(
        old not in (1, new) for old, new in zip(x.shape, shape, strict=True)
    ):
        raise ValueError(f"{x.shape} cannot be expanded to {shape}: only axes of size 1 can")
    return x if shape == x.shape else UOp(Ops.EXPAND, (x,), shape)


# x.permute(1, 0), x.shrink((1, 3), (0, 4)), x.flip(0), x.pad((1, 1), (0, 2)), x.detach()
for _op in (Ops.PERMUTE, Ops.SHRINK, Ops.FLIP, Ops.PAD, Ops.DETACH):
    method(lambda x, *arg, op=_op: UOp(op, (x,), arg), _op.name.lower())


# ---- elementwise: all sources get one shape ------------------------------------------------------


def broadcast(*nodes):
    """Return a tuple of all nodes, brought to the same shape.

    Shapes are compared from the right. One that is too short gets axes of size 1 on the left. Then
    every axis of size 1 is expanded to the largest size that any node has there. Constants (their
    op is Ops.CONST) fit every shape, so return them as they are.

    Example: for shapes (3, 1) and (4,), reshape the second to (1, 4), and expand both to (3, 4).
    """
    ### BEGIN SOLUTION
    rank = max(len(node.shape) for node in nodes)
    shaped = [
        node if node.op is Ops.CONST else node.reshape(*[1] * (rank - len(node.shape)), *node.shape)
        for node in nodes
    ]
    shapes = [node.shape for node in shaped if node.op is not Ops.CONST]
    shape = tuple(map(max, zip(*shapes, strict=True)))
    return tuple(node if node.op is Ops.CONST else node.expand(*shape) for node in shaped)
    ### END SOLUTION


def alu(x, op, *others):
    return UOp(op, broadcast(x, *map(x.const, others)))


UOp.alu = alu  # replaces stage 4's, which needs equal shapes


# ---- reduce --------------------------------------------------------------------------------------

REDUCE = {Ops.ADD: np.sum, Ops.MAX: np.max}
SHAPE[Ops.REDUCE_AXIS] = lambda node: tuple(
    1 if axis in node.arg[1] else size for axis, size in enumerate(node.src[0].shape)
)
COMPUTE[Ops.REDUCE_AXIS] = lambda node, values: REDUCE[node.arg[0]](
    values, axis=node.arg[1], keepdims=True
)


def reduce(x, op, axes, keepdim):
    """REDUCE_AXIS leaves axes of size 1 behind. Without keepdim, a reshape drops them."""
    rank = len(x.shape)
    axes = tuple(sorted(axis % rank for axis in axes)) if axes else tuple(range(rank))
    result = UOp(Ops.REDUCE_AXIS, (x,), (op, axes))
    if keepdim:
        return result
    return result.reshape(*(size for axis, size in enumerate(x.shape) if axis not in axes))


method(lambda x, *axes, keepdim=False: reduce(x, Ops.ADD, axes, keepdim), "sum")
method(lambda x, *axes, keepdim=False: reduce(x, Ops.MAX, axes, keepdim), "max")


@method
def mean(x, *axes):
    total = x.sum(*axes)
    return total * (math.prod(total.shape) / math.prod(x.shape))


# ---- what comes out of it ------------------------------------------------------------------------


def __matmul__(a, b):
    """The matrix product of shapes (n, k) and (k, m), from movement, `*` and sum.

    Example: for (2, 3) @ (3, 4), bring `a` to the shape (2, 1, 3) and `b` to (1, 4, 3). Their
    product has the shape (2, 4, 3): every row of `a` times every column of `b`. Sum over axis 2,
    and (2, 4) is left.
    """
    ### BEGIN SOLUTION
    (n, k), (_, m) = a.shape, b.shape
    return (a.reshape(n, 1, k) * b.permute(1, 0).reshape(1, m, k)).sum(2)
    ### END SOLUTION


def windows(x, size):
    """All windows of this size along the last axis: (…, n) becomes (…, size, n - size + 1).

    Column o of the result is the window that starts at element o: element [j, o] is element o + j
    of the row. You only need reshape, expand and shrink.

    Example: the row 0 1 2 3, with size 2. Write it size + 1 = 3 times: 0 1 2 3 0 1 2 3 0 1 2 3.
    Keep the first size * (n + 1) = 10 numbers, and cut them into rows of n + 1 = 5, one more than
    the row had: 0 1 2 3 0 and 1 2 3 0 1. Each row starts one element later than the one above. Keep
    the first n - size + 1 = 3 columns: 0 1 2 and 1 2 3.
    """
    ### BEGIN SOLUTION
    *front, n = x.shape
    rows, count = math.prod(front), n - size + 1
    x = x.reshape(rows, 1, n).expand(rows, size + 1, n).reshape(rows, (size + 1) * n)
    x = x.shrink((0, rows), (0, size * (n + 1))).reshape(rows, size, n + 1)
    return x.shrink((0, rows), (0, size), (0, count)).reshape(*front, size, count)
    ### END SOLUTION


def conv2d(x, weight):
    """Multiply every window of the images by every filter, and add up. No padding, steps of 1.

    x has the shape (batch, channels, height, width), and weight (filters, channels, h, w). The
    result has the shape (batch, filters, height - h + 1, width - w + 1).

    Example: x is (1, 1, 4, 4) and weight is (1, 1, 3, 3). x.windows(3) makes windows along the
    width; its axes are batch, channels, height, j, column. Permute the height to the end, and
    windows(3) makes windows along the height too: batch, channels, j, column, i, row. Now permute
    and reshape x and weight so that the same axes line up, with size 1 where one of them has no
    such axis. Multiply, and sum over channels, i and j.
    """
    ### BEGIN SOLUTION
    batch, channels, height, width = x.shape
    filters, _, h, w = weight.shape
    rows, columns = height - h + 1, width - w + 1
    x = x.windows(w).permute(0, 1, 3, 4, 2).windows(h)  # batch, channels, j, column, i, row
    x = x.permute(0, 1, 4, 2, 5, 3).reshape(batch, 1, channels, h, w, rows, columns)
    weight = weight.reshape(1, filters, channels, h, w, 1, 1)
    return (x * weight).sum(2, 3, 4)
    ### END SOLUTION


for _function in (__matmul__, windows, conv2d):
    method(_function)


@method
def log_softmax(x):
    """The logarithm of softmax along the last axis. Subtracting the largest element first keeps the
    exponentials from overflowing, and `detach` keeps gradients out of that subtraction."""
    x = x - x.detach().max(-1, keepdim=True)
    return x - x.exp().sum(-1, keepdim=True).log()
