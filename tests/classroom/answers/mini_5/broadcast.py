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
