# %% guesses
(4, 0, 8, 3, 5)

# %% asked again, each line
'the upper half'  # words

# %% right, each line
8 // 2  # computed
