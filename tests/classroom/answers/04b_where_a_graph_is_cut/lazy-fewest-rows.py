# %% wrong, each line
31  # says isn't enough rows
64  # says one row fewer does too
1  # says between 2 and 4,096
31.5  # says a whole number
kernels  # a function; measured, so it can be tried again

# %% right, each line
32.0

# %% right: searched with the notebook's own function
def shares(n):
    rows = Tensor.rand(n, 64).realize()
    return rows / rows.sum(axis=1, keepdim=True)

fewest_rows = next(n for n in range(1, 200) if kernels(shares(n)) == 1)
