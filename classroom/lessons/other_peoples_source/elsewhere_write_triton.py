"""A softmax in Triton's manner

Hint: The kernel of 10.9 has the same beginning and the same end. What has to be in the places
behind the row, so that they neither are the maximum nor add to the sum?
Hint: `tl.load(…, mask=mask, other=-float("inf"))`, then `tl.max`, `tl.exp`, `tl.sum`.
Because: exp of minus infinity is 0, and minus infinity is no maximum. With that, a block that's
longer than the row does no harm.
Right: A softmax in one kernel, and what's behind the end of a row doesn't count.
"""

import numpy as np

from classroom.ask import Wrong, fresh_sizes, same_values, wants_written, wrong_if
from classroom.lessons.other_peoples_source.shared import near, values
from classroom.triton_like import by_rows
from tinyframe import Tensor


def softmax_of(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def padded_softmax(x: np.ndarray, block: int) -> np.ndarray:
    """What comes out if everything behind the row is taken for zeros."""
    wide = np.zeros((len(x), block), np.float32)
    wide[:, : x.shape[1]] = x
    return softmax_of(wide)[:, : x.shape[1]]


def check(answer) -> None:
    """answer(x_ptr, out_ptr, columns, BLOCK): the softmax of a row, in each program."""
    wants_written(answer, "This exercise asks for a kernel, which is a function.")
    rows = fresh_sizes(1)[0]
    cases = {
        "rows of 4, in a BLOCK of 4": (np.array([[1, 2, 3, 4], [0, 0, -1, 2]], np.float32), 4),
        "rows of 3, in a BLOCK of 4": (np.array([[-1, -2, -3], [0, 1, 2]], np.float32), 4),
        "rows of 3, in a BLOCK of 16": (np.array([[-5, -6, -7], [5, 1, 2]], np.float32), 16),
        "large numbers": (np.array([[1000, 999], [-500, -500]], np.float32), 2),
        "rows far below 0, in a BLOCK of 4": (np.array([[-500, -501, -502]], np.float32), 4),
        "a different shape": (values(rows, 11, scale=9), 16),
    }
    for case, (x, block) in cases.items():
        made = by_rows(answer, Tensor(x), block=block).numpy()
        wanted = softmax_of(x)
        if near(made, wanted):
            continue
        wrong_if(np.isnan(made).all() and "large" not in case and block == x.shape[1],
                 "Nothing sensible arrived in out_ptr. Does each program store its row?",
                 case)  # fmt: skip
        wrong_if(np.isnan(made).all(axis=1).any() and "large" in case,
                 "exp of 1000 is more than a float can hold. Subtract the row's maximum first.",
                 case)  # fmt: skip
        if near(made[:1], wanted[:1]) and len(x) > 1 and not np.isfinite(made[1:]).any():
            raise Wrong("Only the first row arrives. Where in out_ptr does a row begin?", case)
        if near(made, padded_softmax(x, block)) or (made.sum(axis=1) < 0.999).any():
            raise Wrong(
                "What's behind the end of the row counts, too: each row adds up to less than 1. "
                "What has to be there, so that its exp is 0?",
                case,
                more=(("row sums", ", ".join(f"{s:.3f}" for s in made.sum(axis=1))),)
                if "different" not in case
                else (),
            )
        wrong_if(np.isnan(made).all() and "below" in case, "Your maximum looks behind the end of "
                 "the row, too. What's there is larger than anything in these rows.",
                 case)  # fmt: skip
        wrong_if(np.isnan(made).any(), "There's NaN in it. Where a mask is False nothing is "
                 "loaded, and what's there then isn't defined, unless you give `load` an `other`.",
                 case)  # fmt: skip
        if block == x.shape[1] and near(made.sum(axis=1), np.ones(len(x), np.float32)):
            raise Wrong("It adds up to 1, but it isn't the softmax.", case)
        same_values(Tensor(made), wanted, case, shown="different" not in case)

# %% shared
from classroom.define_by_run import ops
from classroom.triton_like import tl
def softmax(
    other=float("-inf"), minus=True, in_row=True, total=True, stores=True, masked=True, safe=True
):
    """A kernel that does or does not do what it should."""

    def kernel(x_ptr, out_ptr, columns, BLOCK):
        i = tl.arange(0, BLOCK)
        mask = i < columns if masked else None
        at = i + tl.program_id(0) * columns if in_row else i
        e = tl.load(x_ptr + at, mask=mask, other=other)
        e = tl.exp(e - tl.max(e) if minus else e)
        if stores:
            tl.store(out_ptr + at, e / tl.sum(e) if total else e, mask=mask)

    return kernel

def at(index, place, then=None):
    i, j = index
    total = ops.add(ops.load("x", place(i, j)), ops.load("b", j))
    return (then or ops.relu)(total)

# %% wrong, each line
softmax(other=0.0)  # says adds up to less than 1
softmax(other=None)  # says isn't defined
softmax(minus=False)  # says more than a float can hold
softmax(in_row=False)  # says Only the first row arrives
softmax(stores=False)  # says Does each program store its row
softmax(total=False)  # says expected
softmax(masked=False)  # says A mask would leave it alone
"softmax"  # says asks for a kernel

# %% wrong: says Your maximum looks behind the end
def maximum_of_all(x_ptr, out_ptr, columns, BLOCK):
    i = tl.arange(0, BLOCK)
    at = i + tl.program_id(0) * columns
    e = tl.load(x_ptr + at, mask=i < columns, other=0.0)
    e = tl.exp(e - tl.max(e)) * (i < columns)
    tl.store(out_ptr + at, e / tl.sum(e), mask=i < columns)
maximum_of_all

# %% wrong: says TypeError
def without_block(x_ptr, out_ptr, columns):
    tl.store(out_ptr, columns)
without_block

# %% wrong: says it isn't the softmax
def of_twice(x_ptr, out_ptr, columns, BLOCK):
    i = tl.arange(0, BLOCK)
    at = i + tl.program_id(0) * columns
    e = tl.load(x_ptr + at, mask=i < columns, other=float("-inf"))
    e = tl.exp((e - tl.max(e)) * 2)
    tl.store(out_ptr + at, e / tl.sum(e), mask=i < columns)
of_twice

# %% right, each line
softmax()

# %% right
def by_where(x_ptr, out_ptr, columns, BLOCK):
    i = tl.arange(0, BLOCK)
    values = tl.load(x_ptr + tl.program_id(0) * columns + i, mask=i < columns, other=0.0)
    values = tl.where(i < columns, values, -float("inf"))
    e = tl.exp(values - tl.max(values, axis=0))
    tl.store(out_ptr + tl.program_id(0) * columns + i, e / tl.sum(e, axis=0), mask=i < columns)
by_where
