

# %% wrong: says This is y / 6
def __rtruediv__(x, y):
    return x / y
