

# %% wrong: says one element is nan. It is the wrong way round where numbers get large
def tanh(x):
    e = (x * 2).exp()
    return (e - 1) / (e + 1)

# %% wrong, changed: says infinity is multiplied by 0
# -     x = x.maximum(-9)  # beyond that, 32 bits can't tell it from -1, and exp overflows

# %% wrong: says should give a node. Is there a `return`?
def tanh(x):
    2 / ((x.maximum(-9) * -2).exp() + 1) - 1
