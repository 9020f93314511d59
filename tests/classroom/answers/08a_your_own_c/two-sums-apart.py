# %% shared
LARGE = 2.0**24
SUM = [LARGE, *[1.0] * 30, -LARGE]

# %% wrong, each line
[1.0] * 30  # says Your C should say 0.
[LARGE, 1.0, -LARGE]  # says 20 or more
[LARGE * 64, *[4.0] * 5, -LARGE * 64]  # says as much of it as your C
[LARGE, *[1.0] * 200, -LARGE]  # says have to be enough
[1e40, 1.0, -1e40]  # says finite
"numbers"  # says a list of numbers
[2**24, -(2**24), *[1] * 30]  # C says 30, too
LARGE  # says a list of numbers

# %% right, each line
SUM
(x for x in [2**25] + [1] * 30 + [-(2**25)])  # a generator
