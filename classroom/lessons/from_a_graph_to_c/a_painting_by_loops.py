"""A design: a picture from two counters

Hint: Which patterns do you know that are made of whole numbers? What do (row * row + column *
column), or row ^ column, look like?
Hint: Divide and take remainders for stripes and tiles, cast(dtypes.float) for smooth things such
as sin(), and (…).where(a, b) to choose. A Python loop is fine: it makes a longer graph.
Because: It's 24 steps of z² + c, written out one after another by a Python loop. What depends on
the row alone is computed once per row.
Right: A kernel that reads nothing, from your formula to the pixels. Show it to someone.
"""

import numpy as np

from classroom.ask import Wrong, call, describe, wrong_if
from classroom.lowered import COLUMNS, ROWS, pixels_of, unfit
from tinyframe.uop import UOp

SECONDS = 60


def check(answer) -> None:
    """answer(row, column): the value of each pixel, from nothing but the two counters."""
    row, column = UOp.range(ROWS, 0), UOp.range(COLUMNS, 1)
    value = call(answer, row, column)
    if not isinstance(value, UOp):
        raise Wrong("The answer has to be a UOp, made of `row` and `column`.", got=describe(value))
    wrong_if(trouble := unfit(value, row, column), trouble)
    for counter, name in ((row, "row"), (column, "column")):
        if counter not in value.ranges:
            raise Wrong(f"Your pixels don't depend on `{name}`: it's all stripes.")
    if not any(u.ranges == {row} and u is not row for u in value.toposort()):
        raise Wrong("Nothing in it is computed once per row. Give the outer loop some work: "
                    "something that depends on `row` alone.")  # fmt: skip
    pixels = pixels_of(answer)
    if not np.isfinite(pixels).all():
        raise Wrong(f"{int((~np.isfinite(pixels)).sum()):,} of the pixels are infinite or NaN. "
                    "Those can't be drawn.")  # fmt: skip
    if (shades := len(np.unique(pixels))) < 8:
        raise Wrong(f"A picture needs some shades: at least 8 values. Yours has {shades}.")

# %% shared
from tinyframe import dtypes

# %% wrong, each line
lambda row, column: column * 3 % 50  # says don't depend on `row`
lambda row, column: row + column  # says once per row
lambda row, column: (row - 20).cast(dtypes.float).sqrt() + column.cast(dtypes.float)  # says infinite or NaN
lambda row, column: row * 2 < column  # says some shades
lambda row, column: row * 0.5 + column  # says a whole number meets a float
lambda row, column: abs(row - 120) * 2 + column  # Python's abs isn't in the exercise's list, and nodes don't have it; I had overlooked that
lambda row, column: min(row * 3, column)  # Python's min has to know which is smaller
lambda row, column: 0.5  # says made of `row` and `column`

# %% right, each line
lambda row, column: row * row % 97 + column
