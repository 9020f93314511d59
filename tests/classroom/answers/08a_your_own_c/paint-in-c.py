# %% shared
from classroom.mini import own_c

# %% wrong, each line
lambda x, y: (x * 9).log() * (y * 9 + x).exp() - x * y * x * y  # NaN

# %% wrong: says from top to bottom
def stripes(x, y):
    for _ in range(6):
        x = (x * x - 0.3).maximum(-1) * 2
    return x
stripes

# %% wrong: says take 10 or more
def plane(x, y):
    return x + y
plane

# %% wrong: says One kernel
def sum_first(x, y):
    return (own_c.julia(x, y) - own_c.julia(x, y).max()) * x
sum_first

# %% wrong: says numbers already
def numbers(x, y):
    return own_c.julia(x, y).realize()
numbers

# %% wrong: says a picture in your formula already
import numpy as np
def photograph(x, y):
    noise = own_c.module("part8").Tensor(np.random.default_rng(1).random(x.shape))
    return own_c.julia(x, y) + noise
photograph

# %% wrong: says no number, or infinite
def runs_away(x, y):
    a = x
    for _ in range(30):
        a = a * a + 2 + y
    return a
runs_away

# %% wrong: says a Tensor of mini
def of_numpy(x, y):
    return own_c.julia(x, y).numpy()
of_numpy

# %% wrong: says the shape of `x`
def one_number(x, y):
    return own_c.julia(x, y).sum()
one_number

# %% wrong: says blows up roundings
def chaos(x, y):
    x = (x + y).exp() / 10
    for _ in range(30):
        x = x * 3.99 - x * x * 3.99
    return x
chaos

# %% right, each line
own_c.julia

# %% right
def rings(x, y):
    d = (x * x + y * y).sqrt() * 12
    for _ in range(6):
        d = (d - 1).maximum(1 - d)  # folded again and again
    return d * x.exp()
rings
