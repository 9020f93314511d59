# %% wrong, each line
[Opt(OptOps.UPCAST, 0, 8), Opt(OptOps.VECTOR, 1, 8)]  # the order is different, too

# %% right: a copy with one number changed
import dataclasses
opts = [Opt(OptOps.VECTOR, 1, 8), Opt(OptOps.UPCAST, 0, 4)]
opts = [opts[0], dataclasses.replace(opts[1], arg=8)]
