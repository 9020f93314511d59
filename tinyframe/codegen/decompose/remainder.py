"""FMOD, the rest of a division of floats, exactly: no loop, however much larger x is than y.

The rest of x / y is a multiple of the smaller of their last places, so it is a float, and the right
answer is exact. x - trunc(x / y) * y is not: the quotient has only as many bits as a float.

Let x = m * 2**e * unit and y = n * unit, with whole numbers m and n of 24 or 53 bits. Then

    x mod y = (m * 2**e mod n) * unit

and 2**e mod n comes from repeated squaring: e has 9 or 12 bits, of which the first ones only place
a single bit. What is left is the product of two numbers below n, modulo n, a few times over.
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
    """2**exponent as float64, of a uint64 that may have wrapped around below 0."""
    return ((exponent + _DOUBLE.bias) << 52).bitcast(dtypes.float64)


def _exponent(x: UOp) -> UOp:
    """The biased exponent of a positive float64, uint64."""
    return x.bitcast(dtypes.uint64) >> 52


def _power_modulo(e: UOp, squarings: int, one: Callable, multiply: Callable) -> UOp:
    """2**e modulo n: `one(h)` gives 2**h, where it is below n, and `multiply(a, b, twice)` the
    product of a and b, doubled where `twice`, modulo n."""
    power = one(e >> squarings)
    for bit in reversed(range(squarings)):
        power = multiply(power, power, ((e >> bit) & 1).ne(0))
    return power


def fmod_float32(x: UOp, y: UOp) -> UOp:
    """In float64, where a product of two numbers of 24 bits is exact, and so is its quotient's
    whole part: a fraction of n-ths is further from 1 than float64 rounds."""
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
    """In 64-bit integers. A product has 106 bits, but the rest only 53: the quotient, from float64,
    is off by 2 at most, so the lowest 64 bits of product - quotient * n say all."""
    a, b = absolute(x), absolute(y)
    normal = [_normal(v) for v in (a, b)]
    (m, e_a), (n, e_b) = ((_mantissa(v), _exponent(v) - shift) for v, shift in normal)
    as_float = n.cast(dtypes.float64)

    def below_n(r: UOp) -> UOp:
        return (r < n).where(r, r - n)

    def multiply(p: UOp, q: UOp, twice: UOp | None = None) -> UOp:
        product = p.cast(dtypes.float64) * q.cast(dtypes.float64)
        # made smaller by 2, it is too small by 0 to 4: then nothing is below 0
        quotient = (product / as_float).cast(dtypes.int64) + -2
        rest = p * q - quotient.bitcast(dtypes.uint64) * n
        for _ in range(4):
            rest = below_n(rest)
        return rest if twice is None else twice.where(below_n(rest << 1), rest)

    e = (a < b).where(_u64(a, 0), e_a - e_b)
    # e is below 2098, so e >> 6 below 33
    power = _power_modulo(e, 6, lambda h: _u64(a, 1) << (h & 63), multiply)
    rest = multiply(m, power).cast(dtypes.float64)
    # 2**(e_b - 52) may be below all floats: in two steps, neither of which rounds
    scale = (e_b - (_DOUBLE.bias + 52)).bitcast(dtypes.int64)
    half = scale >> 1
    for k in (half, scale - half):
        rest = rest * _power_of_two(k.bitcast(dtypes.uint64))
    return _finished(x, y, rest)


def _u64(x: UOp, value: int) -> UOp:
    return UOp.const(dtypes.uint64.vec(x.dtype.count), value)


def _mantissa(x: UOp) -> UOp:
    """The 53 bits of a normal float64 as a whole number, uint64."""
    return (x.bitcast(dtypes.uint64) & _MANTISSA) | (1 << 52)


def _whole(x: UOp, bits: int) -> UOp:
    """x times the power of two that makes it a number from 2**bits to 2**(bits+1)."""
    mantissa = x.bitcast(dtypes.uint64) & _MANTISSA
    return (mantissa | ((_DOUBLE.bias + bits) << 52)).bitcast(dtypes.float64)


def _normal(x: UOp) -> tuple[UOp, UOp]:
    """(x, 0), or (x * 2**54, 54) where x is denormal."""
    is_small = x < _DOUBLE.smallest_normal
    return is_small.where(x * 2.0**54, x), is_small.where(_u64(x, 54), _u64(x, 0))


def _finished(x: UOp, y: UOp, rest: UOp) -> UOp:
    """x where it is smaller than y, with the sign of x, and NaN where there is no rest."""
    layout, a, b = layout_of(x), absolute(x), absolute(y)
    sign = x.bitcast(layout.unsigned) & layout.sign_bit
    signed = (rest.bitcast(layout.unsigned) | sign).bitcast(x.dtype.scalar())
    is_right = (a < math.inf) & b.ne(0) & b.eq(b)
    return is_right.where((a < b).where(x, signed), x.const_like(math.nan))
