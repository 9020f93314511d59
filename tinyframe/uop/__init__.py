"""The one node type, and its properties: shape, bounds, meaning, text. Read node.py first."""

from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp, resolve, sint

# these register the rules of UOp.shape and UOp.bounds, and UOp's text
from tinyframe.uop import bounds, movement, show  # isort: skip

__all__ = ["AxisType", "GroupOp", "Ops", "UOp", "bounds", "movement", "resolve", "show", "sint"]
