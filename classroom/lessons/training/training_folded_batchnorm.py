"""A BatchNorm that disappears

Hint: After training, BatchNorm multiplies each feature by a number and adds a number. Which ones?
And what does a Linear do?
Hint: A feature's scale is its `norm.weight`, divided by the root of its variance plus eps. Each
row of the Linear's weight is multiplied by its scale. What happens to `linear.bias`, from which
the running mean is subtracted first?
Because: A Linear computes `x @ weight.T + bias`. BatchNorm then multiplies each feature by one
number and adds another, so you can do both to the weight and the bias instead, once and for all.
Right: Two layers in, one layer out, and the same answers. After training, BatchNorm is free.
"""

import numpy as np

from classroom.ask import Wrong, call, fresh_sizes, same_values, wrong_if
from tinyframe import Tensor, nn


def check(answer) -> None:
    """answer(linear, norm): one Linear that does what both do after training."""
    random = np.random.default_rng()

    def draw(*shape: int, around: float, spread: float) -> Tensor:
        return Tensor(random.normal(around, spread, shape).astype(np.float32)).realize()

    for inside, out in ((3, 2), fresh_sizes(2)):
        case = f"`Linear({inside}, {out})`" if out == 2 else "a different size"
        linear, norm = nn.Linear(inside, out), nn.BatchNorm(out)
        norm.weight, norm.bias = (draw(out, around=a, spread=0.3) for a in (2.0, 1.0))
        norm.running_mean = draw(out, around=3.0, spread=1.0)
        norm.running_var = Tensor(random.uniform(1e-4, 4e-4, out).astype(np.float32)).realize()
        x = draw(20, inside, around=0.0, spread=1.0)
        before = nn.state.get_state_dict([linear, norm])
        kept = {name: tensor.numpy().copy() for name, tensor in before.items()}
        y, scale, shift = linear(x).numpy(), *(t.numpy() for t in (norm.weight, norm.bias))
        mean, variance = norm.running_mean.numpy(), norm.running_var.numpy()
        got = call(answer, linear, norm)
        if type(got) is not nn.Linear:
            raise Wrong("The answer has to be an `nn.Linear`.", case, got=type(got).__name__)
        for name, tensor in nn.state.get_state_dict([linear, norm]).items():
            if not np.array_equal(tensor.numpy(), kept[name]):
                raise Wrong("You changed the layers that you were given. Make a new one.", case)
        values = got(x).numpy()
        spread = np.sqrt(variance + norm.eps)
        expected = (y - mean) / spread * scale + shift

        def is_like(other: np.ndarray, values: np.ndarray = values) -> bool:
            return values.shape == other.shape and np.allclose(values, other, rtol=2e-3, atol=2e-3)

        if is_like(expected):
            continue
        wrong_if(is_like(y), "This still does what `linear` does alone.", case)
        if is_like((y - mean) / np.sqrt(variance) * scale + shift):
            raise Wrong("Nearly. BatchNorm adds `norm.eps` to the variance.", case)
        if is_like((y - mean) / spread):
            raise Wrong("Nearly. BatchNorm has a weight and a bias of its own.", case)
        if is_like((y - mean) / (variance + norm.eps) * scale + shift):
            raise Wrong("You divided by the variance. The spread is its square root.", case)
        differs = (values - values.mean(0)) - (expected - expected.mean(0))
        if values.shape == expected.shape and np.abs(differs).max() < 2e-3:
            raise Wrong("The weights are right, but the bias isn't.", case)
        same_values(got(x), expected, case, shown=False)

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

# %% right: asks both layers what they do to 0 and to the unit vectors
import copy

def folded(linear, norm):
    new = copy.copy(linear)
    zero = Tensor.zeros(1, linear.weight.shape[1])
    new.bias = norm(linear(zero))[0]
    new.weight = (norm(linear(Tensor.eye(linear.weight.shape[1]))) - new.bias).T
    return new
