# %% shared
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.uop import Ops, UOp
x, y, z, v = (UPat.var(name) for name in "xyzv")
c, d = UPat.cvar("c"), UPat.cvar("d")
def two_limits(t):
    return t.maximum(1).maximum(2)

def limits(v, c, d):
    return v.alu(Ops.MAX, v.const_like(max(c.arg, d.arg)))

LIMITS = (v.alu(Ops.MAX, c).alu(Ops.MAX, d), limits)

# %% wrong, each line
(two_limits, (v.alu(Ops.MAX, c), lambda v, c: v))  # says changed the result
(two_limits, (v + v, lambda v: v * 2))  # says never fired
(lambda t: t + t, (v + v, lambda v: v * 2))  # says isn't any smaller
(lambda t: t * 2 * 4, (v * c, lambda v, c: v * c * 1))  # says never comes to an end
two_limits  # says two things
(two_limits, lambda v: v)  # says A row has to be a pair

# %% wrong: says it would also fire here
PRODUCT = (v * c * d, lambda v, c, d: v * (c.arg * d.arg))
(lambda t: t * 2 * 4, PRODUCT)

# %% wrong: 5 * 2**-149, halved and quartered, is rounded twice, to 0; an eighth of it is 2**-149
def own():
    power = lambda n: 2.0**-20 <= n.arg <= 1 and n.arg.hex().startswith("0x1.0000000000000p")
    e = UPat.cvar("e")
    row = (v * c * e, lambda v, c, e: v * (c.arg * e.arg) if power(c) and power(e) else None)
    return lambda t: t / 2 / 4, row

# %% right, each line
(two_limits, LIMITS)

# %% right
def exact_product(v, c, d):
    good = c.arg >= 1 and d.arg >= 1 and all(a.hex().split("p")[0] == "0x1.0000000000000"
                                             for a in (c.arg, d.arg))
    return v * (c.arg * d.arg) if good and c.arg * d.arg < 1e30 else None
(lambda t: t * 2 * 4, PatternMatcher([(v * c * d, exact_product)]))
