"""The mean of two pictures

Hint: What is 200 + 100, in a uint8?
Hint: Which dtype has room for 300? `a.int()` converts, `//` divides and rounds down, and
`.cast("uint8")` goes back.
Because: 200 + 100 needs more than 8 bits, so the sum has to be made in a wider dtype. The mean
fits again, so it can go back to uint8.
Right: The sum of two bytes may not fit in a byte. You made room first, then went back.
"""

import numpy as np

from classroom.ask import describe, fresh_sizes, same_values, tensor_of, wrong_if
from tinyframe import Tensor
from tinyframe.dtype import dtypes


def check(answer) -> None:
    """answer(a, b): the mean of two pictures of uint8, rounded down, as uint8."""
    first = np.array([10, 200, 255], np.uint8), np.array([20, 100, 255], np.uint8)
    fresh = np.random.default_rng().integers(0, 256, (2, *fresh_sizes(2)), dtype=np.uint8)
    fresh[:, 0, 0] = 255
    for a, b in (first, tuple(fresh)):
        small = a.size == 3
        case = "`a = [10, 200, 255]`, `b = [20, 100, 255]`" if small else "two larger pictures"
        got = tensor_of(answer, Tensor(a).realize(), Tensor(b).realize(), case=case)
        expected = (a.astype(np.int32) + b) // 2
        halves = (a.astype(np.float32) + b) / 2
        mistakes = {
            "Some sums are larger than 255. A uint8 can't hold those, so they wrapped around.":
                (a + b) // 2,
            "You rounded to the nearest whole number. Here every half is rounded down.":
                np.round(halves),
            "Every half was rounded up. Here it is rounded down.": np.ceil(halves),
        }  # fmt: skip
        same_values(got, expected, case, small, mistakes)
        wrong_if(got.dtype != dtypes.uint8,
                 "The values are right, but these are no longer bytes: cast the result to `uint8`.",
                 case, "a Tensor of uchar (uint8)", describe(got))  # fmt: skip

# %% wrong, each line
lambda a, b: (a + b) / 2  # says they wrapped around
lambda a, b: a // 2 + b // 2 + 1  # says [0] is 16
lambda a, b: (a.int() + b) / 2  # says no longer bytes

# %% right, each line
lambda a, b: (a & b) + (a ^ b) // 2
