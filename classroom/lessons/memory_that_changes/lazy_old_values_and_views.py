"""What was written down between two changes

Hint: What did `x` hold when `first` was written down? And when `second` was? `assign` doesn't
touch a graph that already exists.
Hint: `x * 10` computes something new. `x[1:]` is a slice, so it looks at whatever `x` is.
Because: `first` was written down before both changes, and `second` between them. Each keeps the
values of its moment, so they start with 10 and 20. `tail` is a view and sees both changes: the 2
that it started with has become a 4.
"""

from classroom.ask import predicts
from tinyframe import Tensor


def first_numbers_between_changes() -> tuple[int, ...]:
    x = Tensor([1, 2, 3]).realize()
    first = x * 10
    x.assign(x + 1)
    second = x * 10
    tail = x[1:]
    x.assign(x + 1)
    x.realize()
    return tuple(t.tolist()[0] for t in (first, second, tail))


check = predicts(first_numbers_between_changes)

# %% guesses
((10, 20, 4), (30, 30, 4), (10, 20, 3), (10, 20, 2), (10, 10, 4))

# %% asked again, each line
'10 20 4'  # no commas; thought right

# %% right, each line
([10], [20], [4])  # lists of one; thought too odd
