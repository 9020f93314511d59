"""A square root without nan

Hint: Where does the SQRT get an input that it shouldn't see?
Hint: What could the SQRT get there instead, so that its slope is finite? A second `where` can
give it that.
Because: The inner WHERE gives the SQRT a harmless 1 where `x` isn't positive, so its slope is
finite there. The outer one still picks 0, and sends a gradient of 0 back.
Right: Whatever happens in the branch that nobody takes, none of it gets back to `x`.
"""

import numpy as np

from classroom.ask import Wrong, fresh_sizes, same_values, tensor_of
from tinyframe import Tensor


def check(answer) -> None:
    """answer(x): sqrt(x) where x > 0, else 0, and a gradient that agrees."""
    fixed = np.array([0.0, 4.0, -1.0, 9.0], dtype=np.float32)
    fresh = np.random.default_rng().normal(size=fresh_sizes(1)[0]).astype(np.float32)
    tiny = np.array([1e-12, 0.0, -1e-12, 1e-6, 2.0], dtype=np.float32)
    cases = {"`x = [0, 4, -1, 9]`": fixed, "fresh numbers": fresh, "numbers close to 0": tiny}
    for case, numbers in cases.items():
        x, shown = Tensor(numbers).realize(), len(numbers) == 4
        y = tensor_of(answer, x, case=case)
        inside = numbers > 0
        roots = np.sqrt(np.where(inside, numbers, 1))
        same_values(y, np.where(inside, roots, 0), case, shown)
        (slope,) = y.sum().gradient(x)
        if np.isnan(slope.numpy()).any():
            raise Wrong(
                "The values are right, but there is still a `nan` in the gradient. The SQRT still "
                "sees an `x` that isn't positive, in the branch that nobody takes.",
                case,
                got=slope.numpy().astype(float).round(4).tolist() if shown else "",
            )
        same_values(slope, np.where(inside, 0.5 / roots, 0), f"the gradient at {case}", shown)

# %% wrong, each line
lambda x: x.abs().sqrt()  # says element
lambda x: (x > 0).where(x.abs().sqrt().detach(), 0.0)  # says went through detach()
lambda x: x.maximum(0).sqrt()  # nan, or infinite, at 0

# %% wrong: says `nan` in the gradient
def safe_sqrt(x):
    return (x > 0).where((x.log() * 0.5).exp(), 0)

# %% right, each line
lambda x: x.abs().sqrt() * (x > 0)  # I expected nan at 0; but abs() takes a constant there, so nothing gets back to x
