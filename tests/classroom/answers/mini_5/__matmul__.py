# %% wrong: says b was only reshaped
def __matmul__(a, b):
    (n, k), (_, m) = a.shape, b.shape
    return (a.reshape(n, 1, k) * b.reshape(1, m, k)).sum(2)

# %% wrong: says was computed at once
def __matmul__(a, b):
    return Tensor(Tensor(a).numpy() @ Tensor(b).numpy()).uop

# %% wrong: says should be a node. Is there a `return`?
def __matmul__(a, b):
    (n, k), (_, m) = a.shape, b.shape
    (a.reshape(n, 1, k) * b.permute(1, 0).reshape(1, m, k)).sum(2)

# %% right: b lines up on the right by itself
def __matmul__(a, b):
    return (a.reshape(*a.shape, 1) * b).sum(1)

# %% right
def __matmul__(a, b):
    (n, k), (_, m) = a.shape, b.shape
    total = 0
    for j in range(k):
        total = a.shrink((0, n), (j, j + 1)) * b.shrink((j, j + 1), (0, m)) + total
    return total
