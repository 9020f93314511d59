# %% guesses
(
    (False, True, False, False),
    (False, False, False, False),
    (True, True, True, True),
    (False, True, True, True),
)

# %% wrong, each line
(False, True, True, False)  # addition commutes, nodes don't

# %% asked again, each line
'F T F F'  # letters without commas; thought right

# %% right, each line
[0, 1, 0, 0]  # 0 and 1 for False and True
