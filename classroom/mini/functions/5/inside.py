"""Hint: Along one axis: `before` zeros, then `size` elements, then `after` zeros. Between which two
indices do the elements lie? How do you say "and" if there is no `and`?
Hint: Two comparisons for each axis, and all of them have to hold. True counts as 1 and False as
0, in Python, in NumPy and in a graph. What does `*` do with those?
Because: A product of 0s and 1s is 1 only if all of them are: an "and" that works for numbers,
arrays and nodes. The comparisons are written with `<` alone, as nodes have no `<=`.
"""

# %% wrong: for single numbers only
def inside(index, shape, widths):
    return all(b <= i < b + n for i, n, (b, _) in zip(index, shape, widths))

# %% wrong: says the padding is not masked
def inside(index, shape, widths):
    return True

# %% wrong: says Write `*` for "and"
def inside(index, shape, widths):
    for i, size, (before, _) in zip(index, shape, widths):
        if not before - 1 < i < before + size:
            return False
    return True

# %% right: a product of products
def inside(index, shape, widths):
    return math.prod((i > b - 1) * (i < b + n) for i, n, (b, _) in zip(index, shape, widths))

# %% right
def inside(index, shape, widths):
    condition = 1
    for i, size, (before, after) in zip(index, shape, widths):
        condition = condition * (i > before - 1) * (before + size > i)
    return condition
