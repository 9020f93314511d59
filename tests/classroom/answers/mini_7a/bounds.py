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
