

# %% wrong: says This is x >= y
def eq(x, y):
    return 1 - (x < y)

# %% wrong: says should be a node
def eq(x, y):
    return float(x is y)

# %% right
def eq(x, y):
    return ((x < y) + (x > y) < 1)
