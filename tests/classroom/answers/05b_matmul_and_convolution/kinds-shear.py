# %% shared
from tinyframe import Tensor
def sheared(x):
    n, m = x.shape
    padded = x.pad(((0, 0), (0, n))).reshape(n * (n + m))
    return padded[: n * (n + m - 1)].reshape(n, n + m - 1)

# %% wrong, each line
lambda x: sheared(x.T)  # says columns move down
lambda x: x.pad(((0, 0), (0, len(x) - 1)))  # says not in the right places
lambda x: sheared(Tensor(x.numpy() + 0).realize())  # says copies of the numbers

# %% wrong: says Movement alone
def sheared_by_choosing(x):
    """Right values, but a kernel computes them."""
    n, m = x.shape
    place = Tensor.arange(n + m - 1) - Tensor.arange(n)[:, None]
    chosen = (place[:, :, None] == Tensor.arange(m)).where(x[:, None], 0)
    return chosen.sum(axis=2)
sheared_by_choosing

# %% wrong: putting rows together takes a kernel
def shear(x):
    n, m = x.shape
    return Tensor.stack(*[x[i].pad((i, n - 1 - i)) for i in range(n)])

# %% wrong: the shape isn't
def shear(x):
    n, m = x.shape
    return x.pad(((0, 0), (0, n - 2))).reshape(-1)

# %% right, each line
lambda x: sheared(x).flip(0).flip(0)

# %% right: every window of the padded rows, and the diagonal of them
def shear(x):
    n, m = x.shape
    seen = x.pad(((0, 0), (n - 1, n - 1))).unfold(1, n + m - 1, 1)
    return seen.reshape(n * n, n + m - 1)[n - 1 :: n - 1][:n]
