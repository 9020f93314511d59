"""Recursion and folds; rules that are found by their op; a trace read as JSON."""

from functools import reduce
from itertools import product

import numpy as np

from tinyframe import dtypes
from tinyframe.rewrite.matcher import UPat
from tinyframe.uop import Ops
from tinyframe.uop.node import GroupOp
from tinyframe.viz.explorer.trace import Trace, view_of


def schedule_of(tensor):
    def after(items, writer, number=0):
        if not items:
            return []
        (out, *given), rest = map(id, items[0].bufs), items[1:]
        known = {writer[b] for b in given if b in writer}
        one = {
            "memory": len({b for b in given if b not in writer}),
            "kernels": sorted(known),
            "reduces": sum(1 for u in items[0].ast.toposort() if u.op == Ops.REDUCE),
            "shape": None,
        }
        return [one, *after(rest, writer | {out: number}, number + 1)]

    return after(tensor.schedule(), {})


def price(build):
    def work(lines):
        """(what these lines cost up to the ENDRANGE that belongs to no RANGE here, the rest)."""
        cost = 0
        while lines:
            u, *lines = lines
            if u.op is Ops.ENDRANGE:
                break
            if u.op is Ops.RANGE:
                inside, lines = work(lines)
                cost += u.src[0].arg * inside
            else:
                cost += u.op in GroupOp.ALU and dtypes.is_float(u.dtype)
        return cost, lines

    def total(tensor):
        return sum(work(lines_of(item.ast))[0] for item in tensor.schedule())  # noqa: F821

    return {"scheduled": total(build()), "fused": total(build().fuse()), "more": None}


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


def from_trace(path, number, stage):
    trace = Trace.open(path)
    described = trace.described("kernel/" + str(number))
    place = [s.name for s in described.stages].index(stage)
    (root,) = view_of(described, place).roots
    names = [row.op.name for row in root.toposort()]
    elementwise = {op.name for op in GroupOp.Elementwise}
    return {
        "elementwise": len([n for n in names if n in elementwise]),
        "reduce": names.count("REDUCE"),
        "loop": names.count("RANGE"),
        "fired": sum(len(r.steps) for r in described.stages[place].rewrites),
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
