# %% wrong, each line
lambda a: Tensor(sorted(a.tolist()))  # Python sorts

# %% right: a mask and a sum for the product
def sort(a):
    n = len(a)
    rank = (a < a[:, None]).sum(axis=1)
    return ((rank == Tensor.arange(n)[:, None]) * a).sum(axis=1)
