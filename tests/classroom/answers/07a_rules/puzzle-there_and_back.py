# %% wrong, each line
Variable('i', -100, 100).cast(dtypes.float).cast(dtypes.int)  # small ints survive

# %% right, each line
Variable('i', 2**24, 2**24 + 1).cast(dtypes.float).cast(dtypes.int)  # the first int that a float can't hold
