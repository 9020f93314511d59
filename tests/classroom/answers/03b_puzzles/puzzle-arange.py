# %% wrong, each line
lambda n: Tensor(list(range(n)))  # Python's list, not tensors

# %% right, each line
lambda n: Tensor.ones(n).cumsum(dim=0) - 1  # dim
lambda n: Tensor.ones(n).cumsum(0) - Tensor.ones(n)  # ones for the 1
