# %% guesses
("same", "right", "other")

# %% asked again, each line
'wrong'  # not one of the three words

# %% right, each line
'SAME'  # capital letters
