# %% guesses
((1, 1, 2, 1, 2), (1, 2, 2, 1, 2), (3, 2, 2, 2, 2), (1, 1, 1, 1, 1))

# %% wrong, each line
(2, 2, 2, 2, 2)  # PyTorch's habit, rounded down

# %% right, each line
[1, 1, 2, 1, 2]  # a list
