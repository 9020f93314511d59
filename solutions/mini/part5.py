"""Stage 5: three kinds of op are enough. Matmul and convolution are movement, `*` and `sum`.

A movement op computes nothing. It says which element of its source an element of its result is, by
arithmetic on indices. Those rules do not care what an index is made of: whole numbers here and in
stage 3, NumPy arrays of all indices at once when a graph is computed, loop counters in stage 7.
"""

import math

import numpy as np

from mini.part3 import flat, unflat
from mini.part4 import COMPUTE, SHAPE, Ops, Tensor, UOp, method

# ---- movement: which index of the source? --------------------------------------------------------

# The shape of the result, from the shape of the source and the arg of the node.
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

# The index of the source, from the index of the result, the source's shape, and the node's arg.
SOURCE_INDEX = {Ops.DETACH: lambda index, shape, arg: index}


def index_rule(op):
    """Puts the function below it into SOURCE_INDEX, as the row of an op."""

    def add(function):
        SOURCE_INDEX[op] = function
        return function

    return add


def where(condition, x, y):
    """x where the condition holds, else y: for numbers, for NumPy arrays and for UOps."""
    if isinstance(condition, UOp):
        return condition.where(x, y)
    return np.where(condition, x, y) if isinstance(condition, np.ndarray) else x if condition else y


@index_rule(Ops.RESHAPE)
def reshape_index(index, shape, new):
    """The same place in the list of all elements, in a different shape.

    Example: from the shape (2, 6) to new = (3, 4), index (1, 3) is place 7 of the new shape, and
    place 7 of the old one is (1, 1).
    """
    ### BEGIN SOLUTION
    return unflat(flat(index, new), shape)
    ### END SOLUTION


@index_rule(Ops.PERMUTE)
def permute_index(index, shape, order):
    """Axis k of the result is axis order[k] of the source.

    Example: from the shape (2, 3, 4) by order = (2, 0, 1) comes the shape (4, 2, 3). Its index
    (3, 1, 2) is (1, 2, 3) of the source: the 3 belongs to source axis 2, the 1 to axis 0, the 2 to
    axis 1.
    """
    ### BEGIN SOLUTION
    return tuple(index[order.index(axis)] for axis in range(len(shape)))
    ### END SOLUTION


@index_rule(Ops.EXPAND)
def expand_index(index, shape, new):
    """Along an axis of size 1 of the source, every index reads element 0. The others stay.

    Example: from the shape (1, 4) to new = (3, 4), index (2, 3) reads (0, 3).
    """
    ### BEGIN SOLUTION
    return tuple(0 if size == 1 else i for i, size in zip(index, shape, strict=True))
    ### END SOLUTION


@index_rule(Ops.SHRINK)
def shrink_index(index, shape, bounds):
    """bounds has a (start, end) for each axis. What is kept begins at start.

    Example: with bounds = ((1, 3), (0, 4)), index (0, 2) reads (1, 2).
    """
    ### BEGIN SOLUTION
    return tuple(i + start for i, (start, _) in zip(index, bounds, strict=True))
    ### END SOLUTION


@index_rule(Ops.FLIP)
def flip_index(index, shape, axes):
    """Along these axes, the last element comes first.

    Example: in the shape (2, 4) with axes = (1,), index (1, 0) reads (1, 3).
    """
    ### BEGIN SOLUTION
    return tuple(
        size - 1 - i if axis in axes else i
        for axis, (i, size) in enumerate(zip(index, shape, strict=True))
    )
    ### END SOLUTION


def inside(index, shape, widths):
    """PAD: whether the source has an element at this index of the result; else there is a 0.

    widths has a (before, after) for each axis. Use `*` for "and" and `<` to compare, as in
    (x < y) * (y < z): Python's `and` works on single numbers only, and these may be arrays.

    Example: a source of shape (3,) with widths = ((1, 2),) gives the shape (6,). Indices 1, 2 and 3
    are inside, and 0, 4 and 5 are not.
    """
    ### BEGIN SOLUTION
    condition = True
    for i, size, (before, _) in zip(index, shape, widths, strict=True):
        condition = condition * (before - 1 < i) * (i < before + size)
    return condition
    ### END SOLUTION


@index_rule(Ops.PAD)
def pad_index(index, shape, widths):
    """The index of the source; and where that has no element, one that it has: all zeros.

    What is read there is thrown away, but it must not be read outside of the memory.
    `where(condition, x, y)` chooses, and knows what an index is made of.

    Example: a source of shape (3,) with widths = ((1, 2),): index 3 reads 2, and 0, 4 and 5 read 0.
    """
    ### BEGIN SOLUTION
    condition = inside(index, shape, widths)
    return tuple(
        where(condition, i - before, 0) for i, (before, _) in zip(index, widths, strict=True)
    )
    ### END SOLUTION


