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

# %% right: a remainder is always inside; what is read there is thrown away
def pad_index(index, shape, widths):
    return tuple((i - b) % n for i, n, (b, _) in zip(index, shape, widths))

# %% right
def pad_index(index, shape, widths):
    condition = inside(index, shape, widths)
    return tuple(where(condition, i - before, size - 1)
                 for i, size, (before, _) in zip(index, shape, widths))
