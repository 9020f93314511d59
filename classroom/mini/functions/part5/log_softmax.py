"""Hint: Softmax is exp(x) divided by the sum of all exp(x). What is the logarithm of a quotient?
And why do you get `inf` for 1000?
Hint: Shifting a whole row by a number changes nothing about its softmax, so shift it by the largest
element: the biggest exponent is 0 then. `max` and `sum` take keepdim=True, which makes the shapes
fit. And the shift has no gradient: x.detach().
Because: log(exp(x) / s) = x - log(s), so no quotient is ever computed. With the largest element
subtracted, every exp is at most 1 and their sum at least 1: nothing overflows, and no logarithm of
0.
"""

import numpy as np

from classroom.mini.check import Wrong, expect_values, promise, shown
from classroom.mini.functions.part5.shared import NEEDED, expression, floats


@promise("The rows that NumPy gives", needs=NEEDED)
def softmax(mini) -> None:
    x = floats(3, 5)
    wanted = x - np.log(np.exp(x).sum(1, keepdims=True))
    t = mini.Tensor(x)
    got = expression(mini, "t.log_softmax()", t.uop.log_softmax(), t)
    expect_values("t.log_softmax()", got.numpy(), wanted, (
        (np.exp(wanted), "This is softmax. You need its logarithm."),
        (x - np.log(np.exp(x).sum(0, keepdims=True)), "This is along the first axis, and it should "
                                                      "be the last one."),
        (x - np.log(np.exp(x).sum()), "You summed over everything. Each row is a softmax of its "
                                      "own."),
    ))  # fmt: skip
    row = floats(4)
    said = "t.log_softmax() of a single row"
    expect_values(said, mini.Tensor(row).log_softmax().numpy(), row - np.log(np.exp(row).sum()))


@promise("Numbers whose exponential is too large, and too small", needs=NEEDED)
def softmax_of_large(mini) -> None:
    half = -np.log(2)
    for rows, wanted in (
        ([[1000.0, 1000.0]], [[half, half]]),
        ([[0.0, 200.0]], [[-200.0, 0.0]]),
        ([[-1000.0, -1000.0]], [[half, half]]),
        ([[0.0, 0.0], [1000.0, 1000.0]], [[half, half], [half, half]]),
    ):
        said = f"Tensor({rows}).log_softmax()"
        with np.errstate(all="ignore"):
            got = mini.Tensor(rows).log_softmax().numpy()
        if not np.isfinite(got).all():
            raise Wrong("An exponential overflows, or a logarithm is taken of 0. What changes in a "
                        "softmax if the same number is subtracted from a whole row?", said, wanted,
                        shown(got))  # fmt: skip
        expect_values(said, got, np.array(wanted))

# %% wrong: says An exponential overflows
@method
def log_softmax(x):
    return x - x.exp().sum(-1, keepdim=True).log()

# %% wrong: says Each row is a softmax of its own
@method
def log_softmax(x):
    return x - x.exp().sum().log()

# %% right: as everybody writes it
@method
def log_softmax(x):
    x = x - x.max(-1, keepdim=True)
    return x - x.exp().sum(-1, keepdim=True).log()
