"""Hint: Which numbers live on from one step to the next? Two for each parameter, and something that
knows how many steps there have been. Where could that live, if not as a number in Python?
Hint: Make Tensors for m, v, and for b1 and b2 to the power of the number of steps, which start at
1 and are multiplied in each step. They all get a new `uop`, as a parameter does, and all are
realized with it, in one go.
Because: The averages start at 0, and dividing by 1 - b1**t makes up for that. With the powers in
Tensors, every step is the same graph with other numbers in it, so a compiler has to look at it
once.
"""

# %% wrong: eps under the root
class Adam:
    def __init__(self, params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8):
        self.params, self.rest, self.t = list(params), (lr, b1, b2, eps), 0
        self.m, self.v = ([Tensor(np.zeros(p.shape)) for p in params] for _ in "mv")

    def step(self, loss):
        lr, b1, b2, eps = self.rest
        self.t += 1
        c1, c2 = Tensor(1 - b1**self.t), Tensor(1 - b2**self.t)
        grads = loss.gradient(*self.params)
        for p, m, v, g in zip(self.params, self.m, self.v, grads):
            m.uop, v.uop = (m * b1 + g * (1 - b1)).uop, (v * b2 + g * g * (1 - b2)).uop
            p.uop = (p - lr * (m / c1) / (v / c2 + eps).sqrt()).uop
        return loss.realize(*self.params, *self.m, *self.v)

# %% right: counts in Python, and puts the two corrections into Tensors
class Adam:
    def __init__(self, params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8):
        self.params, self.rest, self.t = list(params), (lr, b1, b2, eps), 0
        self.m, self.v = ([Tensor(np.zeros(p.shape)) for p in params] for _ in "mv")

    def step(self, loss):
        lr, b1, b2, eps = self.rest
        self.t += 1
        c1, c2 = Tensor(1 - b1**self.t), Tensor(1 - b2**self.t)
        grads = loss.gradient(*self.params)
        for p, m, v, g in zip(self.params, self.m, self.v, grads):
            m.uop, v.uop = (m * b1 + g * (1 - b1)).uop, (v * b2 + g * g * (1 - b2)).uop
            p.uop = (p - lr * (m / c1) / ((v / c2).sqrt() + eps)).uop
        return loss.realize(*self.params, *self.m, *self.v)

# %% right
class Adam:
    # a dict for each parameter, and the step counted in a Tensor
    def __init__(self, params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8):
        self.lr, self.b1, self.b2, self.eps = lr, b1, b2, eps
        self.steps = Tensor(0.0)
        zero = lambda p: Tensor(np.zeros(p.shape))
        self.rows = [{"w": p, "mean": zero(p), "square": zero(p)} for p in params]

    def step(self, loss):
        grads = loss.gradient(*(row["w"] for row in self.rows))
        self.steps.uop = (self.steps + 1).uop
        down1 = 1 - (self.steps * math.log(self.b1)).exp()
        down2 = 1 - (self.steps * math.log(self.b2)).exp()
        for row, g in zip(self.rows, grads):
            row["mean"].uop = (row["mean"] + (g - row["mean"]) * (1 - self.b1)).uop
            row["square"].uop = (row["square"] * self.b2 + g * g * (1 - self.b2)).uop
            rate = self.lr / ((row["square"] / down2).sqrt() + self.eps)
            row["w"].uop = (row["w"] - row["mean"] / down1 * rate).uop
        return loss.realize(self.steps, *(t for row in self.rows for t in row.values()))
