"""Hint: Result element 0 along an axis: which element of the source is it?
Hint: Everything is shifted by where the kept piece starts. Where it ends makes no difference to
the index.
Because: Element 0 of the result is element `start` of the source, and the rest follows. The end
matters for the shape only.
"""

from classroom.mini.functions.part5.shared import of_rule

example, numbers, arrays, nodes = of_rule(
    "SHRINK", shape=(3, 4), arg=((1, 3), (0, 4)), index=(0, 2), wanted=(1, 2),
    more=(((5, 3), ((2, 4), (1, 3))), ((4,), ((0, 1),))),
    mistakes={
        (-1, 2): "You subtracted start. Element 0 of the result is element `start` of the source.",
        (0, 2): "What is kept begins at start, not at 0.",
        (3, 6): "You added end. What is kept begins at start.",
    },
)  # fmt: skip

# %% wrong: says You added end
def shrink_index(index, shape, bounds):
    return tuple(i + end for i, (_, end) in zip(index, bounds))

# %% right
def shrink_index(index, shape, bounds):
    return tuple(map(lambda i, bound: bound[0] + i, index, bounds))
