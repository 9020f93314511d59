# %% shared
def three(waves):
    return [(waves * k).sum() for k in (2, 3, 4)]

# %% wrong, each line
lambda u: three(u.sin().exp())  # says each sine 3 times
lambda u: three(u.sin().exp().realize())  # says run already
lambda u: three(u.sin().contiguous())  # says times 2
lambda u: u.sin().exp().contiguous().sum()  # says list of three

# %% wrong: the common sum is not stored by anyone
def three_cheaper_sums(u):
    total = u.sin().exp().sum()
    return [total * k for k in (2, 3, 4)]

# %% wrong: the function runs something
def three_cheaper_sums(u):
    waves = u.sin().exp().realize()
    return [(waves * k).sum() for k in (2, 3, 4)]

# %% right, each line
lambda u: three(u.sin().contiguous().exp())

# %% right: thought wrong: a slice is a view, so the first one realizes all of `totals`
def three_cheaper_sums(u):
    totals = Tensor([2.0, 3.0, 4.0]) * u.sin().exp().sum()
    return [totals[0], totals[1], totals[2]]
