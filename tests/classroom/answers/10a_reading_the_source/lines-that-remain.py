# %% guesses
(
    (True, False, False, False, True, True, True),
    (True, True, True, True, True, True, True),
    (True, True, False, False, True, False, True),
    (True, False, False, False, True, False, True),
    (True, False, True, False, True, True, True),
)

# %% asked again, each line
[True, False, False, False, True, True]  # six of seven

# %% right, each line
(1, 0, 0, 0, 1, 1, 1)  # numbers for True and False
