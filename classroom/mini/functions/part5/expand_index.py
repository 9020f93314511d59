"""Hint: If an axis of the source has one element, which is the only index along it that you may
read? And along all other axes?
Hint: Go through the index and the source's shape side by side. Each part is one of two things,
and the size decides. That `if` is allowed: a size is always a plain number, only the index may be
something else.
Because: An axis of size 1 is read at 0 over and over again. So a row becomes a table of a million
equal rows, for nothing.
"""

from classroom.mini.functions.part5.shared import of_rule

example, numbers, arrays, nodes = of_rule(
    "EXPAND", shape=(1, 4), arg=(3, 4), index=(2, 3), wanted=(0, 3),
    more=(((2, 1, 3), (2, 4, 3)), ((1, 1), (2, 2))),
    mistakes={
        (2, 3): "Row 2 does not exist in a source with one row. An axis of size 1 is read at 0.",
        (0, 0): "Only axes of size 1 are read at 0. The last axis has 4 elements.",
        (2, 0): "It's the other way round: axis 0 is the one with size 1.",
    },
)  # fmt: skip

# %% wrong: min asks arrays for a truth
def expand_index(index, shape, new):
    return tuple(min(i, n - 1) for i, n in zip(index, shape))

# %% wrong: says Row 2 does not exist in a source with one row
def expand_index(index, shape, new):
    return index

# %% wrong: says This index is outside of the source
def expand_index(index, shape, new):
    return (0, *index[1:])

# %% right: a remainder by 1 is 0, and by the size it changes nothing
def expand_index(index, shape, new):
    return tuple(i % n for i, n in zip(index, shape))
