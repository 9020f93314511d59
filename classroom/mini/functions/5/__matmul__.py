"""Hint: Element [i, j] of the product is a sum over k of a[i, k] * b[k, j]. So you want one table
with three axes, i, j and k, and a sum. What shape does `a` need so that it fits?
Hint: `a` needs an axis of size 1 where j goes, `b` one where i goes. `*` broadcasts the two. Mind
the order of the axes of `b`: if you want k last, you have to permute, and not reshape.
Because: All n * m * k products are one elementwise `*`, and the sum over k does the rest. That's
all a matrix product is: movement, one multiplication, one sum.
"""

# %% wrong, changed: says b was only reshaped
-     return (a.reshape(n, 1, k) * b.permute(1, 0).reshape(1, m, k)).sum(2)
+     return (a.reshape(n, 1, k) * b.reshape(1, m, k)).sum(2)

# %% wrong: says was computed at once
def __matmul__(a, b):
    return Tensor(Tensor(a).numpy() @ Tensor(b).numpy()).uop

# %% wrong, changed: says should be a node. Is there a `return`?
-     return (a.reshape(n, 1, k) * b.permute(1, 0).reshape(1, m, k)).sum(2)
+     (a.reshape(n, 1, k) * b.permute(1, 0).reshape(1, m, k)).sum(2)

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
