

# %% wrong: says This has too few digits: ln(2) is 0.6931472
def log(x):
    return x.log2() * 0.6931
