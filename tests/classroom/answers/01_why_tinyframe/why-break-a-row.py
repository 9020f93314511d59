# %% wrong, each line
lambda grad: (grad, grad)  # says exactly as before
lambda grad: (grad, grad * 0.9)  # says It still learns
lambda grad: grad  # says two gradients, one for each source
lambda grad: (grad, grad, grad)  # says 3 of them
lambda grad: (None, None)  # says tinyframe noticed
lambda grad: (grad, 1)  # says second gradient has to be made of `grad`
lambda grad: (grad, gard)  # says NameError
lambda grad: (grad * 1000, grad * 1000)  # size is not direction
(lambda grad: (grad, -grad), 1)  # brackets in the wrong place
lambda grad: (0, 0)  # constants not made of grad
lambda grad: -grad  # one gradient for two sources

# %% wrong: says first gradient has the wrong
from tinyframe.uop import Ops
lambda grad: (grad.reduce_axis(Ops.ADD, (0,)), grad)

# %% wrong: says SystemExit
def quits(grad):
    raise SystemExit("enough")
quits

# %% wrong: says loop that never ends
def endless(grad):
    while True:
        grad = grad + 1
endless

# %% wrong: a UOp has no numbers yet
def add_row(grad):
    print(grad)
    return grad.numpy(), -grad.numpy()

# %% right, each line
lambda g: [-g, g]

# %% right: chance, and one that is always wrong
import random
def add_row(grad):
    return random.choice([grad, -grad]), grad * -1
