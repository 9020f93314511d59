

# %% wrong: says `__pow__`: one element is nan
def __pow__(x, n):
    return (x.log() * n).exp()

# %% wrong: says `__pow__`: Element (0,) should be 0.25
def __pow__(x, n):
    power = x
    for _ in range(int(n) - 1):
        power = power * x
    return power
