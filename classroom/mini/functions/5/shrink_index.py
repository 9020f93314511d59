"""Hint: Result element 0 along an axis: which element of the source is it?
Hint: Everything is shifted by where the kept piece starts. Where it ends makes no difference to
the index.
Because: Element 0 of the result is element `start` of the source, and the rest follows. The end
matters for the shape only.
"""

# %% wrong: says You added end
def shrink_index(index, shape, bounds):
    return tuple(i + end for i, (_, end) in zip(index, bounds))

# %% right
def shrink_index(index, shape, bounds):
    return tuple(map(lambda i, bound: bound[0] + i, index, bounds))
