

# %% wrong: says TypeError
def __init__(self, data):
    self.uop = UOp(Ops.BUFFER, (), Buffer(data))

# %% wrong: says The arg of a BUFFER node has to be a Buffer
def __init__(self, data):
    self.uop = data if isinstance(data, UOp) else UOp(Ops.BUFFER, (), np.array(data))

# %% wrong, changed: says It should wait for realize()
#       self.uop = data if isinstance(data, UOp) else UOp(Ops.BUFFER, (), Buffer(data))
# +     self.realize()

# %% wrong: says should have a node, `uop`
def __init__(self, data):
    self.node = data if isinstance(data, UOp) else UOp(Ops.BUFFER, (), Buffer(data))

# %% wrong: says should hold that node, and no other
def __init__(self, data):
    if isinstance(data, UOp):
        (data,) = interpret(UOp(Ops.SINK, (data,)))
    self.uop = UOp(Ops.BUFFER, (), Buffer(data))

# %% wrong: says The arg of a BUFFER node has to be a Buffer
def __init__(self, data):
    if isinstance(data, (int, float)):
        data = UOp(Ops.CONST, (), float(data))
    self.uop = data if isinstance(data, UOp) else UOp(Ops.BUFFER, (), Buffer(data))
