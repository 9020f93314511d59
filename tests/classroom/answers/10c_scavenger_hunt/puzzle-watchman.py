# %% right, each line
"SPEC=1 python train.py"  # how one would use it
