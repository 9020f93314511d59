"""A row for the larger of two

Hint: The pattern is built like the expression itself, with UPats in place of the numbers. Which
names occur twice in it?
Hint: `UPat.var("x", dtypes.ints)` matches whole numbers only. Then `(x < y).where(y, x)` is the
pattern, and the function gets x and y.
Because: A name that occurs twice has to meet the same node twice, which is what tells a maximum
from any other choice. And with a NaN the WHERE isn't a maximum, so the row is for whole numbers.
Right: It fires where it should, with constants and with sums in the holes, and it leaves minima and
floats alone.
"""

import random

from classroom.added import table_of
from classroom.ask import Wrong, wants
from classroom.lessons.rules.shared import given, refuse_lie
from classroom.lies import lie, number, written
from tinyframe.dtype import dtypes
from tinyframe.uop import Ops, UOp


def check(answer) -> None:
    """answer(): a row that makes x.maximum(y) of where(x < y, y, x), of whole numbers."""
    table = table_of(given(answer))
    i, j, k = (UOp.variable(name, -n, 9) for n, name in enumerate("ijk", 2))
    p, q = number("p"), number("q")
    s, t = (UOp.variable(name, 0, 9, dtypes.uint8) for name in "st")
    n, m = random.sample(range(3, 20), 2)
    for x, y in ((i, j), (j * 2, i + 1), (k, k.const_like(4)), (i * n + j, k * m), (s, t)):
        before = (x < y).where(y, x)
        after = table.rewrite(before)
        if after is None:
            small = ", with s and t of dtype uint8, which are whole numbers, too" * (x is s)
            raise Wrong("Your row doesn't fire here.", f"`{written(before)}`{small}")
        wants(after, UOp, "a UOp", f"`{written(before)}`")
        refuse_lie(before, after)
        if any(u.op is Ops.WHERE for u in after.toposort()):
            raise Wrong("There's still a WHERE in it.", f"`{written(before)}`",
                        got=f"`{written(after)}`")  # fmt: skip
    for before in ((i < j).where(i, j), (i < j).where(j, k), (i < j).where(k, i)):
        if (after := table.rewrite(before)) is not None:
            refuse_lie(before, after)
    floats = (p < q).where(q, p)
    if (after := table.rewrite(floats)) is not None:
        found = lie(floats, after)
        said = "" if found is None else f" For {found.where()}, it lies."
        raise Wrong(f"It fires for floats as well.{said} UPat.var takes the dtypes that may match "
                    "as its second argument.",
                    f"`{written(floats)}`, with floats p and q")  # fmt: skip

# %% shared
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.dtype import dtypes
x, y, z, v = (UPat.var(name) for name in "xyzv")
i, j = (UPat.var(name, dtypes.ints) for name in "xy")

# %% wrong, each line
((x < y).where(y, x), lambda x, y: x.maximum(y))  # says fires for floats as well
((i < j).where(i, j), lambda x, y: x.maximum(y))  # says doesn't fire
((i < j).where(j, i), lambda x, y: x)  # says That's a lie
((i < j).where(j, i), lambda x, y: (y < x).where(x, y))  # says still a WHERE
lambda x, y: x.maximum(y)  # says A row has to be a pair
3  # says asks for a function

# %% wrong: int32 only; a uint8 is a whole number, too
def larger():
    x, y = UPat.var("x", dtypes.int), UPat.var("y", dtypes.int)
    return (x < y).where(y, x), lambda x, y: x.maximum(y)

# %% right, each line
((i < j).where(j, i), lambda x, y: y.maximum(x))
