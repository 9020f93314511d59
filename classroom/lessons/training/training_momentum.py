"""A step with momentum

Hint: Which of the two changes first?
Hint: Which velocity moves the parameter, the one you were given or the one you just made?
Because: The velocity takes in the new gradient first. Then the parameter moves by the new
velocity, not by the gradient.
Right: That's momentum in two lines. `nn.optim.SGD` with `momentum=0.9` takes the same step.
"""

import numpy as np

from classroom.ask import Wrong, call, fresh_sizes, fresh_tensor, same_values
from classroom.lessons.gradients.shared import close, pair
from tinyframe import Tensor


def check(answer) -> None:
    """answer(parameter, velocity, gradient, rate): (new parameter, new velocity)."""
    fixed = tuple(Tensor([v]).realize() for v in (1.0, 2.0, 3.0))
    (n,) = fresh_sizes(1)
    fresh = tuple(fresh_tensor(n) for _ in range(3))
    words = "`parameter = [1]`, `velocity = [2]`, `gradient = [3]`, `rate = 0.1`"
    for case, inputs in {words: fixed, "fresh numbers": fresh}.items():
        p, v, g = (t.numpy().copy() for t in inputs)
        got = pair(call(answer, *inputs, 0.1), Tensor, "Tensors", case)
        velocity = np.round(0.9 * v.astype(float) + g, 6)
        parameter, shown = p - 0.1 * velocity, len(p) == 1
        if close(got[0], velocity) and close(got[1], parameter):
            raise Wrong("The two are swapped: the parameter comes first.", case)
        if close(got[0], p - 0.1 * g):
            raise Wrong("That's a plain step. The parameter moves by the new velocity.", case)
        if close(got[0], p - 0.1 * v):
            raise Wrong("The parameter moved by the old velocity. Compute the new one first.", case)
        if close(got[0], p + 0.1 * velocity):
            raise Wrong("The parameter moved uphill: the step is subtracted.", case)
        same_values(got[1], velocity, f"the new velocity for {case}", shown)
        same_values(got[0], parameter, f"the new parameter for {case}", shown)

# %% wrong, each line
lambda p, v, g, r: (p - r * v, 0.9 * v + g)  # says old velocity
lambda p, v, g, r: (0.9 * v + g, p - r * (0.9 * v + g))  # says swapped
lambda p, v, g, r: (p + r * (0.9 * v + g), 0.9 * v + g)  # says uphill
lambda p, v, g, r: (p - r * g, g)  # says plain step
lambda p, v, g, r: p - r * (0.9 * v + g)  # says a pair of Tensors

# %% wrong: the classical form, whose velocity holds the rate: not what was asked
def momentum_step(parameter, velocity, gradient, rate):
    velocity = 0.9 * velocity - rate * gradient
    return parameter + velocity, velocity

# %% right: the step first, and the velocity from it
def momentum_step(parameter, velocity, gradient, rate):
    step = rate * gradient + velocity * (rate * 0.9)
    return [parameter - step, step / rate]
