# %% wrong: the largest of everything: in a row far below it, all exponentials are 0
@method
def log_softmax(x):
    x = x - x.max()
    return x - x.exp().sum(-1, keepdim=True).log()

# %% wrong: says An exponential overflows
@method
def log_softmax(x):
    return x - x.exp().sum(-1, keepdim=True).log()

# %% wrong: says Each row is a softmax of its own
@method
def log_softmax(x):
    return x - x.exp().sum().log()

# %% right: as everybody writes it
@method
def log_softmax(x):
    x = x - x.max(-1, keepdim=True)
    return x - x.exp().sum(-1, keepdim=True).log()

# %% right
@method
def log_softmax(x):
    x = x - x.max(len(x.shape) - 1, keepdim=True)
    total = x.exp().sum(-1, keepdim=True)
    return x - total.alu(Ops.LOG2) * math.log(2)
