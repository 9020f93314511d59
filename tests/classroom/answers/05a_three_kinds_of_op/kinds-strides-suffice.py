# %% guesses
(
    (True, True, True, False, True, False),
    (True, True, True, True, True, True),
    (True, True, False, False, False, False),
    (True, True, True, True, False, False),
)

# %% wrong, each line
(True, True, False, False, True, False)  # 0 is a stride

# %% asked again, each line
'T T T F T F'  # no commas; thought right
