# %% shared
from tinyframe import Tensor
def padded_sums(x, size):
    half = size // 2
    return x.pad((half, half)).unfold(0, size, 1).sum(axis=1)

# %% wrong, each line
lambda x, size: x.unfold(0, size, 1).sum(axis=1) / size  # says shape
lambda x, size: x.reshape(1, 1, 1, -1).avg_pool2d((1, size))  # says uses `avg_pool2d`
padded_sums  # says These are sums

# %% wrong: says 3 kernels; it should take 1
def stored_average(x, size):
    counts = padded_sums(Tensor.ones(x.shape[0]), size).contiguous()
    return padded_sums(x, size).contiguous() / counts
stored_average

# %% wrong: PyTorch has a switch for that; thought right, and the exercise now rules pooling out
def average(x, size):
    half = size // 2
    return x.reshape(1, 1, -1).avg_pool1d(
        size, stride=1, padding=half, count_include_pad=False
    ).flatten()

# %% wrong: zeros drag the mean down
def average(x, size):
    return x.pad((size // 2, size // 2)).unfold(0, size, 1).mean(1)

# %% wrong: the last number counts several times
def average(x, size):
    half = size // 2
    return x.pad((half, half), mode="replicate").unfold(0, size, 1).mean(1)

# %% wrong: slices as in Python, one mean for each: many kernels
def average(x, size):
    return Tensor.stack(
        *[x[max(0, i - size // 2) : i + size // 2 + 1].mean() for i in range(len(x))]
    )

# %% right, each line
lambda x, size: padded_sums(x, size) / padded_sums(x * 0 + 1, size)

# %% right
def average_by_counting(x, size):
    """How many cells exist, from the place alone."""
    i, half, n = Tensor.arange(len(x)), size // 2, len(x)
    first = (i - half > 0).where(i - half, 0)
    last = (i + half < n - 1).where(i + half, n - 1)
    return padded_sums(x, size) / (last - first + 1)
average_by_counting
