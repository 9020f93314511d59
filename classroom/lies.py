"""Whether two expressions always agree: tried on values that are likely to tell them apart.

    x = number("x")                     any float at all
    lie(x * 0, x.const_like(0))         Lie({x: inf}, nan, 0.0)
    i = UOp.variable("i", 0, 3)
    lie(i % 4, i)                       None: they agree for each i that there is

The honest interpreter is `tinyframe.uop.evaluate`. Two results differ if their bits do, so -0.0 is
not 0.0; one NaN is as good as another.
"""

from __future__ import annotations

import itertools
import math
import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyframe.dtype import dtypes, truncate
from tinyframe.uop import Ops, UOp
from tinyframe.uop.evaluate import evaluate
from tinyframe.uop.show import render

LARGEST, SMALLEST = 3.4028234663852886e38, 1.401298464324817e-45  # that a float32 can hold

# Floats at which rules break: signed zeros, halves, what rounds, what over- and underflows.
FLOATS = tuple(
    truncate[dtypes.float](value)
    for value in (0.0, 1.0, -1.0, -0.0, math.nan, math.inf, -math.inf, 0.5, -2.5, 3.0, 0.1, 1e30,
                  -1e30, 16777216.0, LARGEST, -LARGEST, 2.0**-75, SMALLEST, 5 * SMALLEST)
)  # fmt: skip
MOST = 4096  # combinations of values that are tried


def number(name: str) -> UOp:
    """A float that can be anything: infinite, tiny, NaN."""
    return UOp(Ops.DEFINE_VAR, dtypes.float, (), (name, -math.inf, math.inf))


@dataclass(frozen=True)
class Lie:
    """Values of the variables for which two expressions differ, and what they are then."""

    values: dict[UOp, Any]
    honest: Any
    other: Any

    def where(self) -> str:
        """`x = inf, y = 2.0`; of an expression without variables, nothing."""
        return ", ".join(f"{u.arg[0]} = {shown(value)}" for u, value in self.values.items())


def lie(before: UOp, after: UOp, zeros: bool = True) -> Lie | None:
    """Where `after` isn't what `before` is; None if no value was found that shows it.

    All combinations of values are tried if there are at most MOST, else some of them. zeros:
    whether -0.0 for 0.0 is a lie.
    """
    for values in tried(*variables_of(before, after)):
        honest, other = evaluate(before, values), evaluate(after, values)
        if differ(honest, other) and (zeros or honest != other):
            return Lie(values, honest, other)
    return None


def variables_of(*expressions: UOp) -> list[UOp]:
    """The variables in these expressions, by name."""
    found = {u for root in expressions for u in root.toposort() if u.op is Ops.DEFINE_VAR}
    return sorted(found, key=lambda u: str(u.arg))


def tried(*variables: UOp) -> Iterator[dict[UOp, Any]]:
    """Values for each of these variables, in one combination after the other."""
    choices = [candidates(u) for u in variables]
    if math.prod(map(len, choices)) <= MOST:
        combinations: Iterator[tuple[Any, ...]] = itertools.product(*choices)
    else:
        dice = random.Random(7)
        combinations = (tuple(map(dice.choice, choices)) for _ in range(MOST))
    for combination in combinations:
        yield dict(zip(variables, combination, strict=True))


def candidates(variable: UOp) -> Sequence[Any]:
    """The values of a variable that are worth trying: all of them, if there are few."""
    if dtypes.is_float(variable.dtype):
        return FLOATS
    low, high = variable.vmin, variable.vmax
    if variable.dtype is dtypes.bool:
        return [value for value in (False, True) if low <= value <= high]
    if high - low < MOST:
        return range(low, high + 1)
    near = {low, low + 1, (low + high) // 2, high - 1, high}
    powers = {sign * 2**k + d for k in range(32) for sign in (1, -1) for d in (-1, 0, 1)}
    return sorted(value for value in near | powers if low <= value <= high)


def differ(one: Any, other: Any) -> bool:
    """Whether two results are different bits. (One NaN is as good as another.)"""
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) is not math.isnan(other)
        return struct.pack("d", one) != struct.pack("d", other)
    return bool(one != other) or type(one) is not type(other)


def shown(value: Any) -> str:
    """A value in as few digits as tell it from every other: `1e+30`, `-0.0`, `nan`, `7`."""
    short = np.float32(value) if isinstance(value, float) else value
    return str(short if short == value or value != value else value)


def written(expression: UOp) -> str:
    """An expression as one would type it, without the brackets around all of it."""
    text = render(expression)
    depth = list(itertools.accumulate({"(": 1, ")": -1}.get(c, 0) for c in text))
    return text[1:-1] if text.startswith("(") and 0 not in depth[:-1] else text
