"""Hint: For an index inside, where in the source is it? For one outside there is nothing to read,
but something *will* be read there. What is always safe?
Hint: You wrote the condition above, and `where` chooses between two things, also for arrays and
nodes. Whether an index is inside depends on all axes, so ask once, and use the answer for each
axis.
Because: Outside, element 0 is read and thrown away: NumPy would take -1 for the last element, and
C would read whatever lies beside the memory.
"""

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

# %% right
def pad_index(index, shape, widths):
    condition = inside(index, shape, widths)
    return tuple(where(condition, i - before, size - 1)
                 for i, size, (before, _) in zip(index, shape, widths))
