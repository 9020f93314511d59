"""Hint: The op leaves axes of size 1 behind. When is that wrong, and what can you do to a size of 1
without moving a single number?
Hint: First make the axes honest: none given means all of them, and -1 is the last one (`%` turns
-1 into it). Then build the REDUCE_AXIS node with (op, axes) as its arg. Then, unless they are to
stay, reshape the 1s away.
Because: Axes become numbers from 0 up, in order, so the same reduction is the same node however
it was asked for. Dropping an axis of size 1 is a reshape, and costs nothing.
"""

# %% wrong: squeeze: other axes of size 1 go, too
def reduce(x, op, axes, keepdim):
    axes = axes or tuple(range(len(x.shape)))
    y = UOp(Ops.REDUCE_AXIS, (x,), (op, axes))
    return y if keepdim else y.reshape(*(size for size in y.shape if size != 1))

# %% wrong: says The reduced axes are still there
def reduce(x, op, axes, keepdim):
    return UOp(Ops.REDUCE_AXIS, (x,), (op, axes))

# %% wrong: says It always does the same op
def reduce(x, op, axes, keepdim):
    rank = len(x.shape)
    axes = tuple(axis % rank for axis in axes) or tuple(range(rank))
    result = UOp(Ops.REDUCE_AXIS, (x,), (Ops.ADD, axes))
    kept = [size for axis, size in enumerate(x.shape) if axis not in axes]
    return result if keepdim else result.reshape(*kept)

# %% wrong: says should be a node. Is there a `return`?
def reduce(x, op, axes, keepdim):
    result = UOp(Ops.REDUCE_AXIS, (x,), (op, axes or tuple(range(len(x.shape)))))
    if keepdim:
        return result

# %% right: a range knows negative places, and refuses axes that don't exist
def reduce(x, op, axes, keepdim):
    kept = range(len(x.shape))
    axes = tuple(sorted({kept[axis] for axis in axes} or set(kept)))
    y = UOp(Ops.REDUCE_AXIS, (x,), (op, axes))
    return y if keepdim else y.reshape(*(x.shape[axis] for axis in kept if axis not in axes))

# %% right
def reduce(x, op, axes, keepdim):
    # one axis at a time
    rank = len(x.shape)
    todo = sorted(axis % rank for axis in axes) or range(rank)
    for axis in todo:
        x = UOp(Ops.REDUCE_AXIS, (x,), (op, (axis,)))
    return x if keepdim else x.reshape(*(n for k, n in enumerate(x.shape) if k not in todo))
