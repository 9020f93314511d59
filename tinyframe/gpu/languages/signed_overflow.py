"""Makes signed integers wrap around, for languages in which only unsigned ones do.

Arithmetic on data may overflow, which is undefined for signed integers in C++. On the same bits as
unsigned integers, it wraps around. Indices are left alone: their bounds are known.

    ADD(int, int)        BITCAST(ADD(BITCAST(int -> uint), BITCAST(int -> uint)) -> int)

In a chain of operations only the ends are converted. A language lists this among its `passes`; C
does not need it, since its compilers have a flag for it.
"""

from __future__ import annotations

from tinyframe.codegen.expand import UNROLLED
from tinyframe.dtype import DType, dtypes, truncate
from tinyframe.renderer.program_text import may_overflow
from tinyframe.rewrite.matcher import PatternMatcher, UPat, graph_rewrite
from tinyframe.uop.node import Ops, UOp


def _bits(x: UOp, dtype: DType) -> UOp:
    """The same bits as an integer dtype of the same width."""
    if x.op is Ops.CONST:
        return UOp.const(dtype, truncate[dtype](x.arg))
    # the copies of a sum's terms that UNROLL made are accumulated one by one
    if x.tag == UNROLLED or (x.op is Ops.VECTORIZE and all(s.op is Ops.CONST for s in x.src)):
        one = dtype.scalar()
        return x.replace(dtype=dtype, src=tuple(_bits(s, one.vec(s.dtype.count)) for s in x.src))
    return x.bitcast(dtype)


def _as_unsigned(u: UOp) -> UOp | None:
    if dtypes.is_unsigned(u.dtype) or not may_overflow(u):
        return None
    unsigned = u.dtype.unsigned()
    return UOp(u.op, unsigned, tuple(_bits(s, unsigned) for s in u.src), tag=u.tag).bitcast(u.dtype)


def _accumulated_unsigned(u: UOp) -> UOp | None:
    """The sum or product of a loop."""
    if u.arg not in (Ops.ADD, Ops.MUL) or u.dtype.scalar() not in dtypes.sints:
        return None
    value, *ranges = u.src
    total = UOp(u.op, u.dtype.unsigned(), (_bits(value, u.dtype.unsigned()), *ranges), u.arg, u.tag)
    return total.bitcast(u.dtype)


def _product_of_ushorts(u: UOp) -> UOp | None:
    """C++ multiplies two ushorts as ints, which may overflow."""
    if not may_overflow(u):
        return None
    return UOp(Ops.MUL, dtypes.uint, tuple(s.cast(dtypes.uint) for s in u.src)).cast(u.dtype)


def _same_bits(x: UOp, u: UOp) -> UOp:
    return x if x.dtype is u.dtype else x.bitcast(u.dtype)


wrap_rules = PatternMatcher([
    (UPat(Ops.MUL, dtypes.ushort, name="u"), _product_of_ushorts),
    (UPat((Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG, Ops.SHL), name="u"), _as_unsigned),
    (UPat((Ops.REDUCE, Ops.SCAN), name="u"), _accumulated_unsigned),
    (UPat(Ops.BITCAST, src=(UPat(Ops.BITCAST, src=(UPat.var("x"),)),), name="u"), _same_bits),
])  # fmt: skip


def wrap_integers(sink: UOp) -> UOp:
    """Makes all signed integers of a kernel wrap around."""
    return graph_rewrite(sink, wrap_rules, name="wrap integers")
