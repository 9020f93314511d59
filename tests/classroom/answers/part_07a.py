"""Part 7a: what somebody might answer, and what they are told."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np

from tinyframe import Variable
from tinyframe.dtype import dtypes
from tinyframe.rewrite import PatternMatcher, UPat
from tinyframe.uop import Ops, UOp

# exercises that ask for an object, and not for a function, or for a function that only makes one
OBJECTS: set[str] = {"7.2", "7.3", "7.7", "7.9"}

# for each prediction what is right, and what somebody might think
GUESSES: dict[str, tuple[Any, ...]] = {
    "7.1": ((3, 8), (10, 10), (8, 10), (3, 10), (5, 9)),
    "7.4": ((7, 5), (7, 7), (7, 3), (1, 1), (8, 4)),
    "7.8": ((0, 0, 2, 1), (2, 0, 0, 0), (2, 0, 2, 1), (0, 0, 1, 0), (2, 2, 2, 1)),
}

CAUGHT = {1: -0.0, 3: inf, 4: inf, 6: 0, 7: (1, 1e8), 8: 3e38, 10: (nan, 0)}

x, y, z, v = (UPat.var(name) for name in "xyzv")
i, j = (UPat.var(name, dtypes.ints) for name in "xy")
c, d = UPat.cvar("c"), UPat.cvar("d")
m, n = Variable("m", 0, 9), Variable("n", 0, 5)


# ---- 7.5 -----------------------------------------------------------------------------------------

DOUBLE = (x + x, lambda x: x * 2)
HALVE = (x * 2, lambda x: x + x)
FACTOR = (x * z + y * z, lambda x, y, z: (x + y) * z)
EXPAND = ((x + y) * z, lambda x, y, z: x * z + y * z)
TURN = (x + y, lambda x, y: y + x)


# ---- 7.6 -----------------------------------------------------------------------------------------

PLAIN = {Ops.ADD: lambda p, q: p + q, Ops.SUB: lambda p, q: p - q, Ops.MUL: lambda p, q: p * q,
         Ops.MAX: max, Ops.MOD: lambda p, q: p % q}  # fmt: skip


def ends(op, x, y):
    """The lower ends and the upper ends, each by themselves."""
    return PLAIN[op](x[0], y[0]), PLAIN[op](x[1], y[1])


def corners(op, x, y):
    values = [PLAIN[op](p, q) for p in x for q in y]
    return min(values), max(values)


def whole_remainder(op, x, y):
    return (0, y[0] - 1) if op is Ops.MOD else corners(op, x, y)


def positive_remainder(op, x, y):
    if op is Ops.MOD:
        return x if x[1] < y[0] else (0, y[0] - 1)
    return corners(op, x, y)


def by_trying(op, x, y):
    values = [PLAIN[op](p, q) for p in range(x[0], x[1] + 1) for q in range(y[0], y[1] + 1)]
    return np.array([min(values), max(values)])


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


# ---- 7.7 -----------------------------------------------------------------------------------------


def power(c):
    return c.arg > 0 and c.arg & (c.arg - 1) == 0


def shift(x, c):
    return x >> (c.arg.bit_length() - 1) if power(c) else None


def mask(x, c):
    return x & (c.arg - 1) if power(c) else None


def careful(x, c):
    return shift(x, c) if x.vmin >= 0 else None


IDIV, MOD, CDIV = x // c, x % c, UPat(Ops.CDIV, src=(x, c))
C_ROW = (CDIV, careful)


# ---- 7.9 -----------------------------------------------------------------------------------------


def two_limits(t):
    return t.maximum(1).maximum(2)


def limits(v, c, d):
    return v.alu(Ops.MAX, v.const_like(max(c.arg, d.arg)))


LIMITS = (v.alu(Ops.MAX, c).alu(Ops.MAX, d), limits)
PRODUCT = (v * c * d, lambda v, c, d: v * (c.arg * d.arg))


def exact_product(v, c, d):
    good = c.arg >= 1 and d.arg >= 1 and all(a.hex().split("p")[0] == "0x1.0000000000000"
                                             for a in (c.arg, d.arg))  # fmt: skip
    return v * (c.arg * d.arg) if good and c.arg * d.arg < 1e30 else None


WRONG: list[Any] = [
    # 7.2: who lies, and where
    ("7.2", {3: inf}, "Nobody has caught rules 1, 4, 6, 7, 8 and 10"),
    ("7.2", CAUGHT | {3: 5.0}, "Here rule 3 tells the truth"),
    ("7.2", CAUGHT | {1: 0.0}, "Here rule 1 tells the truth"),
    ("7.2", CAUGHT | {7: 1e8}, "needs a pair"),
    ("7.2", CAUGHT | {10: (inf, 0)}, "Here rule 10 tells the truth"),
    ("7.2", CAUGHT | {2: inf}, "Rule 2 holds for every float"),
    ("7.2", CAUGHT | {11: 0}, "no rule 11"),
    ("7.2", [inf, 0], "has to be a dict"),
    ("7.2", CAUGHT | {8: "3e38 or so"}, "needs a number"),
    ("7.2", {k: value for k, value in CAUGHT.items() if k != 1}, "Nobody has caught rule 1 yet"),
    # 7.3: a row
    ("7.3", ((x < y).where(y, x), lambda x, y: x.maximum(y)), "fires for floats as well"),
    ("7.3", ((i < j).where(i, j), lambda x, y: x.maximum(y)), "doesn't fire"),
    ("7.3", ((i < j).where(z, x), lambda x, y, z: x.maximum(z)), "That's a lie"),
    ("7.3", ((i < j).where(j, i), lambda x, y: x), "That's a lie"),
    ("7.3", ((i < j).where(j, i), lambda x, y: x.minimum(y)), "That's a lie"),
    ("7.3", ((i < j).where(j, i), lambda x, y: (y < x).where(x, y)), "still a WHERE"),
    ("7.3", lambda: lambda x, y: x.maximum(y), "A row has to be a pair"),
    ("7.3", ((i < c).where(c, i), lambda x, c: x.maximum(c)), "doesn't fire"),
    ("7.3", lambda x, y: x.maximum(y), "A row has to be a pair"),
    ("7.3", 3, "asks for a function"),
    # 7.5: a trap
    ("7.5", (DOUBLE, FACTOR, m + m), "They end"),
    ("7.5", (DOUBLE, HALVE, m * 3), "Neither row fired"),
    ("7.5", (TURN, DOUBLE, m + n), "never ends even by itself"),
    ("7.5", (DOUBLE, (x * 2, lambda x: x * 3 + x * -2 + x), m * 2), "They end"),
    ("7.5", ((x + 1, lambda x: x * 2), (x * 2, lambda x: x + 1), m + 1), "That's a lie"),
    ("7.5", (DOUBLE, HALVE), "has to be three things"),
    ("7.5", (DOUBLE, HALVE, "m + m"), "has to be an expression"),
    # 7.6: bounds
    ("7.6", ends, "has to be wider"),
    ("7.6", corners, "has to be wider"),
    ("7.6", whole_remainder, "but wider than it has to be"),
    ("7.6", positive_remainder, "wider than it has to be"),
    ("7.6", lambda op, x, y: (-1000, 1000), "wider than it has to be"),
    ("7.6", lambda op, x, y: 3, "a pair of numbers"),
    # 7.7: strength reduction
    ("7.7", [(IDIV, shift), (MOD, mask), (CDIV, shift)], "rounds towards zero"),
    ("7.7", [(IDIV, shift), C_ROW], "still a MOD"),
    ("7.7", [(IDIV, shift), (MOD, mask)], "A shift would do"),
    ("7.7", [(IDIV, lambda x, c: x >> (c.arg.bit_length() - 1)), (MOD, mask), C_ROW], "a lie"),
    ("7.7", [(IDIV, shift), (MOD, lambda x, c: x & (c.arg - 1)), C_ROW], "a lie"),
    ("7.7", [(IDIV, shift), (MOD, lambda x, c: x & c.arg if power(c) else None), C_ROW], "a lie"),
    ("7.7", [(IDIV, lambda x, c: x >> c.arg if power(c) else None), (MOD, mask), C_ROW], "a lie"),
    ("7.7", [(IDIV, careful), (MOD, mask), C_ROW], "still an IDIV"),
    ("7.7", "shifts", "asks for a function"),
    ("7.7", lambda: "shifts", "A row has to be a pair"),
    # 7.9: a rule of one's own
    ("7.9", (two_limits, (v.alu(Ops.MAX, c), lambda v, c: v)), "changed the result"),
    ("7.9", (two_limits, (v + v, lambda v: v * 2)), "never fired"),
    ("7.9", (lambda t: t + t, (v + v, lambda v: v * 2)), "isn't any smaller"),
    ("7.9", (lambda t: t * 2 * 4, PRODUCT), "it would also fire here"),
    ("7.9", (lambda t: t * 0, (v * 0, lambda v: v.const_like(0))), "changed the result"),
    ("7.9", (lambda t: t * 2 * 4, (v * c, lambda v, c: v * c * 1)), "never comes to an end"),
    ("7.9", two_limits, "two things"),
    ("7.9", lambda: two_limits, "two things"),
    ("7.9", (two_limits, lambda v: v), "A row has to be a pair"),
]

RIGHT: list[Any] = [
    ("7.2", CAUGHT),
    (
        "7.2",
        {
            1: (-0.0, 1),
            3: nan,
            4: nan,
            6: inf,
            7: [inf, inf],
            8: np.float32(2e38),
            10: np.array([0, nan]),
        },
    ),  # fmt: skip
    ("7.2", {np.int64(n): value for n, value in CAUGHT.items()}),
    ("7.2", CAUGHT | {3: -1, 4: -inf, 6: -0.0, 7: {"x": 1e-30, "y": 1}}),
    ("7.3", ((i < j).where(j, i), lambda x, y: y.maximum(x))),
    ("7.3", lambda: ((i < j).where(j, i), lambda x, y: x.maximum(y))),
    ("7.3", [((i < j).where(j, i), lambda **found: found["x"].alu(Ops.MAX, found["y"]))]),
    ("7.3", PatternMatcher([((i < j).where(j, i), lambda x, y: UOp(Ops.MAX, x.dtype, (x, y)))])),
    ("7.3", (UPat(Ops.WHERE, dtypes.ints, (x < y, y, x)), lambda x, y: x.maximum(y))),
    ("7.3", ((x < y).where(y, x), lambda x, y: x.maximum(y) if dtypes.is_int(x.dtype) else None)),
    ("7.5", (DOUBLE, HALVE, m + m)),
    ("7.5", lambda i, j: (EXPAND, FACTOR, (i + j) * 3)),
    ("7.5", lambda *ij: [HALVE, DOUBLE, sum(ij) * 2]),
    ("7.5", [FACTOR, EXPAND, (m + n) * 3]),
    ("7.5", (PatternMatcher([DOUBLE, HALVE]), n * 2 + m)),
    ("7.5", ((x * 4, lambda x: x << 2), (x << 2, lambda x: x * 4), m * 4)),
    ("7.6", by_trying),
    ("7.6", by_cases),
    ("7.6", lambda *given: iter(by_cases(*given))),
    ("7.7", [(IDIV, shift), (MOD, mask), C_ROW]),
    ("7.7", lambda: [C_ROW, (IDIV, shift), (MOD, mask)]),
    ("7.7", PatternMatcher([C_ROW, (MOD, mask), (IDIV, shift)])),
    (
        "7.7",
        [
            (
                IDIV,
                lambda x, c: (
                    x >> c.arg.bit_length() - 1 if c.arg in {2**k for k in range(31)} else None
                ),
            ),
            (MOD, mask),
            C_ROW,
        ],
    ),  # fmt: skip
    (
        "7.7",
        (
            row
            for row in [
                (CDIV, lambda x, c: x // c if x.vmin >= 0 and c.vmin > 0 else None),
                (IDIV, shift),
                (MOD, mask),
            ]
        ),
    ),  # fmt: skip
    ("7.9", (two_limits, LIMITS)),
    ("7.9", lambda: (two_limits, [LIMITS])),
    ("7.9", [lambda t: t.maximum(-1).maximum(0.5) + 1, [LIMITS]]),
    ("7.9", (lambda t: t * 2 * 4, PatternMatcher([(v * c * d, exact_product)]))),
    ("7.9", (lambda t: (-t) * (-t), (x * -1 * (x * -1), lambda x: x * x))),
    ("7.9", (LIMITS, two_limits)),  # the other way round
]
