"""Hint: What are the bounds of x + y, if you know those of x and y? And of x * y, if x may be
negative? At which of the four corners is the smallest value?
Hint: CONST, RANGE and MOD are known by themselves. For the rest, `product(*map(bounds,
node.src))` gives all corners, one number of each source; ALU[op] computes each; and the smallest
and the largest of these are the answer.
Because: These ops rise or fall in each of their sources, as long as the others stay put, so their
extremes are at corners. `%` goes up and down, so it gets a case of its own.
"""

# %% wrong: says a RANGE of size 4 never gets to 4
@cache
def bounds(node):
    if node.op is Ops.RANGE:
        return 0, node.arg[1]
    return 0, 0

# %% wrong: says They may be too wide, never too narrow
@cache
def bounds(node):
    if node.op is Ops.CONST:
        return node.arg, node.arg
    if node.op is Ops.RANGE:
        return 0, node.arg[1] - 1
    if node.op is Ops.MOD:
        x, c = map(bounds, node.src)
        return x if x[1] < c[0] else (0, c[0] - 1)
    ends = [int(ALU[node.op](*corner)) for corner in product(*map(bounds, node.src))]
    return min(ends), max(ends)

# %% right: narrower remainders, as in 7.6
def bounds(node):
    if node.op is Ops.CONST:
        return node.arg, node.arg
    if node.op is Ops.RANGE:
        return 0, node.arg[1] - 1
    if node.op is Ops.MOD:
        low, high = bounds(node.src[0])
        c = node.src[1].arg
        return (low % c, high % c) if low // c == high // c else (0, c - 1)
    ends = [int(ALU[node.op](a, b)) for a in bounds(node.src[0]) for b in bounds(node.src[1])]
    return min(ends), max(ends)

# %% right
@cache
def bounds(node):
    if node.op is Ops.CONST:
        return [node.arg, node.arg]
    if node.op is Ops.RANGE:
        return [0, node.arg[1] - 1]
    ((a, b), (c, d)) = (bounds(source) for source in node.src)
    if node.op is Ops.ADD:
        return [a + c, b + d]
    if node.op is Ops.MUL:
        corners = sorted([a * c, a * d, b * c, b * d])
        return [corners[0], corners[-1]]
    if node.op is Ops.IDIV:
        corners = sorted([a // c, a // d, b // c, b // d])
        return [corners[0], corners[-1]]
    if node.op is Ops.MAX:
        return [max(a, c), max(b, d)]
    if node.op is Ops.MOD:
        return [a, b] if 0 <= a and b < c else [0, c - 1]
    return [int(b < c), int(a < d)]
