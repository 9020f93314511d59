"""Hint: What are the three kinds of pattern? For a hole, when does a node *not* fit? For a node with
sources, what has to agree before you look at the sources at all?
Hint: Carry a list of ways along, which begins as [found]. For each pair of sources, replace it by
all the ways in which each of the old ways can be continued: match(part, source, way) gives these.
If the op is COMMUTATIVE, do all that twice, and join the lists.
Because: A way that fills x too early may lead nowhere, so all of them are kept until the end.
Nodes are unique, so `is` tells 1 from 1.0 where == doesn't.
"""

# %% wrong: a constant's arg compared by ==, which takes 1 for 1.0; I had thought that it may
def match(pattern, node, found):
    if pattern.op is Ops.HOLE:
        if pattern.arg[0] == "c" and node.op is not Ops.CONST:
            return []
        if found.get(pattern.arg, node) is not node:
            return []
        return [{**found, pattern.arg: node}]
    if pattern.op is not node.op or pattern.arg != node.arg or len(pattern.src) != len(node.src):
        return []
    orders = {node.src, node.src[::-1]} if node.op in COMMUTATIVE else {node.src}
    ways = []
    for sources in orders:
        so_far = [found]
        for part, source in zip(pattern.src, sources):
            so_far = [more for way in so_far for more in match(part, source, way)]
        ways += so_far
    return ways

# %% wrong: says should be [{x: i + j}]
def match(pattern, node, found):
    return []

# %% wrong: says should give a list of dicts
def match(pattern, node, found):
    return None

# %% wrong: says match put something into `found`
def match(pattern, node, found):
    if pattern.op is Ops.HOLE:
        if pattern.arg[0] == "c" and node.op is not Ops.CONST:
            return []
        if found.get(pattern.arg, node) is not node:
            return []
        found[pattern.arg] = node
        return [dict(found)]
    if not pattern.src:
        return [found] if pattern is node else []
    if (pattern.op, pattern.arg, len(pattern.src)) != (node.op, node.arg, len(node.src)):
        return []
    matches = []
    for sources in (node.src, node.src[::-1]) if node.op in COMMUTATIVE else (node.src,):
        ways = [dict(found)]
        for part, source in zip(pattern.src, sources):
            ways = [more for way in ways for more in match(part, source, way)]
        matches += ways
    return matches

# %% right
def match(pattern, node, found):
    if pattern.op is Ops.HOLE:
        if pattern.arg.startswith("c") and node.op != Ops.CONST:
            return []
        known = found.get(pattern.arg)
        return [found | {pattern.arg: node}] if known in (None, node) else []
    if not pattern.src:
        return [dict(found)] * (pattern is node)
    same = pattern.op == node.op and pattern.arg == node.arg
    if not same or len(pattern.src) != len(node.src):
        return []
    def all_of(parts, sources, way):
        if not parts:
            yield way
            return
        for more in match(parts[0], sources[0], way):
            yield from all_of(parts[1:], sources[1:], more)
    ways = list(all_of(pattern.src, node.src, found))
    if node.op in COMMUTATIVE:
        ways += [w for w in all_of(pattern.src, tuple(reversed(node.src)), found)
                 if w not in ways]
    return ways
