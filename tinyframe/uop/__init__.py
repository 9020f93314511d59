"""The one node type, and what is known of it: shape, bounds, meaning, text. See node.py first."""

from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp, resolve, sint

# these fill the tables of UOp.shape and UOp.bounds, and provide its text
from tinyframe.uop import bounds, movement, show  # isort: skip

__all__ = ["AxisType", "GroupOp", "Ops", "UOp", "bounds", "movement", "resolve", "show", "sint"]
