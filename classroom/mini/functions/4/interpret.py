"""Hint: If you have the values of a node's sources, what do you do to get the node's own? In which
order do you have to go, so that you always have them?
Hint: You wrote the order a minute ago. Go through it with a dict from node to values. COMPUTE has
a function for each op but SINK. It takes the node, then the values of each source.
Because: Sources come first, so what a node needs is always there. Each node is computed once,
although it may have many users.
"""

# %% wrong: along every path
def interpret(sink):
    def value(node):
        return COMPUTE[node.op](node, *map(value, node.src))

    return [value(source) for source in sink.src]

# %% wrong: says It computes shared nodes again and again
def interpret(sink):
    def value(node):
        return COMPUTE[node.op](node, *(value(source) for source in node.src))
    return [value(source) for source in sink.src]

# %% wrong, changed: says COMPUTE has no row for SINK
-     for node in sink.toposort()[:-1]:  # the last one is the SINK
+     for node in sink.toposort():

# %% wrong: says should be a list with one array for each source of the SINK
def interpret(sink):
    values = {}
    for node in sink.toposort()[:-1]:
        values[node] = COMPUTE[node.op](node, *(values[source] for source in node.src))
    return list(values.values())

# %% right: forgets what nobody needs any more
def interpret(sink):
    *nodes, _ = sink.toposort()
    left = {}
    for node in [*nodes, sink]:
        for source in set(node.src):
            left[source] = left.get(source, 0) + 1
    values = {}
    for node in nodes:
        values[node] = COMPUTE[node.op](node, *map(values.get, node.src))
        for source in set(node.src):
            left[source] -= 1
            if left[source] == 0:
                del values[source]
    return [values[source] for source in sink.src]

# %% right
def interpret(sink):
    known = {}

    def value(node):
        return COMPUTE[node.op](node, *map(known.get, node.src))

    for node in sink.toposort():
        if node is not sink:
            known[node] = value(node)
    return tuple(known[source] for source in sink.src)
