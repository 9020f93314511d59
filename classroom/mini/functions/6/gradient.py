"""Hint: When may a node hand its gradient on to its sources? Not before everything has arrived. Who
does it come from? You already have an order that makes sure of it, if you go through it
backwards. Which one?
Hint: Keep a dict from each node to its gradient so far: at first only the loss, with 1. Go
through toposort() backwards. A node that has a gradient and a row asks its row and adds the parts
to what its sources have. Then there are nodes that don't matter: those with nothing wanted below
them. Work those out beforehand, going forwards.
Because: Backwards, all users of a node come before it, so its gradient is complete when its turn
comes. What comes in along several paths is added up. And all of it is made of nodes, so it's
lazy, and has a gradient of its own.
"""

# %% wrong: says `a` gets two gradients, 1 and 5
def gradient(loss, *wanted):
    between = {}
    for node in loss.toposort():
        if node in wanted or node.op in GRADIENT and any(s in between for s in node.src):
            between[node] = None
    grads = {loss: loss.const(1.0)}
    for node in reversed(between):
        if node.op in GRADIENT:
            parts = GRADIENT[node.op](grads[node], node, *node.src)
            for source, part in zip(node.src, parts, strict=True):
                if source in between and part is not None:
                    grads[source] = part
    return [grads.get(node, loss.const(0.0)) for node in wanted]

# %% wrong: says This follows every path
def gradient(loss, *wanted):
    grads = {}
    def down(node, grad):
        grads[node] = grads[node] + grad if node in grads else grad
        if node.op in GRADIENT:
            for source, part in zip(node.src, GRADIENT[node.op](grad, node, *node.src)):
                if part is not None:
                    down(source, part)
    down(loss, loss.const(1.0))
    return [grads.get(node, loss.const(0.0)) for node in wanted]

# %% wrong: says KeyError
def gradient(loss, *wanted):
    between = {}
    for node in loss.toposort():
        if node in wanted or node.op in GRADIENT and any(s in between for s in node.src):
            between[node] = None
    grads = {loss: loss.const(1.0)}
    for node in reversed(between):
        if node.op in GRADIENT:
            parts = GRADIENT[node.op](grads[node], node, *node.src)
            for source, part in zip(node.src, parts, strict=True):
                if source in between and part is not None:
                    grads[source] = grads[source] + part if source in grads else part
    return [grads[node] for node in wanted]

# %% wrong: says a list, one for each of `wanted`. Is there a `return`?
def gradient(loss, *wanted):
    print(loss.toposort())

# %% wrong: says Each gradient is a node
def gradient(loss, *wanted):
    return [1.0 for node in wanted]

# %% right: a tuple for a list
def gradient(loss, *wanted):
    table = {loss: loss.const(1.0)}
    for node in reversed(loss.toposort()):
        if node in table and node.op in GRADIENT:
            parts = GRADIENT[node.op](table[node], node, *node.src)
            for source, part in zip(node.src, parts):
                if part is not None:
                    table[source] = table[source] + part if source in table else part
    return tuple(table.get(node, loss.const(0.0)) for node in wanted)

# %% right
def gradient(loss, *wanted):
    # users are counted first, and a node is ready when the last of them has been heard
    order = loss.toposort()
    waits = dict.fromkeys(order, 0)
    for node in order:
        for source in node.src:
            waits[source] += 1
    grads, ready = {loss: loss.const(1.0)}, [loss]
    while ready:
        node = ready.pop()
        parts = [None] * len(node.src)
        if node in grads and node.op in GRADIENT:
            parts = GRADIENT[node.op](grads[node], node, *node.src)
        for source, part in zip(node.src, parts):
            if part is not None:
                grads[source] = part if source not in grads else part + grads[source]
            waits[source] -= 1
            if waits[source] == 0:
                ready.append(source)
    return (grads.get(node, loss.const(0.0)) for node in wanted)
