# %% shared
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.codegen.optimize.plans import Nest
VECTOR, UPCAST = OptOps.VECTOR, OptOps.UPCAST
def backwards(k, loops):
    """The first loop along which something is read backwards."""
    return next((r for r in loops for x in k.table.reads if x.step(r) == -1), None)

def mirrored(k, op=VECTOR, lanes=None, loops=None):
    r = backwards(k, k.around if loops is None else loops)
    return None if r is None else Nest(((op, r, lanes or k.lanes),))

# %% wrong, each line
lambda k: Nest(((VECTOR, k.around[0], k.lanes),))  # says whose step isn't -1
lambda k: mirrored(k, lanes=4)  # says `k.lanes`
lambda k: mirrored(k, op=UPCAST)  # says no vectors
lambda k: mirrored(k, loops=k.loops)  # says not along its results
lambda k: backwards(k, k.around)  # says has to be a Nest

# %% wrong: says along the loop of the reduction
def along_the_sum(k):
    if backwards(k, k.around) is None:
        return None
    (r,) = [r for r in k.loops if r not in k.around]
    return Nest(((VECTOR, r, k.lanes),))
along_the_sum

# %% wrong: the right kernels, and vectors along whichever loop comes first
from tinyframe.codegen.optimize.plans import Nest

def mirrored(k):
    if any(x.step(r) == -1 for r in k.around for x in k.table.reads):
        return Nest(tiles=((OptOps.VECTOR, k.around[0], k.lanes),))
    return None

# %% wrong: only looks at the last loop; of a transposed picture it's the first that goes backwards
from tinyframe.codegen.optimize.plans import Nest

def mirrored(k):
    r = k.around[-1]
    if any(x.step(r) == -1 for x in k.table.reads):
        return Nest(tiles=((OptOps.VECTOR, r, k.lanes),))

# %% right, each line
mirrored

# %% right: a list of tiles
from tinyframe.codegen.optimize.plans import Nest


def mirrored(k):
    backwards = {r: [x for x in k.table.reads if x.step(r) == -1] for r in k.around}
    for r, reads in backwards.items():
        if reads:
            return Nest(tiles=[(OptOps.VECTOR, r, k.lanes)])
