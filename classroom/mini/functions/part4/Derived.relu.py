

# %% wrong: says This is the absolute value
def relu(x):
    return x.maximum(-x)
