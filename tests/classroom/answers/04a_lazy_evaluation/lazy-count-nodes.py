# %% wrong, each line
lambda t, op: t.uop.op is op  # says a whole number
lambda t, op: len(t.uop.toposort())  # says You counted all nodes
lambda t, op: 1  # says too many
lambda t, op: int(t.uop.op is op)  # says You found none
lambda tensor, op: summary(tensor.uop).count(op.name)  # counts in text, where the args of a REDUCE_AXIS name an op too

# %% wrong: paths, not nodes
def count_nodes(tensor, op):
    def walk(u):
        return int(u.op is op) + sum(walk(s) for s in u.src)

    return walk(tensor.uop)

# %% wrong: the nodes are the keys of the dict, not its values
def count_nodes(tensor, op):
    return len([node for node in tensor.uop.toposort().values() if node.op is op])

# %% wrong: says wrong for a long chain
def four_levels(tensor, op):
    level = seen = {tensor.uop}
    for _ in range(4):
        level = {source for u in level for source in u.src}
        seen = seen | level
    return sum(u.op is op for u in seen)
four_levels

# %% asked again: no return
def count_nodes(tensor, op):
    sum(u.op is op for u in tensor.uop.toposort())

# %% right, each line
lambda t, op: [u.op for u in t.uop.toposort()].count(op)

# %% right: a walk of one's own; == for is
def count_nodes(tensor, op):
    seen, stack, found = set(), [tensor.uop], 0
    while stack:
        u = stack.pop()
        if u not in seen:
            seen.add(u)
            found += u.op == op
            stack.extend(u.src)
    return found
