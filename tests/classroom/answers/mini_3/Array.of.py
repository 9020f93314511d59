# %% wrong: the list itself in place of a function
def of(values, *shape):
    return Array(shape, values)

# %% wrong: says You counted a row as 1 element
@staticmethod
def of(values, *shape):
    return Array(shape, lambda index: values[index[0]])

# %% right: strides worked out once
def of(values, *shape):
    strides = [prod(shape[k + 1:]) for k in range(len(shape))]
    return Array(shape, lambda i: values[sum(a * s for a, s in zip(i, strides))])

# %% right: torch.tensor copies
def of(values, *shape):
    copy = tuple(values)
    return Array(tuple(shape), lambda index: copy[flat(index, shape)])
