# %% shared
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.uop import Ops, UOp
x, y, z, v = (UPat.var(name) for name in "xyzv")
PLAIN = {Ops.ADD: lambda p, q: p + q, Ops.SUB: lambda p, q: p - q, Ops.MUL: lambda p, q: p * q,
         Ops.MAX: max, Ops.MOD: lambda p, q: p % q}
def corners(op, x, y):
    values = [PLAIN[op](p, q) for p in x for q in y]
    return min(values), max(values)

def by_cases(op, x, y):
    (a, b), (low, high) = x, y
    if op is Ops.ADD:
        return [a + low, b + high]
    if op is Ops.SUB:
        return [a - high, b - low]
    if op is Ops.MAX:
        return [max(a, low), max(b, high)]
    if op is Ops.MUL:
        products = sorted([a * low, a * high, b * low, b * high])
        return products[0], products[3]
    return (0, low - 1) if a // low != b // low else (float(a % low), float(b % low))

# %% wrong, each line
corners  # says has to be wider
lambda op, x, y: (-1000, 1000)  # says wider than it has to be
lambda op, x, y: 3  # says a pair of numbers

# %% wrong: 3 to 4 modulo 4 is 3, 0: smallest and largest have changed places
def bounds(op, x, y):
    if op is Ops.MOD:
        n = y[0]
        return (0, n - 1) if x[1] - x[0] >= n else (x[0] % n, x[1] % n)
    how = {Ops.ADD: lambda a, b: a + b, Ops.SUB: lambda a, b: a - b, Ops.MUL: lambda a, b: a * b,
           Ops.MAX: max}[op]
    found = [how(a, b) for a in x for b in y]
    return min(found), max(found)

# %% right, each line
by_cases

# %% right: ops by their names, and no more remainders than there are
import operator

def bounds(op, x, y):
    how = {"ADD": operator.add, "SUB": operator.sub, "MUL": operator.mul, "MAX": max}
    if op.name in how:
        found = [how[op.name](a, b) for a in x for b in y]
    else:
        found = [v % y[0] for v in range(x[0], min(x[1], x[0] + y[0]) + 1)]
    return min(found), max(found)
