# %% wrong, each line
lambda n: Tensor.eye(n)  # that is the tool one is to make
Tensor.eye  # not even a function of one's own

# %% right, each line
lambda n: Tensor.arange(n) == Tensor.arange(n).reshape(n, 1)  # turned

# %% right: not more and not less is equal
def eye(n):
    i = Tensor.arange(n)
    return ((i[:, None] <= i) & (i[:, None] >= i)).where(1, 0)
