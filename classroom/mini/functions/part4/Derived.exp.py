

# %% wrong: says This is 2**x
def exp(x):
    return x.exp2()
