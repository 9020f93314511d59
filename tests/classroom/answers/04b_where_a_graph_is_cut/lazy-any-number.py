# %% shared
from tinyframe import Tensor

# %% wrong, each line
lambda a, n: a / a.sum()  # says takes 2 kernels; it should take 1
lambda a, n: a @ a  # says products are ruled out
lambda a, n: ((a + 1).contiguous() + 1).contiguous() + 1  # says CONTIGUOUS
lambda a, n: a * Tensor.rand(*a.shape)  # says Random
lambda a, n: (a / a.sum()).realize() + 1  # says A kernel has run already
lambda a, n: Tensor.ones(5) + 1  # says `a` isn't in your expression

# %% wrong: n sums, none of which waits for another
def exactly(a, n):
    return sum(((a + k).sum(axis=k % 2, keepdim=True) for k in range(n)), a)

# %% right
def means(a, n):
    for k in range(n):
        a = a * (a + a.mean(axis=k % 2, keepdim=True)).sqrt()
    return a
lambda a, n: means(a, n)

# %% right: softmax down, then across, then down
def exactly(a, n):
    t = a
    for k in range(n):
        t = t.softmax(k % 2)
    return t
