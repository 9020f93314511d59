"""Hint: Axis by axis: from which old size may an axis go to which new one? Two cases are fine.
Hint: The number of axes has to be the same, and each size either stays or was 1. If any axis
breaks that, raise ValueError. What's fine becomes an EXPAND node with the new shape as its arg.
Because: Element 0 can be read as often as you like, so 1 may become anything. From 3 to 6 there
is no saying what should be read, so that's refused, with both shapes in the message.
"""

# %% wrong: as in PyTorch, (4,) could become (3, 4), which the rule can't follow
def expand(x, *shape):
    if np.broadcast_shapes(x.shape, shape) != shape:
        raise ValueError(f"{x.shape} cannot be expanded to {shape}")
    return x if x.shape == shape else UOp(Ops.EXPAND, (x,), shape)

# %% wrong: says expand should return x itself
@method
def expand(x, *shape):
    return UOp(Ops.EXPAND, (x,), shape)

# %% wrong: says This should be a ValueError
@method
def expand(x, *shape):
    return x if shape == x.shape else UOp(Ops.EXPAND, (x,), shape)

# %% wrong: says The message should name both shapes
@method
def expand(x, *shape):
    if len(shape) != len(x.shape) or any(a not in (1, b) for a, b in zip(x.shape, shape)):
        raise ValueError("these do not fit")
    return x if shape == x.shape else UOp(Ops.EXPAND, (x,), shape)

# %% wrong: says should be a node. Is there a `return`?
@method
def expand(x, *shape):
    if len(shape) != len(x.shape) or any(a not in (1, b) for a, b in zip(x.shape, shape)):
        raise ValueError(f"{x.shape} cannot be expanded to {shape}")
    x if shape == x.shape else UOp(Ops.EXPAND, (x,), shape)

# %% right
@method
def expand(x, *shape):
    fits = len(shape) == len(x.shape)
    fits = fits and all(a == b or a == 1 for a, b in zip(x.shape, shape))
    if fits:
        return UOp(Ops.EXPAND, (x,), tuple(shape)) if x.shape != tuple(shape) else x
    raise ValueError("no way from " + str(x.shape) + " to " + str(shape))
