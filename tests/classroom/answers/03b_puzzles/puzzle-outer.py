# %% wrong, each line
lambda a, b: a.unsqueeze(1) * b  # not among the tools
lambda a, b: a.reshape(1, -1) * b.reshape(-1, 1)  # a row for each of b

# %% right, each line
lambda a, b: a.reshape(-1, 1) @ b.reshape(1, -1)  # a product of matrices
lambda a, b: (a[None] * b[:, None]).T  # transposed twice
