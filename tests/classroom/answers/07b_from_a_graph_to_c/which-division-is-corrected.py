# %% guesses
(
    (False, True, False, False),
    (True, True, True, True),
    (False, False, False, False),
    (False, True, False, True),
    (True, True, False, False),
)

# %% asked again, each line
{2}  # the numbers of the lines; not asked

# %% right, each line
np.array([0, 1, 0, 0])  # NumPy, with 1 for True
