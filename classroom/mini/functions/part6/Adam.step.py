

# %% wrong: says The averages are not corrected
def step(self, loss):
    grads = loss.gradient(*self.params)
    for param, m, v, grad in zip(self.params, self.m, self.v, grads):
        m.uop = (m * self.b1 + grad * (1 - self.b1)).uop
        v.uop = (v * self.b2 + grad * grad * (1 - self.b2)).uop
        param.uop = (param - m * self.lr / (v.sqrt() + self.eps)).uop
    return loss.realize(*self.state)

# %% wrong, changed: says Otherwise the next step's graph contains this one's
# -     for param, m, v, grad in zip(self.params, self.m, self.v, grads, strict=True):
# +     for param, m, v, grad in zip(self.params, self.m, self.v, grads):
#
# -     return loss.realize(*self.state)
# +     return loss.realize(*self.params)

# %% wrong: says The graph has a constant in it that changes with every step
def step(self, loss):
    grads = loss.gradient(*self.params)
    self.count = getattr(self, "count", 0) + 1
    for param, m, v, grad in zip(self.params, self.m, self.v, grads):
        m.uop = (m * self.b1 + grad * (1 - self.b1)).uop
        v.uop = (v * self.b2 + grad * grad * (1 - self.b2)).uop
        mean, square = m / (1 - self.b1**self.count), v / (1 - self.b2**self.count)
        param.uop = (param - mean * self.lr / (square.sqrt() + self.eps)).uop
    return loss.realize(*self.state)
