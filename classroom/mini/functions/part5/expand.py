"""Hint: Axis by axis: from which old size may an axis go to which new one? Two cases are fine.
Hint: The number of axes has to be the same, and each size either stays or was 1. If any axis
breaks that, raise ValueError. What's fine becomes an EXPAND node with the new shape as its arg.
Because: Element 0 can be read as often as you like, so 1 may become anything. From 3 to 6 there
is no saying what should be read, so that's refused, with both shapes in the message.
"""

import numpy as np

from classroom.mini.check import Wrong, describe, expect_values, promise
from classroom.mini.functions.part5.shared import ALL_RULES, floats


@promise("Axes of size 1 are stretched", needs=ALL_RULES)
def stretched(mini) -> None:
    for x, new in ((floats(3, 1), (3, 4)), (floats(1, 2, 1), (3, 2, 4)), (floats(2, 3), (2, 3))):
        said = f"x.expand{new}, where x has the shape {x.shape}"
        got = mini.Tensor(x).uop.expand(*new)
        if not isinstance(got, mini.UOp):
            raise Wrong(f"{said} should be a node. Is there a `return`?", said)
        expect_values(said, mini.Tensor(got).numpy(), np.broadcast_to(x, new))
    x = mini.Tensor(floats(3, 1)).uop
    if x.expand(3, 1) is not x:
        raise Wrong("If nothing changes, expand should return x itself, and no new node.",
                    "x.expand(3, 1) is x", True, False)  # fmt: skip


@promise("Any other change of shape is a ValueError that names both shapes", needs=ALL_RULES)
def refused(mini) -> None:
    for shape, new in (((3, 1), (6, 1)), ((2, 3), (2, 4)), ((3,), (3, 3)), ((2, 3), (2, 1))):
        said = f"x.expand{new}, where x has the shape {shape}"
        x = mini.Tensor(np.zeros(shape)).uop
        try:
            got = x.expand(*new)
        except ValueError as error:
            if str(shape) in str(error) and str(new) in str(error):
                continue
            raise Wrong("The message should name both shapes, to help find the mistake.", said,
                        f"… {shape} … {new} …", str(error)) from error  # fmt: skip
        raise Wrong("This should be a ValueError: only axes of size 1 can be stretched, and there "
                    "are as many axes afterwards as before.", said, "ValueError",
                    describe(got))  # fmt: skip

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
