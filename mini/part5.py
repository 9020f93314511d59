"""Stage 5: three kinds of op are enough. Matmul and convolution are movement, `*` and `sum`.

A movement op computes nothing. For each element of its result, it says which element of its source
to read: a little arithmetic on indices. These rules don't care what an index is made of. They get
whole numbers in stage 3's Arrays, NumPy arrays with all the indices at once when a graph is
computed, and loop counters in stage 7.
"""

import math

import numpy as np

import mini.part4b  # (its rows for two ops of this stage have to come first)
from mini.part3 import flat, unflat
from mini.part4 import COMPUTE, SHAPE, Ops, Tensor, UOp, method

# ---- movement: which index of the source? --------------------------------------------------------

MOVES = (Ops.RESHAPE, Ops.PERMUTE, Ops.EXPAND, Ops.SHRINK, Ops.FLIP, Ops.PAD, Ops.DETACH)


def where(condition, x, y):
    """x where the condition is true, and y elsewhere: for numbers, NumPy arrays and UOps."""
    if isinstance(condition, UOp):
        return condition.where(x, y)
    if isinstance(condition, np.ndarray):
        return np.where(condition, x, y)
    return x if condition else y


def moved_shape(op, shape, arg):
    """The shape of the result of a movement op, from the source's shape and the node's arg.

    For RESHAPE and EXPAND, the arg is the new shape. For PERMUTE, it has the source's axis for each
    axis of the result. SHRINK has a (start, end) for each axis, and PAD a (before, after). FLIP has
    the axes to reverse. DETACH changes nothing at all.

    Examples:
    - moved_shape(Ops.SHRINK, (3, 4), ((1, 3), (0, 4))) is (2, 4).
    - moved_shape(Ops.PERMUTE, (2, 3, 4), (2, 0, 1)) is (4, 2, 3).
    """
    ...


def reshape_index(index, shape, new):
    """The element at the same place, if all rows are written one after another.

    Examples:
    - A source of shape (2, 6) becomes new = (3, 4). Index (1, 3) reads (1, 1): both are place 7.
    - A source of shape (12,) becomes new = (3, 2, 2). Index (1, 1, 0) reads (6,).
    """
    ...


def permute_index(index, shape, order):
    """Axis k of the result is axis order[k] of the source.

    Examples:
    - With order = (1, 0), the transpose, index (2, 0) reads (0, 2).
    - With order = (2, 0, 1), a source of shape (2, 3, 4) becomes (4, 2, 3), and index (3, 1, 2)
      reads (1, 2, 3).
    """
    ...


def expand_index(index, shape, new):
    """Axes of size 1 are stretched to the size that they have in `new`, by reading them again.

    Examples:
    - A source of shape (1, 4) becomes new = (3, 4). Index (2, 3) reads (0, 3).
    - A source of shape (2, 1, 3) becomes new = (2, 4, 3). Index (1, 3, 2) reads (1, 0, 2).
    """
    ...


def shrink_index(index, shape, bounds):
    """Keep a part of each axis: bounds has a (start, end) for each of them.

    Examples:
    - bounds = ((1, 3), (0, 4)) keeps rows 1 and 2 and all four columns. Index (0, 2) reads (1, 2).
    - bounds = ((2, 4),) keeps elements 2 and 3. Index (1,) reads (3,).
    """
    ...


def flip_index(index, shape, axes):
    """Reverse these axes, so that the last element comes first.

    Examples:
    - In a source of shape (2, 4) with axes = (1,), index (1, 0) reads (1, 3).
    - With axes = (0, 1), index (1, 0) reads (0, 3).
    """
    ...


def inside(index, shape, widths):
    """PAD puts zeros around its source. Does an index of the result fall on one of its elements?

    widths has a (before, after) for each axis: how many zeros. The parts of the index may be
    numbers, arrays or nodes. Python's `and` and `if` can't handle those, and nodes have `<` and `>`
    but no `<=`.

    Examples:
    - A source of shape (3,) with widths = ((1, 2),) becomes (6,). Indices 1, 2 and 3 are inside,
      and 0, 4 and 5 are not.
    - For shape (2, 2) with widths = ((1, 0), (0, 1)), (1, 0) is inside, (0, 0) and (1, 2) are not.
    """
    ...


def pad_index(index, shape, widths):
    """The index of the source that an index of the result reads.

    Outside, what is read is thrown away and replaced by 0. It has to be there all the same, so any
    element that exists will do. `where(condition, x, y)`, above, chooses for numbers, arrays and
    nodes.

    Examples, for a source of shape (3,) with widths = ((1, 2),):
    - Index (1,) reads (0,), and (3,) reads (2,).
    - Indices (0,), (4,) and (5,) are outside, and may read (0,).
    """
    ...


# op: from an index of the result, the source's shape and the node's arg to an index of the source.
SOURCE_INDEX = {
    Ops.RESHAPE: reshape_index, Ops.PERMUTE: permute_index, Ops.EXPAND: expand_index,
    Ops.SHRINK: shrink_index, Ops.FLIP: flip_index, Ops.PAD: pad_index,
    Ops.DETACH: lambda index, shape, arg: index,
}  # fmt: skip


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


