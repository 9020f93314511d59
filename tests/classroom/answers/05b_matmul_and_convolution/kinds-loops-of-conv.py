# %% guesses
(7, 6, 4, 3)

# %% asked again, each line
'7 loops'  # a word in it; thought right

# %% right, each line
4 + 3  # a sum
