"""Gradients: for each primitive op, what flows back to its inputs.

A row gets `grad`, the gradient of the loss by this node's output, and the node itself; it returns one
gradient (or None) per source. `z = x * y` is the shortest full example: dz/dx = y and dz/dy = x.

The result is made of nodes like any other graph, so it can be differentiated again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tinyframe.dtype import dtypes, sum_acc_dtype
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop.node import GroupOp, Ops, UOp


def cosine(x: UOp) -> UOp:
    """cos(x) as 1 - 2 sin²(x/2): halving is exact, unlike adding π/2."""
    half = (x * 0.5).sin()
    return half * half * -2 + 1
