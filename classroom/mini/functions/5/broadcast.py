"""Hint: Shapes (3, 1) and (4,). Write them under each other, flush right. What does the shorter one
lack, and what happens to the 1s?
Hint: Two steps. First give every node the same number of axes (a reshape, with 1s in front).
Then, for each axis, the largest size wins, and everybody is expanded to that. Constants have the
shape () and fit anything, so they can be left alone. A node that has the shape already stays as
it is; `reshape` and `expand` see to that.
Because: After the reshape all shapes are equally long, so `zip` lines the axes up, and `max`
finds the size that wins. If two sizes differ and neither is 1, `expand` complains.
"""

# %% wrong: says The shapes are as they were
def broadcast(*nodes):
    return nodes

# %% wrong: says Is there a `return`?
def broadcast(*nodes):
    shapes = [node.shape for node in nodes]

# %% wrong: says ValueError: (3, 1) cannot be expanded
def broadcast(*nodes):
    rank = max(len(node.shape) for node in nodes)
    shaped = [node if node.op is Ops.CONST else
              node.reshape(*node.shape, *[1] * (rank - len(node.shape))) for node in nodes]
    shapes = [node.shape for node in shaped if node.op is not Ops.CONST]
    shape = tuple(map(max, zip(*shapes)))
    return tuple(n if n.op is Ops.CONST else n.expand(*shape) for n in shaped)

# %% wrong: says as many nodes as it is given
def broadcast(*nodes):
    return np.broadcast_shapes(*(node.shape for node in nodes))

# %% right: by hand; expand refuses what does not fit
def broadcast(*nodes):
    rank = max(len(n.shape) for n in nodes)
    lined = [
        n if n.op is Ops.CONST else n.reshape(*(1,) * (rank - len(n.shape)), *n.shape)
        for n in nodes
    ]
    full = [n.shape for n in lined if n.op is not Ops.CONST]
    shape = [max(sizes, key=lambda size: (size != 1, size)) for sizes in zip(*full)]
    return tuple(n if n.op is Ops.CONST else n.expand(*shape) for n in lined)

# %% right
def broadcast(*nodes):
    shape = np.broadcast_shapes(*(node.shape for node in nodes))
    return [node.reshape(*[1] * (len(shape) - len(node.shape)), *node.shape).expand(*shape)
            for node in nodes]
