# %% wrong: says one element is nan. It is the wrong way round where numbers get large
def tanh(x):
    e = (x * 2).exp()
    return (e - 1) / (e + 1)

# %% wrong: says infinity is multiplied by 0
def tanh(x):
    return 2 / ((x * -2).exp() + 1) - 1

# %% wrong: says should give a node. Is there a `return`?
def tanh(x):
    2 / ((x.maximum(-9) * -2).exp() + 1) - 1
