# %% guesses
((1, 5, 1), (1, 1, 1), (5, 5, 5), (1, 5, 5))

# %% asked again, each line
(1, 5)  # two numbers for three

# %% right, each line
[1.0, 5.0, 1.0]  # floats in a list
