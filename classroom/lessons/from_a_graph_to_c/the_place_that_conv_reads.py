"""A short form of seven million characters

Hint: In which row of the image is the cell, and in which column? Only then: what's its number, if
the rows are written one after another?
Hint: The window begins at (row, column), so the cell is in row `row + i`, column `column + j`.
Cell (y, x) of an image has the number y * width + x: that's `flat`.
Because: The window's own rows and columns are added to where it is, and `flat` makes one
number of the two.
Right: Four counters, one short sum. The rules of stage 7a have to find that by themselves.
"""

import random

import numpy as np

from classroom.ask import Wrong, call, wrong_if
from classroom.lessons.from_a_graph_to_c.shared import _whole


def check(answer) -> None:
    """answer(row, column, i, j, width): where a convolution reads in its image."""
    shapes = [(6, 6, 3, 3), (*random.sample(range(7, 12), 2), *random.sample(range(2, 6), 2))]
    for number, (high, wide, tall, broad) in enumerate(shapes):
        cells = np.arange(high * wide).reshape(high, wide)
        expected = np.lib.stride_tricks.sliding_window_view(cells, (tall, broad))
        got = np.zeros(expected.shape, object)
        for index in np.ndindex(got.shape):
            got[index] = _whole(call(answer, *index, wide), ", that of a cell")
        if (got == expected).all():
            continue
        wrong_if(number, "It's right for an image 6 wide and a filter of 3 × 3, and wrong for "
                 "other sizes.")  # fmt: skip
        row, column, i, j = (int(n) for n in np.argwhere(got != expected)[0])
        rows, columns, down, right = np.indices(expected.shape)
        words = "It reads the wrong cell."
        for mistake, told in (
            ((rows + down) * (wide - broad + 1) + columns + right,
             "You walk down by the width of the result. The image is wider than that."),
            ((columns + right) * wide + rows + down, "You took rows for columns."),
            (rows * wide + columns,
             "That's the corner of the window. Where in the window are we?"),
            ((rows + down) * wide + columns,
             "You move down with `i`, but not to the right with `j`."),
            (rows + down + columns + right,
             "One row further down is `width` cells further on, not one."),
            (rows * wide + columns + down * broad + right,
             "You walk through the window as if it were an image by itself. Its next row is the "
             "next row of the image."),
        ):  # fmt: skip
            if (got == mistake).all():
                words = told
        case = f"row {row}, column {column}, i = {i}, j = {j}, in an image 6 wide"
        raise Wrong(words, case, int(expected[row, column, i, j]), int(got[row, column, i, j]))

# %% wrong, each line
lambda r, c, i, j, width: r * width + c  # says corner of the window
lambda r, c, i, j, width: (r + i) * 6 + c + j  # says wrong for other sizes
lambda r, c, i, j, width: ((r + i) * width + c + j) / 4  # says whole number
lambda row, column, i, j, width: column + j + width * row + i  # a pair of brackets is missing

# %% right, each line
lambda r, c, i, j, width: r * width + c + i * width + j
