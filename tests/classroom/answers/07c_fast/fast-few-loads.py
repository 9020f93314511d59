# %% shared
from tinyframe.codegen.optimize.loops import Opt, OptOps
VECTOR, UPCAST = OptOps.VECTOR, OptOps.UPCAST
EIGHT = Opt(VECTOR, 1, 8)
def rows(n):
    return Opt(UPCAST, 0, n)

def vectors(n):
    return Opt(UPCAST, 1, n)

# %% wrong, each line
[]  # says one number at a time
[EIGHT]  # says Too many loads
[EIGHT, vectors(8), rows(8)]  # says more registers than there are
[Opt(VECTOR, 5, 8)]  # says there is no axis 5
6  # says list of Opts
(6, 2)  # says list of Opts
[eight, Opt(OptOps.UPCAST, 1, 2), Opt(OptOps.UPCAST, 0, 2), Opt(OptOps.UPCAST, 1, 3)]  # two rows of six vectors have few loads, and take 20 registers
[six_rows, Opt(OptOps.VECTOR, -1, 8), Opt(OptOps.UPCAST, 1, 2)]  # an axis -1, as in NumPy, is one that there isn't

# %% right, each line
(EIGHT, rows(4), vectors(3))

# %% right
def opts_of(h, w):
    tile = [*([vectors(w)] if w > 1 else []), *([rows(h)] if h > 1 else [])]
    return [EIGHT, *tile]
opts_of(5, 2)
