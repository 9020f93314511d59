"""Hint: Seven ops, and hardly any arithmetic: which of them keep the shape, which are handed the new
one, and which three have to work it out?
Hint: PERMUTE picks sizes, SHRINK subtracts, PAD adds. `zip` walks through sizes and widths side
by side. A chain of `if`s is fine, and so is a dict of little functions.
Because: Each op's arg says all there is to know about the result's shape, so no value is needed.
That is why a shape is known before anything is computed.
"""

# %% wrong: says should be (2, 4), and it is ((1, 3), (0, 4))
def moved_shape(op, shape, arg):
    return tuple(shape[axis] for axis in arg) if op is Ops.PERMUTE else arg

# %% right
def moved_shape(op, shape, arg):
    rules = {
        Ops.RESHAPE: lambda: arg,
        Ops.EXPAND: lambda: arg,
        Ops.PERMUTE: lambda: [shape[axis] for axis in arg],
        Ops.SHRINK: lambda: [end - start for start, end in arg],
        Ops.PAD: lambda: [size + sum(width) for size, width in zip(shape, arg)],
    }
    return rules.get(op, lambda: shape)()

# %% right
def moved_shape(op, shape, arg):
    empty = np.zeros(shape)
    return {
        Ops.RESHAPE: lambda: empty.reshape(arg),
        Ops.EXPAND: lambda: np.broadcast_to(empty, arg),
        Ops.PERMUTE: lambda: empty.transpose(arg),
        Ops.SHRINK: lambda: empty[tuple(slice(*pair) for pair in arg)],
        Ops.PAD: lambda: np.pad(empty, arg),
    }.get(op, lambda: empty)().shape
