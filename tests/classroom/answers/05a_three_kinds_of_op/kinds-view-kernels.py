# %% guesses
((0, 1), (6, 7), (1, 1), (1, 2))

# %% asked again, each line
(False, True)  # truths for counts

# %% right, each line
'0, 1'  # text
