# %% guesses
((10, 20, 4), (30, 30, 4), (10, 20, 3), (10, 20, 2), (10, 10, 4))

# %% asked again, each line
'10 20 4'  # no commas; thought right

# %% right, each line
([10], [20], [4])  # lists of one; thought too odd
