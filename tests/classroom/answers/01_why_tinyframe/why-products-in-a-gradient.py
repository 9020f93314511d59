# %% guesses
(3708, 103, 36, 3709)

# %% asked again, each line
3,708  # to Python, that's a pair

# %% right, each line
sum(36 for _ in range(103))  # computed in place of typed
