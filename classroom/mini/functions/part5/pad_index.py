"""Hint: For an index inside, where in the source is it? For one outside there is nothing to read,
but something *will* be read there. What is always safe?
Hint: You wrote the condition above, and `where` chooses between two things, also for arrays and
nodes. Whether an index is inside depends on all axes, so ask once, and use the answer for each
axis.
Because: Outside, element 0 is read and thrown away: NumPy would take -1 for the last element, and
C would read whatever lies beside the memory.
"""

from classroom.mini.check import Wrong, expect, promise
from classroom.mini.functions.part5.shared import (
    NO_IF,
    NO_SUCH_OPERATOR,
    is_index,
    on_arrays,
    on_nodes,
)

PADS = [((3,), ((1, 2),)), ((2, 3), ((1, 0), (0, 2))), ((2, 2), ((0, 0), (1, 1)))]


@promise("Inside, the index is moved by `before`")
def moved_by_before(mini) -> None:
    got = tuple(mini.pad_index((i,), (3,), ((1, 2),)) for i in (1, 2, 3))
    expect("[pad_index((i,), (3,), ((1, 2),)) for i in (1, 2, 3)]", got, ((0,), (1,), (2,)), {
        ((2,), (3,), (4,)): "You added `before`. Element 0 of the source is at index `before`.",
        ((1,), (2,), (3,)): "The index hasn't changed. Element 0 of the source is at `before`.",
    })  # fmt: skip


@promise("Outside, nothing is read that is not there", needs=("inside",))
def nothing_outside(mini) -> None:
    for i in (0, 4, 5):
        said = f"pad_index(({i},), (3,), ((1, 2),))"
        got = mini.pad_index((i,), (3,), ((1, 2),))
        is_index(said, got, 1)
        if not 0 <= got[0] < 3:
            raise Wrong(f"The source has no element {got[0]}. NumPy would take -1 to mean the last "
                        "one, and C would read whatever is in memory there. If the index isn't "
                        "inside, read element 0.", said, "(0,)", got)  # fmt: skip


@promise("All indices at once, and zeros around", needs=("inside", "moved_shape"),
        told={ValueError: NO_IF})  # fmt: skip
def padded(mini) -> None:
    for shape, widths in PADS:
        on_arrays(mini, "PAD", shape, widths)


@promise("Loop counters, which are nodes", needs=("inside",), told={TypeError: NO_SUCH_OPERATOR})
def padded_nodes(mini) -> None:
    for shape, widths in PADS:
        on_nodes(mini, "PAD", shape, widths)

# %% wrong: clip is for NumPy only
def pad_index(index, shape, widths):
    return tuple(np.clip(i - b, 0, n - 1) for i, n, (b, _) in zip(index, shape, widths))

# %% wrong: says The source has no element -1
def pad_index(index, shape, widths):
    return tuple(i - before for i, (before, _) in zip(index, widths))

# %% wrong: says You added `before`
def pad_index(index, shape, widths):
    return tuple(i + before for i, (before, _) in zip(index, widths))

# %% wrong: says Python's `if`, `and`, `or`, `min` and `max` need a single number
def pad_index(index, shape, widths):
    return tuple(min(max(i - before, 0), n - 1)
                 for i, n, (before, _) in zip(index, shape, widths))

# %% wrong: says An index of the source is a tuple of 1
def pad_index(index, shape, widths):
    if not np.all(inside(index, shape, widths)):
        return 0
    return tuple(i - before for i, (before, _) in zip(index, widths, strict=True))

# %% wrong: says but for loop counters with these values it gives
def pad_index(index, shape, widths):
    condition = inside(index, shape, widths)

    def chosen(i, before):
        if isinstance(condition, np.ndarray):
            return np.where(condition, i - before, 0)
        return i - before if condition else 0

    return tuple(chosen(i, before) for i, (before, _) in zip(index, widths, strict=True))

# %% right: a remainder is always inside; what is read there is thrown away
def pad_index(index, shape, widths):
    return tuple((i - b) % n for i, n, (b, _) in zip(index, shape, widths))
