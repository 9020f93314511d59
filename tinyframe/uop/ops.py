"""The compiler's names, under the path where texts about tinygrad import them from."""

from tinyframe.rewrite.matcher import (
    PatternMatcher,
    RewriteLoopError,
    TrackedPatternMatcher,
    UPat,
    graph_rewrite,
    rewrite_group,
    track_rewrites,
)
from tinyframe.uop.evaluate import exec_alu, python_alu, sym_infer
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp, resolve, sint

__all__ = [
    "AxisType",
    "GroupOp",
    "Ops",
    "PatternMatcher",
    "RewriteLoopError",
    "TrackedPatternMatcher",
    "UOp",
    "UPat",
    "exec_alu",
    "graph_rewrite",
    "python_alu",
    "resolve",
    "rewrite_group",
    "sint",
    "sym_infer",
    "track_rewrites",
]
