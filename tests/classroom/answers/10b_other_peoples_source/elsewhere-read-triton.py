# %% shared
def squares(t):
    return (t * t).mean(axis=1, keepdim=True)

# %% wrong, each line
lambda t, w: t / (squares(t) + 1e-6) * w  # says a square root
lambda t, w: t / squares(t).sqrt() * w  # says What does the kernel add before the root
lambda t, w: t.softmax(axis=1) * w  # says x = [[3, 4, 0], [1, -1, 1]]
lambda t, w: (t * w).sum(axis=1)  # says (2, 3)
lambda t, w: t.numpy() * 2  # says has to be a Tensor
lambda x, w: x / (x.square().mean(1) + 1e-6).sqrt() * w  # the means don't meet their rows

# %% wrong: a row of zeros would be NaN
def in_tinyframe(x, w):
    return x / x.square().mean(-1, keepdim=True).sqrt() * w

# %% right, each line
lambda t, w: w * t * (squares(t) + 1e-6).rsqrt()

# %% right: as nn.RMSNorm is written in PyTorch
def in_tinyframe(x, w):
    return x.square().mean(-1, keepdim=True).add(1e-6).rsqrt() * x * w
