"""The tables of algebra, under the path where texts about tinygrad import them from."""

from tinyframe.algebra.symbolic import sym, symbolic_simple

__all__ = ["sym", "symbolic_simple"]
