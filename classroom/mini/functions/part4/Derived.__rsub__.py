

# %% wrong: says This is x - 1
def __rsub__(x, y):
    return x + -1 * x.const(y)
