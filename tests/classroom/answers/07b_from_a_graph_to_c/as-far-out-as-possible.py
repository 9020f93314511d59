# %% shared
from tinyframe.uop import Ops, UOp
def counters(u, closes=True):
    if u.op is Ops.RANGE:
        return {u}
    found = set().union(*(counters(s, closes) for s in u.src))
    return found - set(u.src[1:]) if closes and u.op is Ops.REDUCE else found

def deepest(u, nest, closes=True):
    return max((nest.index(r) + 1 for r in counters(u, closes)), default=0)

# %% wrong, each line
lambda u, nest: 0  # says inside its own loop
lambda u, nest: counters(u)  # says a whole number

# %% wrong: says returns nothing here
def nothing_for_constants(u, nest):
    if u.op is not Ops.CONST:
        return deepest(u, nest)
nothing_for_constants

# %% wrong: says uses `ranges`
def by_asking(u, nest):
    return max((nest.index(r) + 1 for r in u.ranges), default=0)
by_asking

# %% wrong: what uses the sum gets its counters back
def loops_around(u, nest):
    below = set(u.toposort()) - (set(u.src[1:]) if u.op is Ops.REDUCE else set())
    return max((n for n, r in enumerate(nest, 1) if r in below), default=0)

# %% right, each line
deepest

# %% right
from functools import cache, reduce
def by_depth(u, nest):
    """Depths of sources, without sets; a REDUCE leaves its own loops."""

    @cache
    def depth(u):
        if u.op is Ops.RANGE:
            return nest.index(u) + 1
        found = max((depth(s) for s in u.src), default=0)
        return found - (len(u.src) - 1) if u.op is Ops.REDUCE else found

    return depth(u)
by_depth
