"""Hint: Row j of the result is the row you have, starting j later. So you want `size` copies, each
shifted by one more. You could shrink, j after j, and put the pieces together again. Or there is a
trick without pieces. What shifts when you cut an endless row a bit too late?
Hint: Write the row 0 1 2 3 three times in a line, 0 1 2 3 0 1 2 3 0 1 2 3, and cut that into rows
of 5, one longer than the row was. Look at how they begin. Repeating is reshape, expand, reshape;
cutting is shrink, reshape; and the columns at the end are too many.
Because: Each row of n + 1 begins one element later than the one above it, because the copies are
n long. Nothing is computed: five movements and no arithmetic.
"""

import numpy as np

from classroom.mini.check import expect_values, promise
from classroom.mini.functions.part5.shared import NEEDED, expression, floats


def windows_of(x: np.ndarray, size: int) -> np.ndarray:
    return np.stack([x[..., j : j + x.shape[-1] - size + 1] for j in range(size)], -2)


@promise("The windows of 2 along 0 1 2 3", needs=NEEDED)
def small_windows(mini) -> None:
    row = np.arange(4, dtype=np.float32)
    t = mini.Tensor(row)
    got = expression(mini, "t.windows(2)", t.uop.windows(2), t)
    expect_values("Tensor([0, 1, 2, 3]).windows(2)", got.numpy(), windows_of(row, 2), (
        (windows_of(row, 2).T, "These are the windows as rows. They should be columns: [j, o] is "
                               "element o + j."),
        ([[0, 1, 2], [0, 1, 2]], "The second row hasn't moved. Cut into rows of n + 1, one more "
                                 "than the row had."),
        ([[0, 1, 2], [3, 0, 1]], "The second row moved the wrong way. Cut into rows of n + 1, one "
                                 "more than the row had."),
        ([[0, 1, 2, 3, 0], [1, 2, 3, 0, 1]], "Nearly: only the first n - size + 1 columns are "
                                             "windows. The rest is from the next copy."),
        ([[0, 1, 2, 3], [1, 2, 3, 0]], "The last column isn't a window: it runs over the end. "
                                       "There are n - size + 1."),
    ))  # fmt: skip


@promise("Of size 1, of the whole row, and of rows in two more axes", needs=NEEDED)
def more_windows(mini) -> None:
    for shape, size in (((5,), 1), ((5,), 5), ((2, 3, 6), 3)):
        x = floats(*shape)
        said = f"t.windows({size}), where t has the shape {shape}"
        expect_values(said, mini.Tensor(x).windows(size).numpy(), windows_of(x, size))

# %% wrong, changed: says The second row hasn't moved
# -     x = x.reshape(rows, 1, n).expand(rows, size + 1, n).reshape(rows, (size + 1) * n)
# -     x = x.shrink((0, rows), (0, size * (n + 1))).reshape(rows, size, n + 1)
# +     x = x.reshape(rows, 1, n).expand(rows, size, n)

# %% right: rows one longer, with zeros at the end
def windows(x, size):
    *lead, n = x.shape
    wide = n + size
    y = x.pad(*[(0, 0)] * len(lead), (0, size)).reshape(*lead, 1, wide)
    y = y.expand(*lead, size, wide).reshape(*lead, size * wide)
    every = [(0, d) for d in lead]
    y = y.pad(*[(0, 0)] * len(lead), (0, size)).reshape(*lead, size, wide + 1)
    return y.shrink(*every, (0, size), (0, n - size + 1))
