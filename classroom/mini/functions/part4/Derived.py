"""Hint: Each of these is a sentence about ops that are there. Subtracting is adding something.
Dividing is multiplying by something. And when are two numbers equal, if all you can ask is which
is smaller?
Hint: `y` may be a plain number, and a number has no methods: x.const(y) makes it a node. For the
two exponentials: e to the x is 2 to some other power, and log2 differs from the natural logarithm
by a factor. Which one? `math` knows, to 16 digits.
Because: e**x = 2**(x log2(e)), and ln(x) = log2(x) ln(2). Two numbers are equal if neither is
smaller (NaN aside, which should equal nothing). None of this needs an op of its own, so none of
it will need a row in the table of gradients, a line of C, or a circuit on a chip.
"""

from typing import Any

import numpy as np

from classroom.mini.check import EXACT, Wrong, describe, expect_values, is_close, promise, shown
from classroom.mini.functions.part4.shared import buffer, sink_of

DERIVED = "__neg__ __sub__ __rsub__ __truediv__ __rtruediv__ __gt__ eq relu exp log".split()
SHORT = "This has too few digits: {} is {:.7f} to seven, and `math` has all of them."
X = np.array([-3.0, -0.5, 0.0, 1.0, 2.5], np.float32)
Y = np.array([-3.0, 0.5, 1.0, -4.0, 2.0], np.float32)
POSITIVE = np.array([0.25, 1.0, 3.0], np.float32)


# how it is written, what it does, what NumPy does, and mistakes
OPERATIONS: tuple[tuple[str, str, Any, Any, tuple[tuple[Any, str], ...]], ...] = (
    ("__neg__", "-x", lambda x, y: -x, -X, ()),
    ("__sub__", "x - y", lambda x, y: x - y, X - Y, (
        (Y - X, "This is y - x."),)),
    ("__sub__", "x - 1", lambda x, y: x - 1, X - 1, ()),
    ("__rsub__", "1 - x", lambda x, y: 1 - x, 1 - X, (
        (X - 1, "This is x - 1. Python calls x.__rsub__(1) for 1 - x."),)),
    ("__truediv__", "x / y", lambda x, y: x / y, X / Y, ()),
    ("__truediv__", "x / 4", lambda x, y: x / 4, X / 4, ()),
    ("__rtruediv__", "6 / y", lambda x, y: 6 / y, 6 / Y, (
        (Y / 6, "This is y / 6. Python calls y.__rtruediv__(6) for 6 / y."),)),
    ("__gt__", "x > y", lambda x, y: x > y, (X > Y) * 1.0, (
        ((X >= Y) * 1.0, "Where the two are equal, it says 1. That's >=."),
        ((X < Y) * 1.0, "This is x < y."))),
    ("__gt__", "x > 0", lambda x, y: x > 0, (X > 0) * 1.0, ()),
    ("eq", "x.eq(y)", lambda x, y: x.eq(y), (X == Y) * 1.0, (
        ((X != Y) * 1.0, "This is 1 where they differ."),
        ((X >= Y) * 1.0, "This is x >= y: equal means that neither is smaller."),
        ((X <= Y) * 1.0, "This is x <= y: equal means that neither is smaller."))),
    ("eq", "x.eq(1)", lambda x, y: x.eq(1), (X == 1) * 1.0, ()),
    ("relu", "x.relu()", lambda x, y: x.relu(), np.maximum(X, 0), (
        (np.minimum(X, 0), "This keeps the negative ones."),
        (np.abs(X), "This is the absolute value."),
        ((X > 0) * 1.0, "This says only where x is positive."))),
    ("exp", "x.exp()", lambda x, y: x.exp(), np.exp(X), (
        (2**X, "This is 2**x. In e**x = 2**(x * something), what is the something?"),
        (np.exp2(X * np.log(2)), "The factor is upside down: log2(e), and not ln(2)."),
        (np.exp2(X * 1.4427), SHORT.format("log2(e)", np.log2(np.e))),
        (np.exp2(X * 1.443), SHORT.format("log2(e)", np.log2(np.e))),
        (np.exp2(X * 1.44), SHORT.format("log2(e)", np.log2(np.e))))),
    ("log", "x.log()", lambda x, y: x.log(), np.log(POSITIVE), (
        (np.log2(POSITIVE), "This is the logarithm to base 2."),
        (np.log2(POSITIVE) / np.log(2), "You divided by ln(2). log2 is the larger one: multiply."),
        (np.log2(POSITIVE) * 0.6931, SHORT.format("ln(2)", np.log(2))),
        (np.log2(POSITIVE) * 0.693, SHORT.format("ln(2)", np.log(2))))),
)  # fmt: skip


