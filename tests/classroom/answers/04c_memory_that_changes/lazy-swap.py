# %% shared
def exchanged(x, y, kept):
    x.assign(y)
    y.assign(kept)
    return x, y

# %% wrong, each line
lambda x, y: (y, x)  # says in the other order
lambda x, y: (x, y)  # says Nothing has changed
lambda x, y: (x * 1, y * 1)  # says returns a new Tensor
lambda x, y: x  # says the two Tensors `x` and `y`

# %% wrong: NumPy's classic: by the second assignment, x has changed
def swap(x, y):
    x[:], y[:] = y, x
    return x, y

# %% wrong: two names, and nothing changed
def swap(x, y):
    return y, x

# %% right, each line
lambda x, y: exchanged(x, y, x + 0)

# %% right
def by_arithmetic(x, y):
    x.assign(x + y)
    y.assign(x - y)
    x.assign(x - y)
    return x, y
lambda x, y: by_arithmetic(x, y)

# %% right: nothing is copied, and a view of x has y's values, too
def swap(x, y):
    x.uop, y.uop = y.uop, x.uop
    return x, y
