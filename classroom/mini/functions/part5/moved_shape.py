"""Hint: Seven ops, and hardly any arithmetic: which of them keep the shape, which are handed the
new one, and which three have to work it out?
Hint: PERMUTE picks sizes, SHRINK subtracts, PAD adds. `zip` walks through sizes and widths side by
side. A chain of `if`s is fine, and so is a dict of little functions.
Because: Each op's arg says all there is to know about the result's shape, so no value is needed.
That is why a shape is known before anything is computed.
"""

from typing import Any

from classroom.mini.check import expect, promise

# op, shape, arg, the result's shape, and mistakes
SHAPES: tuple[tuple[str, Any, Any, Any, dict[Any, str]], ...] = (
    ("RESHAPE", (2, 6), (3, 4), (3, 4), {(2, 6): "RESHAPE is given the new shape."}),
    ("EXPAND", (1, 4), (3, 4), (3, 4), {(1, 4): "EXPAND is given the new shape."}),
    ("PERMUTE", (2, 3, 4), (2, 0, 1), (4, 2, 3), {
        (3, 4, 2): "This is the inverse permutation. Axis k of the result is axis order[k] of the "
                   "source.",
        (2, 0, 1): "This is the order of the axes. What are their sizes?",
        (2, 3, 4): "Sizes trade places with their axes."}),
    ("SHRINK", (3, 4), ((1, 3), (0, 4)), (2, 4), {
        (3, 4): "That is where each piece ends. How long is it?"}),
    ("FLIP", (2, 4), (1,), (2, 4), {(1,): "FLIP's arg has the axes to reverse. No size changes."}),
    ("PAD", (3,), ((1, 2),), (6,), {
        (3,): "The zeros count too.", (5,): "The zeros in front count too.",
        (4,): "The zeros behind count too."}),
    ("DETACH", (2, 3), (), (2, 3), {(): "DETACH changes nothing, so it has its source's shape."}),
    ("PAD", (2, 3), ((1, 0), (0, 2)), (3, 5), {}),
    ("PERMUTE", (2, 1, 3, 2), (3, 1, 0, 2), (2, 1, 2, 3), {}),
)  # fmt: skip


@promise("The shape of each of the seven movements")
def shapes(mini) -> None:
    for op, shape, arg, wanted, mistakes in SHAPES:
        said = f"moved_shape(Ops.{op}, {shape}, {arg})"
        got = mini.moved_shape(mini.Ops[op], shape, arg)
        expect(said, tuple(got) if isinstance(got, list) else got, wanted, mistakes)

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
