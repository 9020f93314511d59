# %% wrong: says The step goes uphill
def step(self, loss):
    for param, grad in zip(self.params, loss.gradient(*self.params)):
        param.uop = (param + grad * self.lr).uop
    return loss.realize(*self.params)

# %% wrong: says Otherwise the next step's graph contains this one's
def step(self, loss):
    for param, grad in zip(self.params, loss.gradient(*self.params)):
        param.uop = (param - grad * self.lr).uop
    return loss

# %% wrong: says step should return the loss
def step(self, loss):
    for param, grad in zip(self.params, loss.gradient(*self.params), strict=True):
        param.uop = (param - grad * self.lr).uop
    loss.realize(*self.params)
