"""Recursion and folds; rules that are found by their op; a trace read as JSON."""

from functools import reduce
from itertools import product

import numpy as np

from tinyframe.rewrite.matcher import UPat
from tinyframe.uop import Ops


def difference(before, after):
    def counted(root):
        return reduce(lambda d, u: {**d, u.op.name: d.get(u.op.name, 0) + 1}, root.toposort(), {})

    old, new = counted(before), counted(after)
    every = {*old, *new}
    apart = {op: new.get(op, 0) - old.get(op, 0) for op in every}
    return {
        "appeared": {op: max(n, 0) for op, n in apart.items()},  # with zeros
        "vanished": {op: -n for op, n in apart.items() if n < 0},
        "kept": sum(1 for u in after.toposort() if u in before.toposort()),
    }


def lie(before, after):
    """One pair after the other."""
    powers = [s * 2.0**n for n in range(-149, 128, 4) for s in (1, -1)]
    few = [0.0, 1.0, -1.0, float("inf"), float("nan"), 3.4028234e38, 1.1, 1e-45, 5e-45, 0.3]
    candidates = [*few, *powers, *np.linspace(-9, 9, 37)]
    for x, y in product(candidates, few):
        given = np.full((1,), x, np.float32), np.full((1,), y, np.float32)
        with np.errstate(all="ignore"):
            one, other = before(*given).item(), after(*given).item()
        if one != other and (one == one or other == other):
            return x, y
    return ()


def safe_rules():
    def is_power(u):
        return u.op is Ops.CONST and u.arg in [2.0**n for n in range(60)]

    def times(u):
        """Of a product, with constants on any side."""
        for x, c in (u.src, u.src[::-1]):
            if c.op is Ops.CONST and c.arg == 1:
                return x
            if x.op is Ops.MUL and is_power(c):
                for inner, d in (x.src, x.src[::-1]):
                    if is_power(d):
                        return inner * (c.arg * d.arg)
            if c.op is Ops.CONST and c.arg == -1 and x.op is Ops.MUL:
                for inner, d in (x.src, x.src[::-1]):
                    if d.op is Ops.CONST and d.arg == -1:
                        return inner
        return None

    return (
        (UPat(Ops.MUL, name="u"), times),
        (UPat(Ops.FDIV, name="u"),
         lambda u: u.src[0] * (1 / u.src[1].arg) if is_power(u.src[1]) else None),
        (UPat({Ops.WHERE, Ops.MAX}, name="u"),
         lambda u: u.src[-1] if u.src[-1] is u.src[-2] else None),
    )  # fmt: skip
