"""`why(x)`: the values that computing x stores, and the scheduler's reason for each.

why(a / a.sum())
# 2 values are stored:
#     MUL          (64, 64)  output
#     REDUCE_AXIS  (1, 1)    a reduce with too little parallel work
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from tinyframe.rewrite.matcher import graph_rewrite
from tinyframe.schedule.fuse import decide_fusion, is_leaf
from tinyframe.schedule.prepare import prepare_rules
from tinyframe.tensor.core import Tensor
from tinyframe.tensor.laziness import unrealized
from tinyframe.uop.node import Ops, UOp
from tinyframe.viz.kernels import NOTHING
from tinyframe.viz.nodes import plural


class Stored(NamedTuple):
    """A value that gets memory, and the reason that the scheduler has for it."""

    op: Ops
    shape: tuple
    reason: str


class Reasons(tuple[Stored, ...]):
    """The stored values, the last one computed first; as text, one to a line."""

    def __repr__(self) -> str:
        if not self:
            return NOTHING
        words = [(stored.op.name, str(stored.shape), stored.reason) for stored in self]
        op, shape = (max(len(row[column]) for row in words) for column in (0, 1))
        lines = [f"    {row[0]:{op}}  {row[1]:{shape}}  {row[2]}" for row in words]
        verb = "is" if len(self) == 1 else "are"
        return "\n".join([f"{plural(len(self), 'value')} {verb} stored:", *lines])


def why(*tensors: Tensor) -> Reasons:
    """Each value that computing these would store, and why. Nothing runs, and no Tensor changes."""
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"why() asks about Tensors, not {type(tensor).__name__}")
    if not (roots := unrealized(*tensors)):
        return Reasons()
    prepared = graph_rewrite(UOp.sink(*roots), prepare_rules)
    outputs = list(dict.fromkeys(u.base for u in prepared.src if not is_leaf(u.base)))
    order = UOp.sink(*outputs).toposort(gate=lambda u: not is_leaf(u))
    computed = [u for u in order if u.op is not Ops.SINK]
    reasons = decide_fusion(outputs, computed, itertools.count()).reasons
    return Reasons(Stored(u.op, tuple(u.shape), reason) for u, reason in reasons.items())
