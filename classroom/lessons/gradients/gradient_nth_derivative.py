"""The nth derivative

Hint: What do you have to do n times, and what do you start from?
Hint: Each pass of a loop replaces the function by its gradient. What should come out if `n` is 0?
Because: A gradient is a graph of `x`, like the function that it came from. So the same line works
on it again.
Right: The table was used on its own output, as often as you asked for.
"""

import numpy as np

from classroom.ask import Wrong, call, fresh_sizes, fresh_tensor, same_values, tensor_of
from classroom.lessons.gradients.shared import close
from tinyframe import Tensor


def check(answer) -> None:
    """answer(f, x, n): the nth derivative of f at each element of x."""
    x = Tensor([1.0, 2.0]).realize()
    derivatives = np.array([[1.0, 8.0], [3.0, 12.0], [6.0, 12.0], [6.0, 6.0]])
    for n in (1, 2, 0):
        case = f"`f = t * t * t`, `x = [1, 2]`, `n = {n}`"
        got = tensor_of(answer, lambda t: t * t * t, x, n, case=case)
        for order, values in enumerate(derivatives):
            if order != n and close(got, values):
                what = f"the derivative of order {order}" if order else "the function itself"
                raise Wrong(f"That's {what}.", case)
        same_values(got, derivatives[n], case)
    x = fresh_tensor(*fresh_sizes(1))
    got = call(answer, lambda t: t.sin(), x, 5)
    same_values(got, np.cos(x.numpy()), "the fifth derivative of a sine", shown=False)

# %% wrong: says the derivative of order 1
def once(f, x, n):
    return f(x).sum().gradient(x)[0]
once

# %% wrong: differences of differences, in 32 bits
def nth_derivative(f, x, n):
    if n == 0:
        return f(x)
    below, above = (nth_derivative(f, x + e, n - 1) for e in (-0.01, 0.01))
    return (above - below) / 0.02

# %% right: by recursion, the innermost first
def nth_derivative(f, x, n):
    return f(x) if n == 0 else nth_derivative(lambda t: f(t).sum().gradient(t)[0], x, n - 1)