for _op in MOVES:
    SHAPE[_op] = lambda node: tuple(moved_shape(node.op, node.src[0].shape, node.arg))
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
    """x with its axes of size 1 stretched. Any other change of a shape is refused: a ValueError
    that names both shapes. If nothing changes, it is x itself.

    Examples:
    - For x of shape (3, 1), x.expand(3, 4) has the shape (3, 4), and x.expand(3, 1) is x.
    - x.expand(6, 1) raises ValueError: (3, 1) cannot be expanded to (6, 1).
    """
    ...


# x.permute(1, 0), x.shrink((1, 3), (0, 4)), x.flip(0), x.pad((1, 1), (0, 2)), x.detach()
for _op in (Ops.PERMUTE, Ops.SHRINK, Ops.FLIP, Ops.PAD, Ops.DETACH):
    method(lambda x, *arg, op=_op: UOp(op, (x,), arg), _op.name.lower())


# ---- elementwise: all sources get one shape ------------------------------------------------------


def broadcast(*nodes):
    """All nodes, in their order, brought to the same shape. NumPy's rules: shapes are lined up on
    the right, and an axis of size 1 (or one that is missing, on the left) fits any size.

    A constant, of op Ops.CONST, fits every shape as it is.

    Examples:
    - Nodes of shapes (3, 1) and (4,) both become (3, 4).
    - Nodes of shapes (2, 3) and (), a constant: the first stays (2, 3), the constant stays too.
    """
    ...


def alu(x, op, *others):
    return UOp(op, tuple(broadcast(x, *map(x.const, others))))


UOp.alu = alu  # replaces stage 4's, which needs equal shapes


# ---- reduce --------------------------------------------------------------------------------------


def reduce(x, op, axes, keepdim):
    """Reduce a node along some axes, with Ops.ADD or Ops.MAX. No axes at all means every axis.

    The node for it is REDUCE_AXIS, and its arg is (op, axes). It leaves axes of size 1 behind, and
    they should only stay if keepdim is true. A negative axis counts from the end.

    Examples, for x of shape (2, 3, 4):
    - reduce(x, Ops.ADD, (1,), False) has the shape (2, 4), and with keepdim (2, 1, 4).
    - reduce(x, Ops.MAX, (), False) has the shape (), and reduce(x, Ops.ADD, (-1, 0), False) (3,).
    """
    ...


method(lambda x, *axes, keepdim=False: reduce(x, Ops.ADD, axes, keepdim), "sum")
method(lambda x, *axes, keepdim=False: reduce(x, Ops.MAX, axes, keepdim), "max")


@method
def mean(x, *axes):
    """The mean along some axes, given as for `sum`. Without any, it's the mean of everything.

    Examples:
    - For x = [[1, 2], [3, 4]], x.mean() is 2.5.
    - x.mean(0) is [2, 3], and x.mean(-1) is [1.5, 3.5].
    """
    ...


# ---- what comes out of it ------------------------------------------------------------------------


def __matmul__(a, b):
    """The matrix product of shapes (n, k) and (k, m), from what you have. No loops over elements.

    Examples:
    - [[1, 2]] @ [[3], [4]] is [[11]].
    - (2, 3) @ (3, 4) has the shape (2, 4), and its element (0, 0) is row 0 times column 0.
    """
    ...


def windows(x, size):
    """All windows of this size along the last axis: (…, n) becomes (…, size, n - size + 1).

    Column o of the result is the window that starts at element o: element [j, o] is element o + j
    of the row. (It can be done with reshape, expand and shrink alone.)

    Examples:
    - The row 0 1 2 3 with size 2 becomes the two rows 0 1 2 and 1 2 3.
    - (5, 7, 6) with size 3 becomes (5, 7, 3, 4).
    """
    ...


def conv2d(x, weight):
    """Multiply every window of the images by every filter, and add up. No padding, steps of 1.

    x has the shape (batch, channels, height, width), and weight (filters, channels, h, w). The
    result has the shape (batch, filters, height - h + 1, width - w + 1).

    Examples:
    - A weight of shape (1, 1, 1, 1) that holds 2 doubles an image of one channel.
    - For x of shape (2, 3, 6, 7) and weight (4, 3, 3, 2), the result is (2, 4, 4, 6). Its element
      [n, f, y, x0] is the sum of x[n, c, y + i, x0 + j] * weight[f, c, i, j] over c, i and j.
    """
    ...


for _function in (__matmul__, windows, conv2d):
    method(_function)


@method
def log_softmax(x):
    """The logarithm of softmax (exp, divided by the sum of all exp) along the last axis.

    The exponential of 100 is too large for 32 bits, and that of -200 is 0. Neither may spoil it.

    Examples:
    - [0, 0] becomes [-0.6931, -0.6931], and so does [1000, 1000].
    - [0, 200] becomes [-200, 0].
    """
    ...
