# %% right, each line
"MOST_ADDITIONS = 512"  # the name and what it is
