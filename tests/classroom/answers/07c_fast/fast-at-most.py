# %% shared
def operations(m, n, k):
    return 2 * m * n * k

def least(operations, nbytes, roof):
    return operations / roof.flops, nbytes / roof.bandwidth

# %% wrong, each line
lambda o, b, s, roof: max(least(o, b, roof))  # says the least time
lambda o, b, s, roof: o / s  # says has to be the time
least  # says TypeError

# %% right, each line
lambda o, b, s, roof: min(s * roof.flops / o, s * roof.bandwidth / b)

# %% right: how much of each limit is used
def at_most(operations, nbytes, seconds, roof):
    used = operations / seconds / roof.flops, nbytes / seconds / roof.bandwidth
    return 1 / max(used)
