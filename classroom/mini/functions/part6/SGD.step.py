

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

# %% wrong, changed: says step should return the loss
# -     return loss.realize(*self.params)
# +     loss.realize(*self.params)
