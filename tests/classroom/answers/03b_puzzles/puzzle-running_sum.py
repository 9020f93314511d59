# %% wrong, each line
lambda a: a.cumsum(0)  # without cumsum

# %% right: a mask and a sum for the product
def running_sum(a):
    n = len(a)
    return (a * (Tensor.arange(n)[:, None] >= Tensor.arange(n))).sum(axis=1)
