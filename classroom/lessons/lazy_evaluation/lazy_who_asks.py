"""Which lines run a kernel

Hint: Which of the lines can't do without the numbers?
Hint: You can read shape, dtype and op off the expression. And what does `y` hold when it has been
computed once?
Because: Only line 3 needs numbers that aren't there yet. It runs one kernel, for the product and
the sum together, and `y` holds the result from then on. So line 4 just reads it.
"""

from classroom.ask import fresh_sizes, fresh_tensor, predicts
from tinyframe import GlobalCounters


def kernels_after_each_line() -> tuple[int, ...]:
    (n,) = fresh_sizes(1)
    a, b = fresh_tensor(n), fresh_tensor(n)
    before, counts = GlobalCounters.kernel_count, []
    y = a * b + a
    for look in (lambda: None, lambda: f"{y.shape} {y}", y.tolist, y.tolist):
        look()
        counts.append(GlobalCounters.kernel_count - before)
    return tuple(counts)


check = predicts(kernels_after_each_line)

# %% guesses
((0, 0, 1, 1), (2, 2, 2, 2), (0, 1, 1, 1), (0, 0, 1, 2), (0, 0, 2, 2))

# %% wrong, each line
range(4)  # 0, 1, 2, 3: four numbers, if by an odd road

# %% asked again, each line
(0, 1, 1)  # three numbers of four

# %% right, each line
'0, 0, 1, 1'  # typed as text
