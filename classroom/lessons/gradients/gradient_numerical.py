"""A gradient that is measured

Hint: For each `i`: a copy of `x` with `x[i] + eps`, one with `x[i] - eps`. What next?
Hint: `nudge = np.zeros(len(x))`, then `nudge[i] = eps`. Now `f(x + nudge)` is a number, and so is
`f(x - nudge)`. How far apart are the two points?
Because: One element at a time, so that the change of the result has one cause. Up and down, so
that the errors of a bent curve cancel out.
"""

from classroom.lessons.gradients.shared import numerical

check = numerical

# %% shared
import numpy as np
def slopes(f, x, up, down, width):
    found = []
    for i in range(len(x)):
        results = []
        for nudge in (up, down):
            moved = x.copy()
            moved[i] += nudge
            results.append(f(moved))
        found.append((results[0] - results[1]) / width)
    return found

# %% wrong, each line
lambda f, x, e: slopes(f, x, e, 0, e)  # says one direction
lambda f, x, e: slopes(f, x, e, -e, e)  # says twice as large
lambda f, x, e: slopes(f, x, -e, e, 2 * e)  # says sign
lambda f, x, eps=1e-2: Tensor(x).sum().gradient(Tensor(x))  # says an array

# %% wrong: says has no attribute
from tinyframe import Tensor, nn
lambda f, x, e: f(t := Tensor(x)).gradient(t)[0].numpy()

# %% wrong: says all the elements together
def all_together(f, x, eps):
    return np.full(len(x), (f(x + eps) - f(x - eps)) / (2 * eps))
all_together

# %% wrong: says changed `x` itself
def numerical(f, x, eps=1e-2):
    for i in range(len(x)):
        x[i] += eps
    return x

# %% wrong: nudges by a share of x, which is nothing at 0
def numerical(f, x, eps=1e-2):
    rows = zip(eps * np.eye(len(x)), x)
    return [(f(x * (1 + e)) - f(x * (1 - e))) / (2 * eps * k) for e, k in rows]

# %% right: rows of a unit matrix; a list
def numerical(f, x, eps=1e-2):
    return [(f(x + n) - f(x - n)) / (2 * eps) for n in eps * np.eye(len(x))]
