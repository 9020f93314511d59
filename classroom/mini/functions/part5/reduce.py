"""Hint: The op leaves axes of size 1 behind. When is that wrong, and what can you do to a size of 1
without moving a single number?
Hint: First make the axes honest: none given means all of them, and -1 is the last one (`%` turns
-1 into it). Then build the REDUCE_AXIS node with (op, axes) as its arg. Then, unless they are to
stay, reshape the 1s away.
Because: Axes become numbers from 0 up, in order, so the same reduction is the same node however
it was asked for. Dropping an axis of size 1 is a reshape, and costs nothing.
"""

import itertools
from typing import Any

import numpy as np

from classroom.mini.check import Wrong, describe, expect_values, promise
from classroom.mini.functions.part5.shared import ALL_RULES, AXES, floats

BY_NUMPY: dict[str, Any] = {"ADD": np.sum, "MAX": np.max}


def expect_reduced(mini, name: str, x: np.ndarray, axes: tuple[int, ...], keep: bool) -> None:
    op, by_numpy, other = (
        mini.Ops[name],
        BY_NUMPY[name],
        BY_NUMPY["MAX" if name == "ADD" else "ADD"],
    )
    said = f"reduce(x, Ops.{name}, {axes}, {keep}), where x has the shape {x.shape}"
    got = mini.reduce(mini.Tensor(x).uop, op, axes, keep)
    if not isinstance(got, mini.UOp):
        nothing = " Is there a `return`?" if got is None else ""
        raise Wrong(f"{said} should be a node.{nothing}", said, "a UOp", describe(got))
    wanted = by_numpy(x, axis=axes or None, keepdims=keep)
    if got.shape != wanted.shape:
        text = f"The shape should be {wanted.shape}, and it is {got.shape}."
        if not keep and got.shape == by_numpy(x, axis=axes or None, keepdims=True).shape:
            text = "The reduced axes are still there, with size 1. They stay only with keepdim."
        elif not keep and 1 in x.shape and got.shape == tuple(n for n in wanted.shape if n != 1):
            text = "An axis that wasn't reduced is gone: it had size 1 before, and keeps it."
        elif min(axes, default=0) < 0:
            text = "A negative axis counts from the end: -1 is the last one. " + text
        elif not axes:
            text = "No axes at all means every axis. " + text
        raise Wrong(text, said, f"shape {wanted.shape}", f"shape {got.shape}")
    expect_values(said, mini.Tensor(got).numpy(), wanted, (
        (other(x, axis=axes or None, keepdims=keep),
         "It always does the same op. Which one is it asked to do?"),
    ))  # fmt: skip


@promise("The axes that were reduced are gone", needs=ALL_RULES)
def reduced(mini) -> None:
    for axes in AXES:
        expect_reduced(mini, "ADD", floats(2, 3, 4), axes, False)
    expect_reduced(mini, "ADD", floats(1, 3, 1), (1,), False)


@promise("With keepdim they stay, with size 1", needs=ALL_RULES)
def kept(mini) -> None:
    for axes in AXES:
        expect_reduced(mini, "ADD", floats(2, 3, 4), axes, True)


@promise("The largest, as well as the sum", needs=ALL_RULES)
def of_a_maximum(mini) -> None:
    for axes, keep in itertools.product(AXES, (True, False)):
        expect_reduced(mini, "MAX", floats(2, 3, 4) - 5, axes, keep)

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
