# %% wrong, each line
lambda a: a.sum(axis=0)  # says takes 1 kernel
lambda a: a.sum(axis=1) / a.sum()  # says size
lambda a: (a.sum(axis=0) / a.sum()).contiguous()  # says CONTIGUOUS

# %% wrong: the same three kernels, with a name
def one_less(a):
    columns = a.sum(axis=0)
    return columns / columns.sum()

# %% wrong: the cuts are the scheduler's
def one_less(a):
    return (a.sum(axis=0) / a.sum(axis=0).sum()).fuse()

# %% wrong: two kernels, but of shape (1, 64)
def one_less(a):
    return a.sum(axis=0, keepdim=True) / a.sum()

# %% right, each line
lambda a: (a / a.sum()).sum(axis=0)

# %% right: means, and their number of columns
def one_less(a):
    return a.mean(0) / a.mean() / len(a.T)
