# %% wrong: says b1, b2 and eps are not used
def __init__(self, params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8):
    self.params, self.lr, self.b1, self.b2, self.eps = params, lr, 0.9, 0.999, 1e-8
    self.m = [Tensor(param.numpy() * 0) for param in params]
    self.v = [Tensor(param.numpy() * 0) for param in params]
    self.b1_power, self.b2_power = Tensor([1.0]), Tensor([1.0])
    self.state = [*params, *self.m, *self.v, self.b1_power, self.b2_power]
