"""Numbers that two machines add up differently

Hint: 16777216 + 1 is 16777216 in a float of 32 bits. If your C has that in its one sum, what
happens to all the ones that follow? And how do you get rid of it at the end?
Hint: A large number first, the same number with a minus last, and ones in between. There have to
be more than eight numbers, or NumPy has nothing to share out.
Because: Your C has 16777216 in its only sum, and each 1 is rounded away. In NumPy, the large
number is in one of eight sums, so seven others count their ones properly.
"""

import math
from collections.abc import Iterable

import numpy as np

from classroom.ask import Wrong, describe, wrong_if
from classroom.mini import own_c

SECONDS = 60.0


MOST, ENOUGH = 64, 20.0


def check(answer) -> str:
    """answer: numbers that C adds up to 0, and NumPy to more than half of the truth."""
    numbers = _floats(answer)
    wrong_if(len(numbers) > MOST, f"That's {len(numbers)} numbers, and {MOST} have to be enough.")
    wrong_if(not np.isfinite(numbers).all(), "All of them have to be finite, as 32-bit floats.")
    truth = math.fsum(numbers.tolist())
    if truth < ENOUGH:
        raise Wrong(f"They should add up to {ENOUGH:g} or more.", "in exact arithmetic",
                    f"{ENOUGH:g} or more", f"{truth:g}")  # fmt: skip
    part8, sums = own_c.module("part8"), []
    for device in (part8.CRunner, None):
        with own_c.on(device):
            sums.append(float(part8.Tensor(numbers).sum().numpy().reshape(())))
    in_c, by_numpy = sums
    rows = (("exactly", f"{truth:g}"), ("your C", f"{in_c:g}"), ("NumPy", f"{by_numpy:g}"))
    wrong_if(in_c != 0, "Your C should say 0.", more=rows)
    wrong_if(by_numpy <= truth / 2, "NumPy loses as much of it as your C does. Which of its eight "
             "sums are the large numbers in?", more=rows)  # fmt: skip
    return (
        f"Exactly, it's {truth:g}. NumPy says {by_numpy:g}, and your C says 0. Nobody's C is wrong "
        "here: floats are added in an order, and yours was a different one."
    )


def _floats(answer) -> np.ndarray:
    values = answer() if callable(answer) else answer
    values = getattr(values, "numpy", lambda: values)()
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes, np.ndarray)):
        values = list(values)
    try:
        with np.errstate(over="ignore"):
            numbers = np.asarray(values, np.float32).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise Wrong("The answer has to be a list of numbers.", got=describe(answer)) from None
    wrong_if(numbers.size < 2, "The answer has to be a list of numbers.", got=describe(answer))
    return numbers

# %% shared
LARGE = 2.0**24
SUM = [LARGE, *[1.0] * 30, -LARGE]

# %% wrong, each line
[1.0] * 30  # says Your C should say 0.
[LARGE, 1.0, -LARGE]  # says 20 or more
[LARGE * 64, *[4.0] * 5, -LARGE * 64]  # says as much of it as your C
[LARGE, *[1.0] * 200, -LARGE]  # says have to be enough
[1e40, 1.0, -1e40]  # says finite
"numbers"  # says a list of numbers
LARGE  # says a list of numbers

# %% right, each line
SUM
