# %% wrong: says This is the sum
@method
def mean(x, *axes):
    return x.sum(*axes)

# %% right: the ratio of the numbers of elements
@method
def mean(x, *axes):
    total = x.sum(*axes)
    return total * (math.prod(total.shape) / math.prod(x.shape))

# %% right
@method
def mean(x, *axes):
    axes = axes or range(len(x.shape))
    return x.sum(*axes) / math.prod(x.shape[axis] for axis in axes)
