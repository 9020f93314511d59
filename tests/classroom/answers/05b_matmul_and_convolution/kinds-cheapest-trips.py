# %% shared
def trips(a, b):
    return a[:, :, None] + b

# %% wrong, each line
lambda a, b: a @ b  # says the matrix product
lambda a, b: trips(a, b).contiguous().min(axis=1)  # says 2 kernels; it should take 1

# %% wrong: a soft minimum
def cheapest(a, b):
    return -((-a).unsqueeze(2) - b.unsqueeze(0)).logsumexp(1)

# %% right, each line
lambda a, b: -(-trips(a, b)).max(axis=1)

# %% right: airport by airport, still one kernel
def cheapest(a, b):
    best = a[:, :1] + b[:1]
    for k in range(1, len(b)):
        best = best.minimum(a[:, k : k + 1] + b[k : k + 1])
    return best
