# %% wrong, each line
lambda v: v.sum()  # says counts once
lambda v: v.sum() * 3  # says multiplies or divides
lambda v: v.flip(0).cumsum(0).sum()  # says reversed
lambda v: v.cumsum(0)  # says a single number
lambda v: v.detach().cumsum(0).sum()  # says detach()
lambda v: (v.cumsum(0).sum(),)  # a tuple is no Tensor
lambda v: (v * v.detach() / v.detach()).cumsum(0).sum()  # multiplies and divides
lambda v: v.cumsum(0).sum() + 100  # has the gradient, but it's no total of elements of v
lambda v: v.reshape(1, -1).expand(v.shape[0], -1).triu().sum()  # the other triangle: 1, 2, 3

# %% right, each line
lambda v: sum(v[: k + 1].sum() for k in range(v.shape[0]))  # a sum of sums
lambda v: v.flip(0).pad(((0, 1),)).flip(0).cumsum(0).sum()  # the padding is a zero in front, which counts for nothing (I had it at the other end)
