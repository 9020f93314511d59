"""Pairs: numbers with about 79 bits of precision, as the sum of two float64 (for POW and SIN).

`high` keeps the leading 26 bits and `low` the rest. So a product of two highs has at most 52 bits
and is *exact*, and every difference that must be exact is one of such numbers: the result is the
same whether or not a C compiler fuses multiplications and additions. (The usual ways to get the
rounding error of a product, Dekker's or fma's, need to know which of the two happens.)
"""

from __future__ import annotations

from dataclasses import dataclass

from tinyframe.dtype import dtypes
from tinyframe.uop.node import UOp

_LOW_BITS = 27


def leading(x: UOp) -> UOp:
    """x truncated to 26 bits."""
    kept = (1 << 64) - (1 << _LOW_BITS)
    return (x.bitcast(dtypes.uint64) & kept).bitcast(dtypes.float64)


@dataclass(frozen=True)
class Pair:
    """high + low, both float64; |low| is at most about 2**-26 * |high|."""

    high: UOp
    low: UOp

    @staticmethod
    def of(x: UOp) -> Pair:
        high = leading(x)
        return Pair(high, x - high)

    @staticmethod
    def sum_of(large: UOp, small: UOp) -> Pair:
        """large + small, for large with at most 52 bits, or exact as a product."""
        high = leading(large + small)
        return Pair(high, (large - high) + small)

    @staticmethod
    def const(like: UOp, high: float, low: float = 0.0) -> Pair:
        return Pair(like.const_like(high), like.const_like(low))

    def __add__(self, other: Pair) -> Pair:
        """For |self| >= |other|, or self = 0."""
        high = leading(self.high + other.high)
        return Pair(high, ((self.high - high) + other.high) + (self.low + other.low))

    def __mul__(self, other: Pair) -> Pair:
        crossed = self.high * other.low + self.low * other.high + self.low * other.low
        return Pair.sum_of(self.high * other.high, crossed)

    def __truediv__(self, other: Pair) -> Pair:
        divisor = other.value
        quotient = leading(self.value / divisor)
        rest = ((self.high - quotient * other.high) + self.low) - quotient * other.low
        return Pair(quotient, rest / divisor)

    @property
    def value(self) -> UOp:
        """Rounded to one float64."""
        return self.high + self.low
