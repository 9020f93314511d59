# %% guesses
(
    (True, True, False, False, True),
    (True, True, True, True, True),
    (False, False, False, False, True),
    (True, False, False, False, True),
    (True, True, True, False, True),
)

# %% asked again, each line
"TTFFT"  # letters
{1, 2, 5}  # the rooms that are entered, not five values

# %% right, each line
(True, 1, False, 0, True)  # words and numbers mixed
[1, 1, 0, 0, 1]  # a list, of numbers that stand for True and False
