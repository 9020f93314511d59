"""RANGE, a loop variable, and REDUCE, which closes loops: how often they run, and of what kind."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tinyframe.dtype import ConstType, DType
from tinyframe.uop.node import AxisType, Ops, UOp

# kinds of ranges that are loops of their own; UPCAST, UNROLL and VECTOR ones have become copies,
# straight-line code and lanes
LOOPS = (
    AxisType.LOOP,
    AxisType.REDUCE,
    AxisType.THREAD,
    AxisType.GLOBAL,
    AxisType.LOCAL,
    AxisType.GROUP,
    AxisType.WARP,
)


def kind(r: UOp) -> AxisType:
    """What becomes of a RANGE: a loop, lanes, copies …"""
    return r.arg[1]


def length(r: UOp) -> int:
    """Number of iterations of a RANGE (at most, where its size is symbolic)."""
    return r.vmax + 1


def iterations(ranges: Iterable[UOp]) -> int:
    """How often the innermost of nested RANGEs runs (at most)."""
    return math.prod(map(length, ranges))


def fresh_number(root: UOp) -> int:
    """A number that no RANGE of a graph has, nor any larger one."""
    return 1 + max((r.arg[0] for r in root.toposort() if r.op is Ops.RANGE), default=-1)


def is_symbolic(r: UOp) -> bool:
    """Whether a RANGE's number of iterations depends on a Variable."""
    return r.src[0].op is not Ops.CONST


def identity(op: Ops, dtype: DType) -> ConstType:
    """What a REDUCE of nothing gives: 0, 1, the smallest value, or of AND all bits set."""
    return {Ops.ADD: 0, Ops.MUL: 1, Ops.MAX: dtype.min, Ops.OR: 0, Ops.AND: -1}[op]
