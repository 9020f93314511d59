# %% wrong: says TypeError
def __init__(self, data):
    self.uop = UOp(Ops.BUFFER, (), Buffer(data))

# %% wrong: says The arg of a BUFFER node has to be a Buffer
def __init__(self, data):
    self.uop = data if isinstance(data, UOp) else UOp(Ops.BUFFER, (), np.array(data))