def derived(mini, operations: Any) -> None:
    missing = [name for name in DERIVED if name not in vars(mini.Derived)]
    if missing:
        raise Wrong(f"There is no `{missing[0]}` in Derived"
                    + (f", and {len(missing) - 1} more are missing." if missing[1:] else "."),
                    f"x.{missing[0]}")  # fmt: skip
    for name, said, f, wanted, mistakes in operations:
        x, y = buffer(mini, POSITIVE if name == "log" else X), buffer(mini, Y)
        try:
            node = f(x, y)
        except RecursionError:
            raise Wrong(f"{said} asks itself without end. Is a plain number to the left of an "
                        f"operator in your {name}? Python turns `2 < x` around, to `x > 2`, and `2 "
                        "- x` is `x.__rsub__(2)`. `x.const(2)` is a node.",
                        said) from None  # fmt: skip
        if not isinstance(node, mini.UOp):
            nothing = " Is there a `return`?" if node is None else ""
            raise Wrong(f"{said} should be a node.{nothing}", said, "a UOp", describe(node))
        got = mini.interpret(sink_of(mini, node))[0]
        for mistake, sentence in mistakes:
            if is_close(got, np.float32(mistake), EXACT) and not is_close(got, wanted, EXACT):
                raise Wrong(sentence, said, shown(wanted), shown(got))
        expect_values(said, got, wanted, within=EXACT)


UP_TO_INTERPRET = ("UOp.__new__", "UOp.toposort", "interpret")


@promise("-x, x - y, x / y, with nodes and with numbers on either side", needs=UP_TO_INTERPRET)
def arithmetic(mini) -> None:
    derived(mini, OPERATIONS[:7])


@promise("x > y, x.eq(y) and relu", needs=UP_TO_INTERPRET)
def comparisons(mini) -> None:
    derived(mini, OPERATIONS[7:12])
    near = buffer(mini, [1e-8, 1.0]).eq(buffer(mini, [0.0, 1.0]))
    got = mini.interpret(sink_of(mini, near))[0]
    if got[0] != 0:
        said = "x.eq(y), where x is [1e-08, 1] and y is [0, 1]"
        raise Wrong("Two numbers that are close aren't equal.", said, "[0, 1]", shown(got))


@promise("exp and log, to seven digits", needs=UP_TO_INTERPRET)
def exponentials(mini) -> None:
    derived(mini, OPERATIONS[12:])

# %% wrong: with a number for y, Python turns y < x around, and asks __gt__ again
class Derived:
    def __neg__(x): return x * -1
    def __sub__(x, y): return x + y * -1
    def __rsub__(x, y): return x * -1 + y
    def __truediv__(x, y): return x * x.const(y).recip()
    def __rtruediv__(x, y): return x.recip() * y
    def __gt__(x, y): return y < x
    def eq(x, y): return 1 - (x < y) - (x > y)
    def relu(x): return x.maximum(0)
    def exp(x): return (x / math.log(2)).exp2()
    def log(x): return x.log2() * math.log(2)

# %% wrong: nearly equal is not equal
class Derived:
    def __neg__(x): return x * -1
    def __sub__(x, y): return x + y * -1
    def __rsub__(x, y): return x * -1 + y
    def __truediv__(x, y): return x * x.const(y).recip()
    def __rtruediv__(x, y): return x.recip() * y
    def __gt__(x, y): return x.const(y) < x
    def eq(x, y): return (x - y).maximum(y - x) < 1e-6
    def relu(x): return x * (x > 0)
    def exp(x): return (x / math.log(2)).exp2()
    def log(x): return x.log2() * math.log(2)

# %% wrong: says There is no `__sub__` in Derived
class Derived:
    def __neg__(x):
        return x * -1

# %% right: where, and the logarithms of math
class Derived:
    def __neg__(x): return x * -1
    def __sub__(x, y): return x + y * -1
    def __rsub__(x, y): return x * -1 + y
    def __truediv__(x, y): return x * (y.recip() if isinstance(y, UOp) else 1 / y)
    def __rtruediv__(x, y): return x.recip() * y
    def __gt__(x, y): return x.const(y) < x
    def eq(x, y): return (x < y).where(0.0, (x > y).where(0.0, 1.0))
    def relu(x): return (x > 0).where(x, 0.0)
    def exp(x): return (x * (1 / math.log(2))).exp2()
    def log(x): return x.log2() / math.log2(math.e)
