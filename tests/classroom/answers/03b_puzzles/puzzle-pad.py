# %% wrong, each line
lambda a, n: (Tensor.arange(n) < len(a)).where(a.expand(n), 0)  # expand stretches an axis of size 1 only, so this raises

# %% right: the matrix that picks
def pad(a, n):
    return (Tensor.arange(n)[:, None] == Tensor.arange(len(a))) @ a
