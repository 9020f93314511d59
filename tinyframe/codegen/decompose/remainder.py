"""FMOD, the remainder of a division of floats, exactly: no loop, however much larger x is than y.

The remainder of x / y is a multiple of the smaller of their last places, so it is a float, and the
exact result is representable. x - trunc(x / y) * y is not exact: the quotient has only as many bits
as a float.

Let x = m * 2**e * unit and y = n * unit, with integers m and n of 24 or 53 bits. Then

    x mod y = (m * 2**e mod n) * unit

and 2**e mod n comes from repeated squaring: e has 9 or 12 bits, the first of which only shift a
single bit. The rest is a few products of two numbers below n, modulo n.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tinyframe.codegen.decompose.elementary import LAYOUTS, absolute, layout_of
from tinyframe.dtype import dtypes
from tinyframe.uop.node import Ops, UOp

_DOUBLE = LAYOUTS[dtypes.float64]
_MANTISSA = (1 << 52) - 1


def _power_of_two(exponent: UOp) -> UOp:
    """2**exponent as float64; the exponent is a uint64 that may have wrapped around below 0."""
    return ((exponent + _DOUBLE.bias) << 52).bitcast(dtypes.float64)


def _exponent(x: UOp) -> UOp:
    """The biased exponent of a positive float64, uint64."""
    return x.bitcast(dtypes.uint64) >> 52


def _power_modulo(e: UOp, squarings: int, one: Callable, multiply: Callable) -> UOp:
    """2**e modulo n. `one(h)`: 2**h, if it is below n. `multiply(a, b, twice)`: a * b modulo n,
    doubled if `twice`."""
    power = one(e >> squarings)
    for bit in reversed(range(squarings)):
        power = multiply(power, power, ((e >> bit) & 1).ne(0))
    return power


def fmod_float32(x: UOp, y: UOp) -> UOp:
    """In float64, where a product of two numbers of 24 bits is exact, and so is the integer part of
    its quotient: a fraction of n-ths is farther from 1 than float64 rounds."""
    a, b = (absolute(v).cast(dtypes.float64) for v in (x, y))
    n, m = (_whole(v, 23) for v in (b, a))

    def modulo(product: UOp) -> UOp:
        return product - (product / n).alu(Ops.TRUNC) * n

    def multiply(p: UOp, q: UOp, twice: UOp) -> UOp:
        return modulo(p * q * twice.where(p.const_like(2.0), p.const_like(1.0)))

    e = (a < b).where(_u64(a, 0), _exponent(a).alu(Ops.SUB, _exponent(b)))
    power = _power_modulo(e, 4, _power_of_two, multiply)  # e is below 277, so e >> 4 below 18
    rest = modulo(m * power) * _power_of_two(_exponent(b) - (_DOUBLE.bias + 23))
    return _finished(x, y, rest.cast(dtypes.float32))


def fmod_float64(x: UOp, y: UOp) -> UOp:
    """In 64-bit integers. A product has 106 bits, but the remainder only 53: the quotient, computed
    in float64, is off by at most 2, so the lowest 64 bits of product - quotient * n are enough."""
    a, b = absolute(x), absolute(y)
    normal = [_normal(v) for v in (a, b)]
    (m, e_a), (n, e_b) = ((_mantissa(v), _exponent(v) - shift) for v, shift in normal)
    as_float = n.cast(dtypes.float64)

    def below_n(r: UOp) -> UOp:
        return (r < n).where(r, r - n)

    def multiply(p: UOp, q: UOp, twice: UOp | None = None) -> UOp:
        product = p.cast(dtypes.float64) * q.cast(dtypes.float64)
        # less 2, it is too small by 0 to 4, and the remainder is not negative
        quotient = (product / as_float).cast(dtypes.int64) + -2
        rest = p * q - quotient.bitcast(dtypes.uint64) * n
        for _ in range(4):
            rest = below_n(rest)
        return rest if twice is None else twice.where(below_n(rest << 1), rest)

    e = (a < b).where(_u64(a, 0), e_a - e_b)
    # e is below 2098, so e >> 6 below 33
    power = _power_modulo(e, 6, lambda h: _u64(a, 1) << (h & 63), multiply)
    rest = multiply(m, power).cast(dtypes.float64)
    # 2**(e_b - 52) may be too small for a float: multiply in two steps, neither of which rounds
    scale = (e_b - (_DOUBLE.bias + 52)).bitcast(dtypes.int64)
    half = scale >> 1
    for k in (half, scale - half):
        rest = rest * _power_of_two(k.bitcast(dtypes.uint64))
    return _finished(x, y, rest)


def _u64(x: UOp, value: int) -> UOp:
    return UOp.const(dtypes.uint64.vec(x.dtype.count), value)


def _mantissa(x: UOp) -> UOp:
    """The 53 bits of a normal float64's mantissa as an integer, uint64."""
    return (x.bitcast(dtypes.uint64) & _MANTISSA) | (1 << 52)


def _whole(x: UOp, bits: int) -> UOp:
    """x scaled by a power of two to be between 2**bits and 2**(bits+1)."""
    mantissa = x.bitcast(dtypes.uint64) & _MANTISSA
    return (mantissa | ((_DOUBLE.bias + bits) << 52)).bitcast(dtypes.float64)


def _normal(x: UOp) -> tuple[UOp, UOp]:
    """(x, 0), or (x * 2**54, 54) if x is denormal."""
    is_small = x < _DOUBLE.smallest_normal
    return is_small.where(x * 2.0**54, x), is_small.where(_u64(x, 54), _u64(x, 0))


def _finished(x: UOp, y: UOp, rest: UOp) -> UOp:
    """The remainder with the sign of x; x itself if it is smaller than y, NaN if there is none."""
    layout, a, b = layout_of(x), absolute(x), absolute(y)
    sign = x.bitcast(layout.unsigned) & layout.sign_bit
    signed = (rest.bitcast(layout.unsigned) | sign).bitcast(x.dtype.scalar())
    is_right = (a < math.inf) & b.ne(0) & b.eq(b)
    return is_right.where((a < b).where(x, signed), x.const_like(math.nan))
