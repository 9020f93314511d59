# %% guesses
((1, 2, 2, 1), (1, 1, 1, 1), (2, 2, 2, 2), (1, 1, 2, 2), (2, 1, 1, 2))

# %% asked again, each line
'1221'  # a string
