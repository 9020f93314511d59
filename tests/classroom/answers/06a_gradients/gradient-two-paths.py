# %% guesses
((6, 2), (5, 2), (2, 5), (6, 3), (5, 1))

# %% asked again, each line
6  # one number of two
{'a': 6, 'b': 2}  # a dict is no pair

# %% right, each line
'6, 2'  # typed as text
np.array([6, 2])  # an array
