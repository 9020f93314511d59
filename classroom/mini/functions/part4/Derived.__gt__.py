

# %% wrong: says it says 1. That's >=
def __gt__(x, y):
    return 1 - (x < y)
