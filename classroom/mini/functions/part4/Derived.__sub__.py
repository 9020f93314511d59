

# %% wrong: says This is y - x
def __sub__(x, y):
    return x.const(y) + -x

# %% wrong: says should be a node. Is there a `return`?
def __sub__(x, y):
    x + y * -1
