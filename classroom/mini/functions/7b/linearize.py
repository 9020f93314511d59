"""Hint: Imagine the finished loops on paper. How many loops are open around a LOAD, if you know how
many are open around what it needs? And where does everything go that needs a sum?
Hint: Give each node a depth: the largest depth of its sources; a RANGE has its place in the nest,
plus one. Collect what comes after the inner loops (STOREs, and what needs a REDUCE). Then write
level by level: the RANGE that opens it, the nodes of that depth, and, at the level of the last
outer loop, the DEFINE_REGs.
Because: A value's depth is that of the innermost counter in it, so nothing is repeated in a loop
that it doesn't depend on. Sums need a place before, inside and after their loop.
"""

# %% shared
def in_order(sink):
    nodes = sink.toposort()[:-1]
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    inner = list(reduces[0].src[1:]) if reduces else []
    loops = [node for node in nodes if node.op is Ops.RANGE and len(node.arg) == 2]
    outer = sorted(set(loops) - set(inner), key=lambda counter: counter.arg[0])
    nest = outer + inner
    depth, last = {}, set()  # in how many loops a node is; what comes after the inner loops
    for node in nodes:
        depth[node] = max((depth[source] for source in node.src), default=0)
        if node in nest:
            depth[node] = nest.index(node) + 1
        elif node.op is Ops.STORE or any(s.op is Ops.REDUCE or s in last for s in node.src):
            last.add(node)
    elsewhere = {*last, *reduces, *(n for n in nodes if n.op in (Ops.CONST, Ops.RANGE))}
    lines = []
    for level in range(len(nest) + 1):
        lines += nest[level - 1 : level] if level else []
        lines += [node for node in nodes if depth[node] == level and node not in elsewhere]
        if level == len(outer):
            lines += [UOp(Ops.DEFINE_REG, (node,)) for node in reduces]
    lines += reduces + [UOp(Ops.ENDRANGE, (counter,)) for counter in reversed(inner)]
    lines += [node for node in nodes if node in last]
    return lines + [UOp(Ops.ENDRANGE, (counter,)) for counter in reversed(outer)]

# %% wrong: everything in the innermost loop, and no DEFINE_REG
def linearize(sink):
    nodes = [n for n in sink.toposort() if n.op not in (Ops.SINK, Ops.CONST)]
    inner = {r for n in nodes if n.op is Ops.REDUCE for r in n.src[1:]}
    ranges = sorted((n for n in nodes if n.op is Ops.RANGE), key=lambda r: (r in inner, r.arg[0]))
    rest = [n for n in nodes if n.op is not Ops.RANGE]
    return [*ranges, *rest, *(UOp(Ops.ENDRANGE, (r,)) for r in reversed(ranges))]

# %% wrong: says should give a list of nodes
def linearize(sink):
    return None

# %% wrong: says 4 needs no line
def linearize(sink):
    return sink.toposort()

# %% wrong: says is never closed
def linearize(sink):
    return [node for node in sink.toposort()[:-1] if node.op is not Ops.CONST]

# %% wrong: says closed in the opposite order
def linearize(sink):
    *lines, one, other = in_order(sink)
    return [*lines, other, one]

# %% wrong: says It would be repeated for nothing
def linearize(sink):
    return sorted(in_order(sink), key=lambda node: node.op is not Ops.RANGE)

# %% wrong: says the sum would start again from 0
def linearize(sink):
    lines = []
    for node in in_order(sink):
        lines += [UOp(Ops.DEFINE_REG, (node,))] if node.op is Ops.REDUCE else []
        lines += [node] if node.op is not Ops.DEFINE_REG else []
    return lines

# %% wrong: says each result has a sum of its own
def linearize(sink):
    return sorted(in_order(sink), key=lambda node: node.op is not Ops.DEFINE_REG)

# %% wrong: says needs its DEFINE_REG
def linearize(sink):
    return [node for node in in_order(sink) if node.op is not Ops.DEFINE_REG]

# %% wrong: says needs the result of the REDUCE
def linearize(sink):
    lines = in_order(sink)
    for n in [n for n, node in enumerate(lines) if node.op is Ops.REDUCE]:
        lines[n + 1], lines[n + 2] = lines[n + 2], lines[n + 1]
    return lines

