"""Algebra: what integers and floats are equal to, and what follows for indices."""

# these provide UOp.simplify and UOp.st
from tinyframe.algebra import symbolic, view

__all__ = ["symbolic", "view"]
