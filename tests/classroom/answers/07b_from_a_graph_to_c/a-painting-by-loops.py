# %% shared
from tinyframe.uop import Ops, UOp
from tinyframe import dtypes
def counters(u, closes=True):
    if u.op is Ops.RANGE:
        return {u}
    found = set().union(*(counters(s, closes) for s in u.src))
    return found - set(u.src[1:]) if closes and u.op is Ops.REDUCE else found

def floats(*counters):
    return [counter.cast(dtypes.float) for counter in counters]

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

# %% right
from functools import cache, reduce
def ten_waves(row, column):
    """A Python loop, and an int for a start."""
    y, x = floats(row, column)
    return reduce(lambda s, k: s + (y * 0.01 * k).sin() * (x * 0.02 * k).sin(), range(1, 11), 0)
ten_waves
