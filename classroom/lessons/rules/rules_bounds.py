"""Bounds

Hint: Where does `x * y` have its smallest value, if both may be negative? And when does `x % 4`
skip some of 0 to 3?
Hint: For `*` try all four corners. For `%`: if both ends of x have the same quotient, `low // n
== high // n`, the remainder just goes up from `low % n` to `high % n`. Otherwise it's 0 to n - 1.
Because: + , -, max and * have their extremes at the corners, since they rise or fall in each
side. A remainder goes up and starts again at 0, unless x stays between two multiples of n.
Right: Never too narrow, never wider than it has to be, on negative numbers, too. A compiler with
that function knows things about your program that you never told it.
"""

import itertools
import operator
import random
from collections.abc import Callable, Iterator

import numpy as np

from classroom.ask import Wrong, call, wrong_if
from tinyframe.uop import Ops

OPS: dict[Ops, tuple[str, Callable[[int, int], int]]] = {
    Ops.ADD: ("+", operator.add),
    Ops.SUB: ("-", operator.sub),
    Ops.MUL: ("*", operator.mul),
    Ops.MAX: ("max", max),
    Ops.MOD: ("%", operator.mod),
}


def check(answer) -> None:
    """answer(op, x, y): the bounds of x op y, where x and y are pairs of bounds."""
    cases = [
        (Ops.ADD, (0, 3), (1, 5)), (Ops.SUB, (0, 3), (1, 5)), (Ops.MUL, (2, 3), (1, 5)),
        (Ops.MUL, (-2, 3), (-7, 5)), (Ops.MAX, (0, 9), (4, 6)), (Ops.MOD, (0, 9), (4, 4)),
        (Ops.MOD, (0, 2), (4, 4)), (Ops.MOD, (5, 7), (4, 4)), (Ops.MOD, (-2, 2), (4, 4)),
        (Ops.MOD, (-7, -6), (4, 4)), (Ops.MOD, (3, 5), (4, 4)),
    ]  # fmt: skip
    for op, x, y in cases:
        one_bound(answer, op, x, y)
    for _ in range(60):
        op = random.choice(list(OPS))
        (a, b), (c, d) = (sorted(random.choices(range(-12, 13), k=2)) for _ in range(2))
        n = random.randint(1, 9)
        one_bound(answer, op, (a, b), (n, n) if op is Ops.MOD else (c, d))


def one_bound(answer, op: Ops, x: tuple[int, int], y: tuple[int, int]) -> None:
    sign, function = OPS[op]
    case = f"`{op}`, {x}, {y}"
    got = call(answer, op, x, y)
    pair = list(got) if hasattr(got, "__len__") or isinstance(got, Iterator) else [got]
    if len(pair) != 2 or not all(isinstance(one, (int, float, np.number)) for one in pair):
        raise Wrong("The answer has to be a pair of numbers.", case, got=repr(got))
    low, high = pair
    values = {
        (p, q): function(p, q)
        for p, q in itertools.product(range(x[0], x[1] + 1), range(y[0], y[1] + 1))
    }
    for (p, q), value in values.items():
        if not low <= value <= high:
            text = f"max({p}, {q})" if op is Ops.MAX else f"{p} {sign} {signed(q)}"
            raise Wrong(f"That has to be wider: {text} is {value}.", case, got=(low, high))
    best = min(values.values()), max(values.values())
    wrong_if((low, high) != best, "That's true, but wider than it has to be. Whatever is too wide "
             "keeps a division in the program.", case, expected=best, got=(low, high))  # fmt: skip


def signed(value: int) -> str:
    return f"({value})" if value < 0 else str(value)

# %% shared
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.uop import Ops, UOp
x, y, z, v = (UPat.var(name) for name in "xyzv")
PLAIN = {Ops.ADD: lambda p, q: p + q, Ops.SUB: lambda p, q: p - q, Ops.MUL: lambda p, q: p * q,
         Ops.MAX: max, Ops.MOD: lambda p, q: p % q}
def corners(op, x, y):
    values = [PLAIN[op](p, q) for p in x for q in y]
    return min(values), max(values)

def by_cases(op, x, y):
    (a, b), (low, high) = x, y
    if op is Ops.ADD:
        return [a + low, b + high]
    if op is Ops.SUB:
        return [a - high, b - low]
    if op is Ops.MAX:
        return [max(a, low), max(b, high)]
    if op is Ops.MUL:
        products = sorted([a * low, a * high, b * low, b * high])
        return products[0], products[3]
    return (0, low - 1) if a // low != b // low else (float(a % low), float(b % low))

# %% wrong, each line
corners  # says has to be wider
lambda op, x, y: (-1000, 1000)  # says wider than it has to be
lambda op, x, y: 3  # says a pair of numbers

# %% right, each line
by_cases