def gather(node, values):
    """The values of a movement node: its rule, given the indices of all elements at once.

    Example: a PERMUTE of the shape (2, 3) by (1, 0). Its shape is (3, 2), so `indices` is the
    array of all row numbers [[0], [1], [2]] and that of all column numbers [[0, 1]]; the rule swaps
    them; and NumPy reads values[[[0, 1]], [[0], [1], [2]]], which is the whole transpose.
    """
    shape = node.src[0].shape
    indices = tuple(np.indices(node.shape, sparse=True))
    found = values[SOURCE_INDEX[node.op](indices, shape, node.arg)]
    if node.op is Ops.PAD:
        found = np.where(inside(indices, shape, node.arg), found, np.float32(0))
    return np.broadcast_to(found, node.shape)


for _op in MOVED_SHAPE:
    SHAPE[_op] = lambda node: MOVED_SHAPE[node.op](node.src[0].shape, node.arg)
    COMPUTE[_op] = gather


@method
def reshape(x, *shape):
    """-1 stands for the size that is left over."""
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
    """The nodes, all in one shape: shapes are compared from the right, and an axis of size 1 gives
    way to one of any size. A shape that is too short gets axes of size 1 on the left.

    Constants (op CONST) fit every shape, and stay as they are.

    Example: shapes (3, 1) and (4,). The second becomes (1, 4) by reshape, then both become (3, 4)
    by expand.
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


UOp.alu = alu  # in place of the one that wants equal shapes


# ---- reduce --------------------------------------------------------------------------------------

REDUCE = {Ops.ADD: np.sum, Ops.MAX: np.max}
SHAPE[Ops.REDUCE_AXIS] = lambda node: tuple(
    1 if axis in node.arg[1] else size for axis, size in enumerate(node.src[0].shape)
)
COMPUTE[Ops.REDUCE_AXIS] = lambda node, values: REDUCE[node.arg[0]](
    values, axis=node.arg[1], keepdims=True
)


def reduce(x, op, axes, keepdim):
    """REDUCE_AXIS leaves axes of size 1; unless they are to be kept, a reshape drops them."""
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
    """The matrix product of shapes (n, k) and (k, m): movement, `*` and sum, and no op of its own.

    Example: (2, 3) @ (3, 4). Reshape and permute until `a` is (2, 1, 3) and `b` is (1, 4, 3). Their
    product, (2, 4, 3), has every row of `a` times every column of `b`. Its sum over axis 2 is
    (2, 4).
    """
    ### BEGIN SOLUTION
    (n, k), (_, m) = a.shape, b.shape
    return (a.reshape(n, 1, k) * b.permute(1, 0).reshape(1, m, k)).sum(2)
    ### END SOLUTION


def windows(x, size):
    """Every window of this size along the last axis: (…, n) becomes (…, size, n - size + 1).

    Element [j, o] of the result is element o + j of the row: window o is column o.

    Example: the row 0 1 2 3 and size 2. Write it size + 1 = 3 times: 0 1 2 3 0 1 2 3 0 1 2 3. Keep
    the first size * (n + 1) = 10 of them and cut them every n + 1 = 5: 0 1 2 3 0 and 1 2 3 0 1. A
    cut that is one too late moves each row by one. Keep the first n - size + 1 = 3 columns: 0 1 2
    and 1 2 3. Reshape, expand and shrink do all that.
    """
    ### BEGIN SOLUTION
    *front, n = x.shape
    rows, count = math.prod(front), n - size + 1
    x = x.reshape(rows, 1, n).expand(rows, size + 1, n).reshape(rows, (size + 1) * n)
    x = x.shrink((0, rows), (0, size * (n + 1))).reshape(rows, size, n + 1)
    return x.shrink((0, rows), (0, size), (0, count)).reshape(*front, size, count)
    ### END SOLUTION


def conv2d(x, weight):
    """Every window of the images, times every filter, summed: no padding, a step of 1.

    x: (batch, channels, height, width). weight: (filters, channels, h, w). Gives the shape
    (batch, filters, height - h + 1, width - w + 1).

    Example: x (1, 1, 4, 4) and weight (1, 1, 3, 3). The axes of x.windows(3), which cuts along the
    width, are batch, channels, height, j, column. Move the height to the end, and windows(3) cuts
    along that: batch, channels, j, column, i, row. Now bring the axes of x and weight into one
    order, with a size of 1 where one of them lacks an axis; multiply; sum over channels, i and j.
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
    """The logarithm of softmax along the last axis. The largest element is taken off first, so that
    no exponential overflows; `detach` says that no gradient goes that way."""
    x = x - x.detach().max(-1, keepdim=True)
    return x - x.exp().sum(-1, keepdim=True).log()
