# %% shared
from tinyframe.codegen.optimize.loops import Opt, OptOps
VECTOR, UPCAST, REORDER = OptOps.VECTOR, OptOps.UPCAST, OptOps.REORDER
ASKED = [Opt(VECTOR, 1, 16), Opt(UPCAST, 0, 4), Opt(REORDER, (1, 0, 2)), Opt(OptOps.THREAD, 0)]

# %% wrong, each line
ASKED[:1]  # says Along y, there should be loops of 12 and 4
[Opt(OptOps.STAGE, 0, 2)]  # says something else than loops
[Opt(VECTOR, 7, 16)]  # says there is no axis 7
4  # says list of Opts

# %% wrong: Halide's unroll isn't ours, which is for sums
like_halide = [Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.UNROLL, 0, 4)]
like_halide += [Opt(OptOps.REORDER, (1, 0, 2)), Opt(OptOps.THREAD, 0)]

# %% right, each line
ASKED

# %% right: reordered in between
like_halide = [Opt(OptOps.VECTOR, 1, 16), Opt(OptOps.REORDER, (1, 0, 2))]
like_halide += [Opt(OptOps.UPCAST, 1, 4), Opt(OptOps.THREAD, 0)]
