# %% guesses
((2, 15), (1, 15), (5, 15), (2, 1), (2, 0), (2, 10))

# %% asked again, each line
15  # one number of two

# %% right, each line
[2, 15]  # a list
(2.0, np.int64(15))  # whole numbers all the same
