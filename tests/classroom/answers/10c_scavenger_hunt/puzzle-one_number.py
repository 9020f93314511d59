# %% wrong, each line
("RECOMPUTE_LIMIT", "100")  # text for a number

# %% right, each line
("RECOMPUTE_LIMIT", float("inf"))  # never too often
