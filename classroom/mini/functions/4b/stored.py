"""Hint: Without reductions, what would you store? Then take them one at a time. Somewhere the values
of each one have to end up in memory. What may its kernel still do with them first, and when is it
over?
Hint: From each reduction, go on to its user, as long as there is just one, it isn't a reduction,
it has as many elements, and no other reduction's kernel has taken it already. Stop at what was
asked for. Where you stop is stored. You need a dict from each node to its users, and the SINK
counts as one.
Because: Every reduction walks down to the last node that its own loops can finish, and that node
is stored. If that is what was asked for anyway, the reduction costs no kernel of its own. `taken`
keeps a second reduction out of the same kernel.
"""

# %% wrong: PyTorch: everything is stored
def stored(sink):
    return [n for n in sink.toposort() if n.op not in MEMORY and n is not sink]

# %% wrong: from the start, without looking at who else needs a reduction
def stored(sink):
    order = sink.toposort()[:-1]
    keep, held = {n for n in sink.src if n.op not in MEMORY}, {}
    for n in order:
        for s in n.src:
            if held.get(s) and s not in keep:
                others = set().union(*(held[o] for o in n.src if o not in keep)) - held[s]
                if n.op is Ops.REDUCE_AXIS or n.shape != s.shape or others:
                    keep.add(s)
        below = set().union(*(held[s] for s in n.src if s not in keep))
        held[n] = {n} if n.op is Ops.REDUCE_AXIS else below
    return [n for n in order if n in keep]

# %% wrong: says The SINK has no values
def stored(sink):
    return [node for node in sink.toposort() if node.src]

# %% wrong: says That makes 2 kernels, and 1 will do. `a * b` doesn't have to be stored.
def stored(sink):
    return [node for node in sink.toposort()[:-1] if node.src]

# %% wrong: says `a` is in memory already
def stored(sink):
    return list(sink.src)

# %% wrong: says returns nothing. Is there a `return`?
def stored(sink):
    keep = set(sink.src)

# %% wrong: says Each element of `s` would be computed 20 times: in the kernel of `y`, an EXPAND
def stored(sink):
    return [node for node in sink.src if node.op not in MEMORY]

# %% wrong: says A node is in the list twice
def stored(sink):
    keep = [node for node in sink.toposort() if node.op is Ops.REDUCE_AXIS]
    return [node for node in sink.src if node.op not in MEMORY] + keep

# %% wrong: says `s + 1` comes before `s`, which its kernel reads
def stored(sink):
    keep = [node for node in sink.toposort() if node.op is Ops.REDUCE_AXIS]
    return [node for node in sink.src if node.op not in {*MEMORY, Ops.REDUCE_AXIS}] + keep

# %% wrong: says This follows every path
def stored(sink):
    def below(node):
        return [node] + [found for source in node.src for found in below(source)]

    keep = [node for node in below(sink)[1:] if node.op is Ops.REDUCE_AXIS or node in sink.src]
    return [node for node in sink.toposort() if node in keep and node.op not in MEMORY]

# %% wrong: says should be a list.
def stored(sink):
    return {node for node in sink.src if node.op not in MEMORY}

# %% wrong: says should be a list of nodes
def stored(sink):
    return [node.op for node in sink.src if node.op not in MEMORY]

# %% wrong: says has a node that isn't in the graph
def stored(sink):
    return [node * 1 for node in sink.src]

# %% right
def stored(sink):
    order, users = sink.toposort(), {}
    for node in order:
        for source in set(node.src):
            users.setdefault(source, []).append(node)
    keep, taken = set(sink.src), set()
    for end in [node for node in order if node.op is Ops.REDUCE_AXIS]:
        while end not in keep and len(users[end]) == 1:
            (user,) = users[end]
            alike = math.prod(user.shape) == math.prod(end.shape)
            if user.op is Ops.REDUCE_AXIS or user in taken or not alike:
                break
            end = user
            taken.add(end)
        keep.add(end)
    return (node for node in order if node in keep and node.op not in MEMORY)

# %% right
def stored(sink):
    order, users = sink.toposort(), {}
    for node in order:
        for source in set(node.src):
            users.setdefault(source, []).append(node)
    keep, inside = set(sink.src), {}
    for start in [node for node in order if node.op is Ops.REDUCE_AXIS]:
        end, group = start, {start}
        while end not in keep:
            open_ends = {u for node in group for u in users.get(node, ())} - group
            grow = [u for u in order if u in open_ends]
            if not grow or any(
                u.op in (Ops.REDUCE_AXIS, Ops.SINK) or u in inside
                or math.prod(u.shape) != math.prod(start.shape)
                for u in grow
            ) or any(node in keep for node in group):
                break
            group.add(grow[0])
            open_ends = {u for node in group for u in users.get(node, ())} - group
            leaving = [n for n in group if set(users.get(n, ())) - group or n in keep]
            if len(leaving) == 1:
                end = leaving[0]
        if end is start:
            group = {start}
        leaving = [n for n in group if set(users.get(n, ())) - group or n in keep]
        if leaving != [end]:
            end = start if len(users[start]) > 1 else end
            group = {start}
        inside.update(dict.fromkeys(group))
        keep.add(end)
    return [node for node in order if node in keep and node.op not in MEMORY]
