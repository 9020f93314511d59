"""Hint: A mean is a sum divided by a number of elements. Which number? Not always all of them.
Hint: The elements of x, shared out among the elements of the sum: the product of one shape,
divided by that of the other. You needn't look at the axes at all.
Because: Each element of the sum adds up as many elements as there are in x per element of the
result. So negative axes, several, and none are right without a thought.
"""

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
