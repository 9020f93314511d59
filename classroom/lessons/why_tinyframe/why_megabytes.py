"""How many megabytes do three loops move, and how many does one?

Hint: A million floats are 4 MB. Count 4 MB each time a million floats are read or written.
Hint: `a * b` reads two and writes one. Count the same way for `+ 1` and for the sum, then for the
single loop.
Because: 12 MB for `a * b` (two read, one written), 8 MB for `+ 1`, 4 MB for the sum: 24 MB.
Fused, only `a` and `b` are read, 8 MB, and one number is written.
"""

from classroom.ask import (
    predicts,
)
from tinyframe import GlobalCounters, Tensor


def megabytes_of_three_and_of_one() -> tuple[int, ...]:
    a, b = (Tensor.zeros(1_000_000).contiguous().realize() for _ in range(2))
    before = GlobalCounters.global_mem
    ((a * b).realize() + 1).realize().sum().realize()
    between = GlobalCounters.global_mem
    (a * b + 1).sum().realize()
    return round((between - before) / 1e6), round((GlobalCounters.global_mem - between) / 1e6)


check = predicts(megabytes_of_three_and_of_one)

# %% guesses
((24, 8), (20, 8), (12, 4), (8, 24))

# %% wrong, each line
(24_000_000, 8_000_000)  # bytes; megabytes were asked for

# %% asked again, each line
(24.0, 8.000004)  # exact to the byte, but whole numbers were asked for (I had said wrong)
Tensor([24, 8])  # a Tensor of two (I had said right)

# %% right, each line
[24, 8]  # a list
