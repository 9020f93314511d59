# %% guesses
((0, 0, 2, 1), (2, 0, 0, 0), (2, 0, 2, 1), (0, 0, 1, 0), (2, 2, 2, 1))

# %% asked again, each line
'0 0 2 1'  # a string of four
