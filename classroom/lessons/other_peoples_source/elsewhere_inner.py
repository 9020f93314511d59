"""A kernel as a function

Hint: Element (i, j) of x.T is which element of x? And how far from the beginning is that, in rows
of 4?
Hint: `ops.load("x", j * 4 + i)` and `ops.load("b", j)`, then `ops.add`, then `ops.relu`.
Because: A transposed view costs nothing: it's only a different expression in a load. And fusion
costs nothing, either. The add and the relu are calls inside of one function.
Right: One function, and what it means is up to whoever calls it.
"""

import numpy as np

from classroom.ask import call, describe, same_values, wrong_if
from classroom.define_by_run import Loads, Text, as_c, numbers, reading
from classroom.lessons.other_peoples_source.shared import near, values
from classroom.loop_nests import Var
from tinyframe import Tensor

X_SHAPE, RESULT = (3, 4), (4, 3)


def check(answer) -> None:
    """answer(index): the value of (x.T + b).relu() there, by ops."""
    case = f"`x` of shape {X_SHAPE}, `b` of shape {X_SHAPE[:1]}"
    with reading(Loads()) as taken:
        value = call(answer, (1, 1))
    wrong_if(not isinstance(value, np.floating) and not taken.read,
             "What it returns has to be made by `ops`, from what `ops.load` gives.", case,
             got=describe(value))  # fmt: skip
    first = np.arange(1, 13, dtype=np.float32).reshape(X_SHAPE) - 6
    for x, b in ((first, np.array([0, 10, -3], np.float32)), (values(*X_SHAPE), values(3))):
        shown = x is first
        made = numbers(answer, RESULT, x=x, b=b)
        wanted = np.maximum(x.T + b, 0)
        if near(made, wanted):
            continue
        wrong_if(near(made, x.T + b), "The relu is missing: no value may be below 0.", case)
        wrong_if(near(made, np.maximum(x.T, 0)), "And `b`?", case)
        wrong_if(near(made, np.maximum(x.reshape(RESULT) + b, 0)), "That's x.reshape(4, 3): you "
                 "read x in the order in which it lies in memory. Element (i, j) of x.T is element "
                 "(j, i) of x.", case)  # fmt: skip
        same_values(Tensor(made), wanted, case, shown)
    try:
        with reading(Text()):
            text = str(answer((Var("i"), Var("j"))))
    except TypeError:
        text = as_c(answer, RESULT)
    wrong_if(not all(part in text for part in ("x[", "b[", "max(")), "When `ops` writes C instead "
             "of computing, something gets lost: your function has to work with whatever `ops` "
             "gives it.", got=text)  # fmt: skip

# %% shared
from classroom.define_by_run import ops
def at(index, place, then=None):
    i, j = index
    total = ops.add(ops.load("x", place(i, j)), ops.load("b", j))
    return (then or ops.relu)(total)

# %% wrong, each line
lambda index: at(index, lambda i, j: i * 3 + j)  # says order in which it lies in memory
lambda index: at(index, lambda i, j: j * 4 + i, lambda v: v)  # says The relu is missing
lambda index: ops.relu(ops.load("x", index[1] * 4 + index[0]))  # says And `b`?
lambda index: at(index, lambda i, j: j * 3 + i)  # says expected
lambda index: ops.load("y", 0)  # says there is no 'y'
lambda index: index[0] + index[1]  # says made by `ops`
lambda i, j: ops.load("x", i)  # says TypeError
lambda at: ops.add(ops.relu(ops.load('x', at[1] * 4 + at[0])), ops.load('b', at[1]))  # relu first, then the sum
lambda index: at(index, lambda i, j: j * 4 + i, lambda v: max(v, ops.constant(0)))  # says something gets lost

# %% wrong: says b has 3 elements, and no element 3
def wrong_row(index):
    i, j = index
    return ops.relu(ops.add(ops.load("x", j * 4 + i), ops.load("b", i)))
wrong_row

# %% wrong: a Python if asks for a number while the kernel is only being written
def inner(index):
    i, j = index
    value = ops.add(ops.load("x", j * 4 + i), ops.load("b", j))
    return value if value > 0 else ops.constant(0.0)

# %% right, each line
lambda index: at(index, lambda i, j: i + j * 4)

# %% right
def with_maximum(index):
    n, m = index
    return ops.maximum(ops.constant(0.0), ops.load("b", m) + ops.load("x", n + 4 * m))
with_maximum
