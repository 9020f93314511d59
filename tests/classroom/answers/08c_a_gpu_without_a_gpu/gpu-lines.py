# %% guesses
((2, 4, 1), (1, 4, 1), (2, 1, 1), (2, 4, 32), (1, 1, 1), (2, 3, 1))

# %% right, each line
np.array([2, 4, 1])  # an array
