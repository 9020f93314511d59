"""Emulates 64-bit integers with pairs of 32-bit words, for languages without a wider type.

Random numbers, and what is computed from them, start and end with 32 bits, but use 64 in between.
There a value becomes two words, which are computed separately:

    CAST(uint, SHR(ADD(x, y), 32))     high(x) + high(y) + (low(x) + low(y) < low(x))
    CAST(int, MUL(x, y))               low(x) * low(y)

64-bit values that are loaded, stored or divided are left alone, and the language rejects them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from tinyframe.dtype import dtypes
from tinyframe.uop.evaluate import exec_alu
from tinyframe.uop.node import Ops, UOp, rebuild

Words: TypeAlias = tuple[UOp, UOp]  # low, high; both uint32


def emulate_int64(sink: UOp) -> UOp:
    """Replaces 64-bit integers with words where possible."""
    words: dict[UOp, Words | None] = {}

    def split(old: UOp, u: UOp) -> UOp:
        given = [words.get(s) for s in u.src]
        known = all(w or not _is_long(s) for w, s in zip(given, u.src, strict=True))
        if known and _is_long(u) and u.op in wide:
            words[u] = wide[u.op](u, *given)
        elif known and any(given) and u.op in narrow:
            return narrow[u.op](u, *given)
        return u

    return rebuild(sink, split)


def _is_long(u: UOp) -> bool:
    return u.dtype in (dtypes.long, dtypes.ulong)


def _word(value: int) -> UOp:
    return UOp.const(dtypes.uint, value & 0xFFFFFFFF)


ZERO, ONES = _word(0), _word(-1)


# ---- operations on words, folded if an operand is constant ---------------------------------------


def _op(op: Ops, x: UOp, y: UOp) -> UOp:
    if x.op is y.op is Ops.CONST:
        dtype = dtypes.bool if op is Ops.CMPLT else x.dtype
        return UOp.const(dtype, exec_alu(op, dtype, [x.arg, y.arg]))
    if x is ZERO and op is not Ops.SUB and op is not Ops.CMPLT:
        return y if op in (Ops.ADD, Ops.OR, Ops.XOR) else ZERO
    if y is ZERO and op is not Ops.CMPLT:
        return ZERO if op in (Ops.MUL, Ops.AND) else x
    if op is Ops.AND and ONES in (x, y):
        return y if x is ONES else x
    return x.alu(op, y)


def _shift(x: UOp, op: Ops, count: int) -> UOp:
    return _op(op, x, _word(count)) if count < 32 else ZERO


def _carry(x: UOp, y: UOp) -> UOp:
    """The carry or borrow: 1 if x < y, else 0."""
    found = _op(Ops.CMPLT, x, y)
    return _word(found.arg) if found.op is Ops.CONST else found.cast(dtypes.uint)


def _upper_product(x: UOp, y: UOp) -> UOp:
    """The upper word of a product, from four products of 16-bit halves."""
    halves = [(_op(Ops.AND, w, _word(0xFFFF)), _shift(w, Ops.SHR, 16)) for w in (x, y)]
    (x0, x1), (y0, y1) = halves
    middle = _op(Ops.ADD, _op(Ops.MUL, x1, y0), _shift(_op(Ops.MUL, x0, y0), Ops.SHR, 16))
    other = _op(Ops.ADD, _op(Ops.MUL, x0, y1), _op(Ops.AND, middle, _word(0xFFFF)))
    carried = _op(Ops.ADD, _shift(middle, Ops.SHR, 16), _shift(other, Ops.SHR, 16))
    return _op(Ops.ADD, _op(Ops.MUL, x1, y1), carried)


# ---- the rows -----------------------------------------------------------------------------------


def _constant(u: UOp) -> Words:
    return _word(u.arg), _word(u.arg >> 32)


def _cast(u: UOp, x: Words | None) -> Words | None:
    (source,) = u.src
    if x or dtypes.is_float(source.dtype):
        return x
    if dtypes.is_bool(source.dtype) or dtypes.is_unsigned(source.dtype):
        return source.cast(dtypes.uint), ZERO
    number = source.cast(dtypes.int)
    sign = number.alu(Ops.SHR, UOp.const(dtypes.int, 31)).cast(dtypes.uint)
    return number.cast(dtypes.uint), ZERO if source.vmin >= 0 else sign


def _bits(u: UOp, x: Words, y: Words) -> Words:
    return _op(u.op, x[0], y[0]), _op(u.op, x[1], y[1])


def _sum(u: UOp, x: Words, y: Words) -> Words:
    low = _op(Ops.ADD, x[0], y[0])
    return low, _op(Ops.ADD, _op(Ops.ADD, x[1], y[1]), _carry(low, x[0]))


def _difference(u: UOp, x: Words, y: Words) -> Words:
    high = _op(Ops.SUB, _op(Ops.SUB, x[1], y[1]), _carry(x[0], y[0]))
    return _op(Ops.SUB, x[0], y[0]), high


def _product(u: UOp, x: Words, y: Words) -> Words:
    across = _op(Ops.ADD, _op(Ops.MUL, x[0], y[1]), _op(Ops.MUL, x[1], y[0]))
    return _op(Ops.MUL, x[0], y[0]), _op(Ops.ADD, _upper_product(x[0], y[0]), across)


def _shl(u: UOp, x: Words, y: Words) -> Words | None:
    if u.src[1].op is not Ops.CONST:
        return None
    (low, high), n = x, u.src[1].arg
    if n >= 32:
        return ZERO, _shift(low, Ops.SHL, n - 32)
    moved = _shift(low, Ops.SHR, 32 - n)
    return _shift(low, Ops.SHL, n), _op(Ops.OR, _shift(high, Ops.SHL, n), moved)


def _shr(u: UOp, x: Words, y: Words) -> Words | None:
    if u.src[1].op is not Ops.CONST or u.src[0].vmin < 0:
        return None
    (low, high), n = x, u.src[1].arg
    if n >= 32:
        return _shift(high, Ops.SHR, n - 32), ZERO
    moved = _shift(high, Ops.SHL, 32 - n)
    return _op(Ops.OR, _shift(low, Ops.SHR, n), moved), _shift(high, Ops.SHR, n)


def _where(u: UOp, c: None, x: Words, y: Words) -> Words:
    low, high = (a if a is b else u.src[0].where(a, b) for a, b in zip(x, y, strict=True))
    return low, high


wide: Mapping[Ops, Callable[..., Words | None]] = {
    Ops.CONST: _constant, Ops.CAST: _cast, Ops.AND: _bits, Ops.OR: _bits, Ops.XOR: _bits,
    Ops.ADD: _sum, Ops.SUB: _difference, Ops.MUL: _product, Ops.SHL: _shl, Ops.SHR: _shr,
    Ops.WHERE: _where, Ops.NEG: lambda u, x: _difference(u, (ZERO, ZERO), x),
}  # fmt: skip


# ---- ops on 64-bit operands with a narrower result ----------------------------------------------


def _narrowed(u: UOp, x: Words) -> UOp:
    if dtypes.is_bool(u.dtype):
        return _op(Ops.OR, *x).ne(0)
    return u if dtypes.is_float(u.dtype) else x[0].cast(u.dtype)


def _equal(u: UOp, x: Words, y: Words) -> UOp:
    equal = x[0].eq(y[0]) & x[1].eq(y[1])
    return equal if u.op is Ops.CMPEQ else equal.ne(True)


def _less(u: UOp, x: Words, y: Words) -> UOp:
    kind = dtypes.uint if dtypes.is_unsigned(u.src[0].dtype) else dtypes.int
    return (x[1].cast(kind) < y[1].cast(kind)) | (x[1].eq(y[1]) & (x[0] < y[0]))


narrow: Mapping[Ops, Callable[..., UOp]] = {
    Ops.CAST: _narrowed, Ops.CMPEQ: _equal, Ops.CMPNE: _equal, Ops.CMPLT: _less,
    Ops.CMPLE: lambda u, x, y: _less(u, y, x).ne(True),
}  # fmt: skip
