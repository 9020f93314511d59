# %% guesses
((5, 10, 20), (15, 500, 500_000), (29, 999, 999_999), (6, 11, 21), (4, 9, 19))

# %% asked again, each line
5  # one number for three

# %% right, each line
[int(np.ceil(np.log2(n))) for n in (30, 1e3, 1e6)]  # logarithms, rounded up
