# %% shared
from tinyframe import Tensor, nn
def fold(linear, norm, spread, scale=1.0, shift=0.0, mean=None):
    outputs, inputs = linear.weight.shape
    factor = scale / spread
    both = nn.Linear(inputs, outputs)
    both.weight = linear.weight * factor.reshape(outputs, 1)
    both.bias = (linear.bias - norm.running_mean if mean is None else linear.bias) * factor + shift
    return both

# %% wrong, each line
lambda linear, norm: linear  # says what `linear` does alone
lambda linear, norm: nn.Sequential(linear, norm)  # says an `nn.Linear`

# %% wrong: says adds `norm.eps`
def without_eps(linear, norm):
    return fold(linear, norm, norm.running_var.sqrt(), norm.weight, norm.bias)
without_eps

# %% wrong: says a weight and a bias of its own
def without_weight(linear, norm):
    return fold(linear, norm, (norm.running_var + norm.eps).sqrt())
without_weight

# %% wrong: says square root
def by_the_variance(linear, norm):
    return fold(linear, norm, norm.running_var + norm.eps, norm.weight, norm.bias)
by_the_variance

# %% wrong: says the bias isn't
def without_mean(linear, norm):
    spread = (norm.running_var + norm.eps).sqrt()
    return fold(linear, norm, spread, norm.weight, norm.bias, mean=0.0)
without_mean

# %% wrong: says changed the layers
def changed_in_place(linear, norm):
    linear.weight.assign(linear.weight * 2).realize()
    return linear
changed_in_place

# %% wrong: scales the columns, where it should scale the rows
def folded(linear, norm):
    scale = norm.weight / (norm.running_var + norm.eps).sqrt()
    new = nn.Linear(linear.weight.shape[1], linear.weight.shape[0])
    new.weight = linear.weight * scale
    new.bias = (linear.bias - norm.running_mean) * scale + norm.bias
    return new

# %% wrong: changes the original
def folded(linear, norm):
    scale = norm.weight / (norm.running_var + norm.eps).sqrt()
    linear.weight.assign(linear.weight * scale.reshape(-1, 1)).realize()
    linear.bias.assign((linear.bias - norm.running_mean) * scale + norm.bias).realize()
    return linear

# %% right: asks both layers what they do to 0 and to the unit vectors
import copy

def folded(linear, norm):
    new = copy.copy(linear)
    zero = Tensor.zeros(1, linear.weight.shape[1])
    new.bias = norm(linear(zero))[0]
    new.weight = (norm(linear(Tensor.eye(linear.weight.shape[1]))) - new.bias).T
    return new

# %% right: turned to scale the columns and turned back, loaded as a state
def folded(linear, norm):
    scale = norm.weight * (norm.running_var + norm.eps).rsqrt()
    new = nn.Linear(*reversed(linear.weight.shape))
    bias = (linear.bias - norm.running_mean) * scale + norm.bias
    state = {"weight": (linear.weight.T * scale).T, "bias": bias}
    nn.state.load_state_dict(new, {k: v.contiguous().realize() for k, v in state.items()})
    return new
