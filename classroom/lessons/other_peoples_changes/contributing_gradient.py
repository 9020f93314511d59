"""The gradient

Hint: rms is the root of m, where m is the mean of x * x. The derivative of the root is 1 / (2 *
root). What's that of m with respect to one element?
Hint: It's 2 * x / n, so together x / (n * root). grad has an axis less than x: grad[..., None]
gives it one. For a row of zeros, divide by 1e-30 rather than by 0.
Because: The derivative of the root is 1 / (2 * root), that of the mean of squares is 2 * x / n,
and the product is x / (n * root), times what flows in, row by row.
"""

from classroom.lessons.other_peoples_changes.shared import gradient

check = gradient

# %% shared
import numpy as np
def root_of(x):
    return np.maximum(np.sqrt((x * x).mean(-1)), 1e-30)

def one_line(grad, x):
    return (grad / (x.shape[-1] * root_of(x)))[..., None] * x

# %% wrong, each line
lambda grad, x: one_line(grad, x).sum(-1)  # says should have 2 axes
lambda grad, x: -one_line(grad, x)  # says sign
lambda grad, x: one_line(grad, x).tolist()  # says has to be an array
lambda grad, x: one_line(grad, x).astype(np.float64)  # says x's dtype

# %% wrong: only for a matrix (I had said right; the exercise didn't say that x may have other axes)
def rms_gradient(grad, x):
    with np.errstate(all="ignore"):
        root = (x ** 2).mean(1) ** 0.5
        return np.nan_to_num(grad[:, None] * x / (x.shape[1] * root[:, None]))

# %% wrong: says changes x itself
def in_place(grad, x):
    x *= (grad / (x.shape[-1] * root_of(x)))[..., None]
    return x
in_place

# %% right, each line
one_line

# %% right: asks the C for the root
def rms_gradient(grad, x):
    return (grad / np.maximum(x.shape[-1] * rms(x), 1e-30))[..., None] * x
