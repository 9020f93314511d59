# %% guesses
((0, 30, 0), (0, 0, 0), (0, 100, 0), (30, 30, 0), (0, 30, 100))

# %% asked again, each line
30  # one number for three

# %% right, each line
np.array([0, 30, 0])  # an array for a tuple
