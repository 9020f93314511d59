# %% wrong, each line
lambda a: a[::-1]  # a negative step

# %% right: a mask and a sum for the product
def flip(a):
    n = len(a)
    return ((Tensor.arange(n)[:, None] + Tensor.arange(n) == n - 1) * a).sum(1)
