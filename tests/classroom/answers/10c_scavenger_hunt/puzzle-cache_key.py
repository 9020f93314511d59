# %% right, each line
"Compiler.identity"  # where device.py declares it
