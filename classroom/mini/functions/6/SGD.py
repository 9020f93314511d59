"""Hint: What does an optimizer have to remember between steps? And in a step, in which order: may
one parameter move before the others have their gradients?
Hint: loss.gradient gives all of them at once. A parameter is a Tensor that everybody holds, so it
has to stay the same object: only its `uop` becomes a new node. Then realize the loss and the
parameters together.
Because: All gradients are taken while nothing has moved. Realizing at the end of each step keeps
the next step's graph from containing this one's.
"""

# %% wrong: the loss isn't realized
class SGD:
    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr

    def step(self, loss):
        for p, g in zip(self.params, loss.gradient(*self.params)):
            p.uop = (p - self.lr * g).realize().uop
        return loss

# %% wrong: says SGD has no method `step` yet
class SGD:
    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr

# %% right: thought wrong; but the graph of the loss holds the old nodes, so no gradient changes
class SGD:
    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr

    def step(self, loss):
        for p in self.params:
            (g,) = loss.gradient(p)
            p.uop = (p - g * self.lr).realize().uop
        return loss.realize()

# %% right
class SGD:
    def __init__(self, weights, lr=0.1):
        self.weights, self.lr = list(weights), Tensor([lr])

    def step(self, loss):
        new = [w - g * self.lr for w, g in zip(self.weights, loss.gradient(*self.weights))]
        loss.realize(*new)
        for w, changed in zip(self.weights, new):
            w.uop = changed.reshape(*w.shape).realize().uop
        return loss
