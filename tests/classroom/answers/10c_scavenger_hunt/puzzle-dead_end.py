# %% wrong, each line
"WHERE"  # both branches get some

# %% right, each line
"Ops.BITCAST"  # bits have no slope
