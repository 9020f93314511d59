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
