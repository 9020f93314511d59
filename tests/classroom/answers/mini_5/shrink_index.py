# %% wrong: says You added end
def shrink_index(index, shape, bounds):
    return tuple(i + end for i, (_, end) in zip(index, bounds))

# %% right
def shrink_index(index, shape, bounds):
    return tuple(map(lambda i, bound: bound[0] + i, index, bounds))
