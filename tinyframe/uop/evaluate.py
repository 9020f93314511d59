"""Every elementwise op on Python numbers: the definition that everything else must agree with.

    >>> exec_alu(Ops.IDIV, dtypes.int, (-7, 2))
    -4
    >>> exec_alu(Ops.ADD, dtypes.int8, (100, 100))
    -56

The PYTHON device, constant folding and the tests use it. No input raises an error: integer division
by 0 gives 0, and floats follow IEEE 754 (1/0 is inf, 0/0 is NaN).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tinyframe.dtype import DType, dtypes, truncate
from tinyframe.uop.node import GroupOp, Ops, UOp

Number = Any  # bool, int or float
Pair = tuple[Any, Any]


def _divide(x: float, y: float) -> float:
    if y:
        return x / y
    return math.nan if x == 0 or x != x else math.copysign(math.inf, x) * math.copysign(1, y)


def _truncating_divide(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) if y else 0


def _exp2(x: float) -> float:
    try:
        return math.exp2(x)
    except OverflowError:
        return math.inf


def _log2(x: float) -> float:
    return math.log2(x) if x > 0 else -math.inf if x == 0 else math.nan


def _trunc(x: Number) -> Number:
    finite = isinstance(x, float) and math.isfinite(x)
    return math.copysign(math.trunc(x), x) if finite else x  # keeps the sign: -0.5 gives -0.0


def _power(x: Number, y: Number) -> Number:
    if isinstance(x, int) and isinstance(y, int):
        if y >= 0:
            return x**y if y < 64 or x in (-1, 0, 1) else pow(x, y, 1 << 64)  # wraps around
        return (x if y % 2 else 1) if x in (-1, 1) else 0
    try:
        return math.pow(x, y)
    except (OverflowError, ValueError):
        # 0 to a negative power, and overflow, give inf, or -inf for an odd power of a negative
        # base; a negative base to a fractional power gives NaN
        if x < 0 and math.isfinite(x) and not float(y).is_integer():
            return math.nan
        odd = float(y).is_integer() and y % 2 == 1
        return math.copysign(math.inf, x) if odd else math.inf


# The random number generator, in 32-bit additions, rotations and exclusive ors: Threefry-2x32 with
# 20 rounds, from Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC
# 2011). It scrambles a 64-bit counter under a 64-bit key, so the nth random number doesn't depend
# on the ones before it.
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA  # keeps an all-zero key from being a weak one
_MASK = 0xFFFFFFFF


def threefry_halves(counter: Pair, key: Pair, wrap: Callable[[Any], Any] = lambda x: x) -> Pair:
    """The result, the low half first like those of counter and key. The halves are uint32 UOps, or
    ints that `wrap` has to wrap around."""
    keys = (*key, key[0] ^ key[1] ^ _PARITY)
    low, high = wrap(counter[0] + keys[0]), wrap(counter[1] + keys[1])
    for group in range(5):
        for count in _ROTATIONS[group % 2]:
            low = wrap(low + high)
            high = wrap((high << count) | (high >> (32 - count))) ^ low
        low = wrap(low + keys[(group + 1) % 3])
        high = wrap(high + keys[(group + 2) % 3] + (group + 1))
    return low, high


def threefry(counter: int, key: int) -> int:
    halves, key_halves = ((x & _MASK, x >> 32 & _MASK) for x in (counter, key))
    low, high = threefry_halves(halves, key_halves, _MASK.__and__)
    return high << 32 | low


# without SHL and SHR, which need the width
python_alu: dict[Ops, Callable[..., Number]] = {
    Ops.NEG: lambda x: not x if isinstance(x, bool) else -x,
    Ops.RECIP: lambda x: _divide(1.0, x),
    Ops.SQRT: lambda x: math.sqrt(x) if x >= 0 else math.nan,
    Ops.EXP2: _exp2,
    Ops.LOG2: _log2,
    Ops.SIN: lambda x: math.sin(x) if math.isfinite(x) else math.nan,
    Ops.COS: lambda x: math.cos(x) if math.isfinite(x) else math.nan,
    Ops.TRUNC: _trunc,
    Ops.CAST: lambda x: x,
    Ops.ADD: lambda x, y: x + y,
    Ops.SUB: lambda x, y: x - y,
    Ops.MUL: lambda x, y: x * y,
    Ops.FDIV: _divide,
    Ops.IDIV: lambda x, y: x // y if y else 0,
    Ops.MOD: lambda x, y: x % y if y else 0,
    Ops.CDIV: _truncating_divide,
    Ops.CMOD: lambda x, y: x - y * _truncating_divide(x, y) if y else 0,
    Ops.FMOD: lambda x, y: math.fmod(x, y) if y and math.isfinite(x) else math.nan,
    Ops.MAX: lambda x, y: x if x != x or x > y else y,  # NaN wins
    Ops.MIN: lambda x, y: x if x != x or x < y else y,
    Ops.CMPLT: lambda x, y: x < y,
    Ops.CMPLE: lambda x, y: x <= y,
    Ops.CMPNE: lambda x, y: x != y,
    Ops.CMPEQ: lambda x, y: x == y,
    Ops.AND: lambda x, y: x & y,
    Ops.OR: lambda x, y: x | y,
    Ops.XOR: lambda x, y: x ^ y,
    Ops.POW: _power,
    Ops.THREEFRY: threefry,
    Ops.WHERE: lambda condition, yes, no: yes if condition else no,
    Ops.MULACC: lambda x, y, z: x * y + z,
}


def _shift(op: Ops, bits: int, x: int, count: int) -> int:
    """A count outside 0..bits-1, even a negative one, shifts all bits out: that leaves 0, or copies
    of the sign after SHR, as in NumPy and PyTorch."""
    if not 0 <= count < bits:
        return -1 if op is Ops.SHR and x < 0 else 0
    return x << count if op is Ops.SHL else x >> count


def exec_alu(
    op: Ops, dtype: DType, operands: Sequence[Number], truncate_output: bool = True
) -> Number:
    """`op` on Python numbers, as a value of `dtype`: ints wrap around, floats are rounded.

    For a vector dtype each operand is a tuple, one number per lane. `truncate_output=False` returns
    the number as Python computed it.
    """
    if dtype.count > 1:
        return tuple(
            exec_alu(op, dtype.scalar(), lane, truncate_output)
            for lane in zip(*operands, strict=True)
        )
    if op in (Ops.SHL, Ops.SHR):
        value = _shift(op, dtype.bits, *operands)
    else:
        value = python_alu[op](*operands)
        if op in GroupOp.Comparison and dtypes.is_int(dtype):  # a lane of a mask
            value = -value
    return truncate[dtype](value) if truncate_output else value


def evaluate(u: UOp, values: Mapping[UOp, Number]) -> Number:
    """The value of a scalar expression, given those of its leaves (RANGEs, Variables, LOADs …).

    RuntimeError if one of them is missing.
    """
    done: dict[UOp, Number] = {}
    for x in u.toposort(gate=lambda x: x not in values and x.op in GroupOp.Elementwise):
        if x in values:
            done[x] = values[x]
        elif x.op is Ops.CONST:
            done[x] = truncate[x.dtype](x.arg)
        elif x.op is Ops.BIND:
            done[x] = x.src[1].arg
        elif x.op in GroupOp.Elementwise and x.op is not Ops.BITCAST:
            done[x] = exec_alu(x.op, x.dtype, [done[s] for s in x.src])
        else:
            raise RuntimeError(
                f"{u.render(simplify=False)} has no value: unbound {x.render(simplify=False)}"
            )
    return done[u]


def sym_infer(u: int | UOp, values: Mapping[UOp, int] | Mapping[str, int]) -> int:
    """A symbolic size as a number, given values for its Variables, by Variable or by name."""
    if not isinstance(u, UOp):
        return u
    given: Mapping[Any, int] = values
    return evaluate(
        u, {v: given[key] for v in u.variables() for key in (v, v.expr) if key in given}
    )
