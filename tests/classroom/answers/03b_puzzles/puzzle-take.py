# %% wrong, each line
lambda a, index: a.gather(0, index)  # gather is no tool

# %% right, each line
lambda a, index: ((index[:, None] == Tensor.arange(len(a))) * a).sum(axis=1)  # a mask and a sum
lambda a, index: a[index]  # as the text says, with 19 ops
