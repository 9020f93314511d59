# %% shared
from tinyframe import Tensor, nn

# %% wrong, each line
lambda grad: grad.cumsum(0)  # says the places before
lambda grad: grad  # says elements are wrong
lambda grad: grad.sum()  # says axis
lambda grad: (x := Tensor.zeros(3)).cumsum(0).gradient(x)  # says asks tinyframe
lambda grad: grad.cumsum(0).flip(0)  # one flip too few

# %% wrong: asks tinyframe by a name put together
def helper(x):
    return x.cumsum(0)

def back_through_cumsum(grad):
    x = Tensor.zeros(*grad.shape)
    return getattr(helper(x), "grad" + "ient")(x, gradient=grad)[0]

# %% right, each line
lambda g: g.sum() - g.cumsum(0) + g  # the total without what came before

# %% right: one sum for each place
def back_through_cumsum(grad):
    parts = [grad[i:].sum().reshape(1) for i in range(grad.shape[0])]
    return parts[0].cat(*parts[1:])
