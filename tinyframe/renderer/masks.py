"""Vectors of bools become masks, the results of comparing vectors in languages that have vectors.

A mask is a vector of integers as wide as the operands compared: 0 in a lane where the comparison
fails, and -1, all bits set, where it holds. So "and" is `&`, "not" is `~`, and selecting between
vectors is one instruction, or a few bitwise ones. Where lanes are wider, the mask is converted,
which keeps 0 and -1. In memory a bool stays a byte, 0 or 1, and a scalar stays a bool:

    CMPLT(float4, float4) -> bool4          CMPLT(float4, float4) -> int4
    AND(bool4, bool4)                       AND(int4, int4)
    WHERE(bool4, half4, half4)              WHERE(CAST(int4 -> short4), half4, half4)
    STORE(INDEX, bool4)                     STORE(INDEX, AND(CAST(int4 -> char4), 1) as bool4)
"""

from __future__ import annotations

from collections.abc import Callable

from tinyframe.dtype import DType, dtypes
from tinyframe.uop.node import GroupOp, Ops, UOp, rebuild


def masks(sink: UOp) -> UOp:
    """A kernel with masks in place of its vectors of bools."""
    return rebuild(sink, _with_masks) if any(map(_are_bools, sink.toposort())) else sink


def _with_masks(old: UOp, u: UOp) -> UOp:
    if old.op in logic and _are_bools(old.src[0]):
        return logic[old.op](*_of_one_width(*u.src))
    if _are_bools(old) or any(map(_are_bools, old.src)):
        return rules[old.op](old, u)
    return u


def _are_bools(u: UOp) -> bool:
    return u.dtype.count > 1 and dtypes.is_bool(u.dtype)


def _not(x: UOp) -> UOp:
    return x.alu(Ops.XOR, x.const_like(-1))


def _lane(x: UOp, dtype: DType) -> UOp:
    """A scalar bool as a lane of a mask."""
    if x.op is Ops.CONST:
        return UOp.const(dtype, -int(x.arg))
    return x.where(UOp.const(dtype, -1), UOp.const(dtype, 0))


def _for_lanes_of(mask: UOp, dtype: DType) -> UOp:
    """A mask as wide as the lanes of `dtype`."""
    wanted = dtype.mask()
    if mask.op is Ops.VECTORIZE:  # bools have no width of their own
        bools = [s.src[0] if s.op is Ops.WHERE else UOp.const(dtypes.bool, s.arg) for s in mask.src]
        return UOp(Ops.VECTORIZE, wanted, tuple(_lane(b, wanted.scalar()) for b in bools))
    return mask.cast(wanted)


def _of_one_width(*given: UOp) -> list[UOp]:
    wide = max((m.dtype for m in given), key=lambda dtype: dtype.itemsize)
    return [_for_lanes_of(m, wide) for m in given]


# ops on two vectors of bools
logic: dict[Ops, Callable[[UOp, UOp], UOp]] = {
    Ops.AND: lambda x, y: x.alu(Ops.AND, y),
    Ops.OR: lambda x, y: x.alu(Ops.OR, y),
    Ops.XOR: lambda x, y: x.alu(Ops.XOR, y),
    Ops.CMPNE: lambda x, y: x.alu(Ops.XOR, y),
    Ops.CMPEQ: lambda x, y: x.alu(Ops.XOR, _not(y)),
    Ops.CMPLT: lambda x, y: y.alu(Ops.AND, _not(x)),
    Ops.CMPLE: lambda x, y: y.alu(Ops.OR, _not(x)),
}


def _choose(old: UOp, u: UOp) -> UOp:
    if not _are_bools(old):
        return _for_lanes_of(u.src[0], u.dtype).where(*u.src[1:])
    condition, yes, no = _of_one_width(*u.src)
    return condition.alu(Ops.AND, yes).alu(Ops.OR, _not(condition).alu(Ops.AND, no))


def _is_not_0(x: UOp) -> UOp:
    return UOp(Ops.CMPNE, x.dtype.mask(), (x, x.const_like(0)))


def _ones(mask: UOp) -> UOp:
    """1 where a mask holds, else 0."""
    return mask.alu(Ops.AND, mask.const_like(1))


def _convert(old: UOp, u: UOp) -> UOp:
    (x,) = u.src
    return _is_not_0(x) if _are_bools(old) else _ones(x).cast(u.dtype)


def _store(old: UOp, u: UOp) -> UOp:
    index, mask, *ranges = u.src
    stored = old.src[1].dtype
    return u.replace(src=(index, _ones(_for_lanes_of(mask, stored)).bitcast(stored), *ranges))


# other ops that take or give a vector of bools
rules: dict[Ops, Callable[[UOp, UOp], UOp]] = {
    **dict.fromkeys(GroupOp.Comparison, lambda old, u: u.replace(dtype=u.src[0].dtype.mask())),
    Ops.WHERE: _choose,
    Ops.CAST: _convert,
    Ops.LOAD: lambda old, u: _is_not_0(u.bitcast(u.dtype.mask())),
    Ops.STORE: _store,
    **dict.fromkeys((Ops.REDUCE, Ops.SCAN), lambda old, u: u.replace(dtype=u.src[0].dtype)),
    Ops.GEP: lambda old, u: u.src[0].gep(u.arg).ne(0),
    Ops.VECTORIZE: lambda old, u: UOp(
        Ops.VECTORIZE, u.dtype.mask(), tuple(_lane(b, dtypes.char) for b in u.src)
    ),
}