# %% wrong: says nested by their numbers
def linearize(sink):
    nodes = sink.toposort()[:-1]
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    inner = list(reduces[0].src[1:]) if reduces else []
    loops = [node for node in nodes if node.op is Ops.RANGE and len(node.arg) == 2]
    outer = [loop for loop in loops if loop not in inner]
    nest = outer + inner
    depth, last = {}, set()  # in how many loops a node is; what comes after the inner loops
    for node in nodes:
        depth[node] = max((depth[source] for source in node.src), default=0)
        if node in nest:
            depth[node] = nest.index(node) + 1
        elif node.op is Ops.STORE or any(s.op is Ops.REDUCE or s in last for s in node.src):
            last.add(node)
    elsewhere = {*last, *reduces, *(n for n in nodes if n.op in (Ops.CONST, Ops.RANGE))}
    lines = []
    for level in range(len(nest) + 1):
        lines += nest[level - 1 : level] if level else []
        lines += [node for node in nodes if depth[node] == level and node not in elsewhere]
        if level == len(outer):
            lines += [UOp(Ops.DEFINE_REG, (node,)) for node in reduces]
    lines += reduces + [UOp(Ops.ENDRANGE, (counter,)) for counter in reversed(inner)]
    lines += [node for node in nodes if node in last]
    return lines + [UOp(Ops.ENDRANGE, (counter,)) for counter in reversed(outer)]

# %% wrong: says 2 lines
def linearize(sink):
    lines = in_order(sink)
    return [*lines, *(node for node in lines if node.op is Ops.REDUCE)]

# %% wrong: says which has no line before it
def linearize(sink):
    first, *lines = in_order(sink)
    return [*lines, first]

# %% wrong: says in a loop that is closed by now
def linearize(sink):
    return sorted(in_order(sink), key=lambda node: node.op is Ops.STORE)

# %% wrong: says A REDUCE stands inside the loops
def linearize(sink):
    lines = in_order(sink)
    for reduce in [node for node in lines if node.op is Ops.REDUCE]:
        lines.remove(reduce)
        lines.insert(lines.index(UOp(Ops.ENDRANGE, (reduce.src[1],))) + 1, reduce)
    return lines

# %% wrong: says compute something different
def linearize(sink):
    """A variable for each REDUCE where it begins, and another one where it's needed."""
    lines = in_order(sink)
    again = [node for node in lines if node.op is Ops.DEFINE_REG]
    (end,) = [n for n, node in enumerate(lines) if node.op is Ops.STORE]
    return [*lines[:end], *again, *lines[end:]]

# %% right: a list of levels; what needs a sum is collected for the end
def linearize(sink):
    nodes = [n for n in sink.toposort() if n.op not in (Ops.SINK, Ops.CONST)]
    reduces = [n for n in nodes if n.op is Ops.REDUCE]
    inner = list(dict.fromkeys(r for n in reduces for r in n.src[1:]))
    outer = [n for n in nodes if n.op is Ops.RANGE and n not in inner]
    nest = sorted(outer, key=lambda r: r.arg[0]) + inner
    depth, late, levels = {}, set(), [[] for _ in range(len(nest) + 1)]
    after = []
    for n in sink.toposort():
        if n in nest:
            depth[n] = nest.index(n) + 1
            continue
        depth[n] = max([depth[s] for s in n.src], default=0)
        if n.op in (Ops.SINK, Ops.CONST):
            continue
        if n.op is Ops.STORE or any(s in late or s in reduces for s in n.src):
            late.add(n)
            after.append(n)
        else:
            levels[len(nest) if n in reduces else depth[n]].append(n)
    lines = []
    for level in range(len(nest) + 1):
        if level:
            lines.append(nest[level - 1])
        lines += levels[level]
        if level == len(outer):
            at = len(lines) if inner else len(lines) - len(levels[level])
            lines[at:at] = [UOp(Ops.DEFINE_REG, (n,)) for n in reduces]
    lines += [UOp(Ops.ENDRANGE, (r,)) for r in reversed(inner)]
    return lines + after + [UOp(Ops.ENDRANGE, (r,)) for r in reversed(nest[: len(outer)])]

# %% right
def linearize(sink):
    nodes = [node for node in sink.toposort() if node.op not in (Ops.CONST, Ops.SINK)]
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    inner = [] if not reduces else list(reduces[0].src[1:])
    outer = [n for n in nodes if n.op is Ops.RANGE and len(n.arg) == 2 and n not in inner]
    outer.sort(key=lambda node: node.arg[0])
    done, lines = set(), []
    below = {}
    for node in sink.toposort():
        below[node] = {node}.union(*(below[s] for s in node.src))
    late = [n for n in nodes if n.op is Ops.STORE or
            any(r in below[n] and n is not r for r in reduces)]
    def write(opened):
        for node in nodes:
            needed = [n for n in below[node] if n in outer or n in inner]
            ready = set(needed) <= set(opened) and node not in late
            if ready and node not in done and node.op not in (Ops.RANGE, Ops.REDUCE):
                done.add(node)
                lines.append(node)
    write([])
    for k, counter in enumerate(outer, 1):
        lines.append(counter)
        write(outer[:k])
    lines += [UOp(Ops.DEFINE_REG, (r,)) for r in reduces]
    for k, counter in enumerate(inner, 1):
        lines.append(counter)
        write(outer + inner[:k])
    lines += reduces
    lines += [UOp(Ops.ENDRANGE, (r,)) for r in inner[::-1]]
    lines += late
    return lines + [UOp(Ops.ENDRANGE, (r,)) for r in outer[::-1]]
