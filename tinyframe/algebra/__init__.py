"""Algebra: simplification of integers and floats, and the analysis of indices."""

# these two define UOp.simplify and UOp.st
from tinyframe.algebra import symbolic, view

__all__ = ["symbolic", "view"]
