# %% wrong, each line
{"relaxed": 1, "noopt": 0}  # settings are in capitals

# %% right, each line
{"RELAXED": 1, "NOOPT": False}  # False for 0
