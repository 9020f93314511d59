"""float16 and bfloat16, on a device that computes in float32.

Every operation becomes: convert to float32, compute, round back. That is what PyTorch does, and the
result is the same as if it had been computed in the narrow type (float32 has more than twice its
digits). A cast to bfloat16 goes via float32 too, so integers and float64 are rounded twice, as
elsewhere.

If a device doesn't even have the type, its 16 bits are a uint16, in memory and in registers: each
value is a BITCAST of its bits, and the rules below move the BITCASTs until they meet and cancel.
bfloat16 is always done this way: it is the upper half of a float32.
"""

from __future__ import annotations

import functools

import numpy as np

from tinyframe.dtype import DType, PtrDType, dtypes, f32_to_bf16, truncate
from tinyframe.rewrite.matcher import PatternMatcher, UPat
from tinyframe.uop.node import GroupOp, Ops, UOp

NARROW = {dtypes.float16, dtypes.bfloat16}


# *** conversions between float32 and the bits of bfloat16 and float16, as uint16 ***


def float32_to_bfloat16(x: UOp) -> UOp:
    """Rounded to the nearest, ties to even. NaN keeps a bit, or it could become inf."""
    bits = x.bitcast(dtypes.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (x.ne(x).where(bits | 0x400000, rounded) >> 16).cast(dtypes.uint16)


def bfloat16_to_float32(bits: UOp) -> UOp:
    return (bits.cast(dtypes.uint32) << 16).bitcast(dtypes.float32)


def float32_to_float16(x: UOp) -> UOp:
    bits = x.bitcast(dtypes.uint32)
    size = bits & 0x7FFFFFFF
    # 13 mantissa bits less, and the exponent's bias is 15 instead of 127
    normal = (size + 0xFFF + ((size >> 13) & 1) + ((1 << 32) - (112 << 23))) >> 13
    # below 2**-14 halves are multiples of 2**-24: so are the floats from 0.5 on, so adding rounds
    denormal = (size.bitcast(dtypes.float32) + 0.5).bitcast(dtypes.uint32) + (
        (1 << 32) - 0x3F000000
    )
    half = (size < 0x38800000).where(denormal, normal)
    half = (size < 0x47800000).where(half, half.const_like(0x7C00))  # from 65536 on inf
    half = x.ne(x).where(half.const_like(0x7E00), half)
    return (half | ((bits >> 16) & 0x8000)).cast(dtypes.uint16)


def float16_to_float32(bits: UOp) -> UOp:
    bits = bits.cast(dtypes.uint32)
    size = bits & 0x7FFF
    # the exponent is in place, only its bias is wrong; multiplying corrects it, denormals included
    finite = ((size << 13).bitcast(dtypes.float32) * 2.0**112).bitcast(dtypes.uint32)
    widened = (size < 0x7C00).where(finite, (size << 13) | 0x7F800000)
    return (widened | ((bits & 0x8000) << 16)).bitcast(dtypes.float32)


def float64_to_odd_float32(x: UOp) -> UOp:
    """A float32 that rounds to the same float16 as x does.

    Rounded to odd: truncated, with the last bit set to 1 if that was inexact. So it is on the same
    side of every half-way point. (Boldo and Melquiond, "Emulation of FMA and correctly rounded
    sums: proved algorithms using rounding to odd", 2008.)
    """
    bits, cut = x.bitcast(dtypes.uint64), (1 << 29) - 1
    lost = (bits & cut).ne(0).where(bits.const_like(1 << 29), bits.const_like(0))
    odd = (bits & ((1 << 64) - 1 - cut)) | lost
    return x.ne(x).where(x, odd.bitcast(dtypes.float64)).cast(dtypes.float32)


to_bits = {dtypes.bfloat16: float32_to_bfloat16, dtypes.float16: float32_to_float16}
from_bits = {dtypes.bfloat16: bfloat16_to_float32, dtypes.float16: float16_to_float32}


# *** rules ***


def compute_in_float32(u: UOp) -> UOp:
    """An op computed in float32 and rounded; for a reduce or a scan, accumulated in float32, and
    each result is rounded once."""
    widened = [s.cast(dtypes.float32) if s.dtype.scalar() in NARROW else s for s in u.src]
    dtype = dtypes.float32.vec(u.dtype.count) if u.dtype.scalar() in NARROW else u.dtype
    return u.replace(dtype=dtype, src=tuple(widened)).cast(u.dtype.scalar())


def cast_by_float32(x: UOp, u: UOp) -> UOp | None:
    """A cast between a narrow type and any type but float32."""
    source, target = x.dtype.scalar(), u.dtype.scalar()
    if dtypes.float32 in (source, target) or not {source, target} & NARROW:
        return None
    if source is dtypes.float64 and target is dtypes.float16:
        return float64_to_odd_float32(x).cast(target)
    return x.cast(dtypes.float32).cast(target)


in_float32 = PatternMatcher([
    (UPat(GroupOp.ALU - {Ops.WHERE} | {Ops.REDUCE, Ops.SCAN}, NARROW, name="u"),
     compute_in_float32),
    (UPat(GroupOp.Comparison, src=UPat(dtype=NARROW), name="u"), compute_in_float32),
    (UPat(Ops.CAST, src=(UPat.var("x"),), name="u"), cast_by_float32),
    (UPat(Ops.CAST, dtypes.float32, (UPat.cvar("c", NARROW),)),
     lambda c: UOp.const(dtypes.float32, truncate[c.dtype](c.arg))),
    # exact in both directions
    (UPat(Ops.CAST, NARROW, (UPat(Ops.CAST, dtypes.float32, (UPat.var("x", NARROW),)),), name="u"),
     lambda x, u: x if x.dtype is u.dtype else None),
])  # fmt: skip


def _bits(x: UOp) -> UOp:
    if x.op is not Ops.CONST:
        return x.bitcast(dtypes.uint16)
    value = np.array([truncate[x.dtype](x.arg)], np.float32)
    stored = f32_to_bf16(value) if x.dtype is dtypes.bfloat16 else value.astype(np.float16)
    return UOp.const(dtypes.uint16, int(stored.view(np.uint16)[0]))


@functools.cache
def as_bits(dtype: DType) -> PatternMatcher:
    """The rules that replace all values and memory of a narrow dtype with uint16."""

    def stored(u: UOp) -> UOp:
        if isinstance(u.dtype, PtrDType):
            bits = dtypes.uint16.vec(u.dtype.base.count)
            return u.replace(dtype=bits.ptr(u.dtype.size, u.dtype.addrspace))
        return u.replace(dtype=dtypes.uint16.vec(u.dtype.count))

    def staged(u: UOp) -> UOp:
        # after flatten_indices it holds a STORE, which has a rule of its own
        value = u.src[0] if u.src[0].op is Ops.STORE else _bits(u.src[0])
        return stored(u).replace(src=(value, *u.own_ranges))

    return PatternMatcher([
        (UPat(GroupOp.Defines, dtype, name="u"), stored),
        (UPat(Ops.INDEX, dtype, name="u"), stored),
        (UPat((Ops.LOAD, Ops.FRAGMENT), dtype, name="u"), lambda u: stored(u).bitcast(dtype)),
        (UPat(Ops.STAGE, dtype, name="u"), staged),
        (UPat(Ops.MMA, src=(UPat.var("x", dtype), UPat.var("y", dtype)), allow_any_len=True,
              name="u"), lambda u, x, y: u.replace(src=(_bits(x), _bits(y), *u.src[2:]))),
        (UPat(Ops.STORE, src=(UPat(Ops.INDEX), UPat.var("x", dtype)), allow_any_len=True, name="u"),
         lambda u, x: u.replace(src=(u.src[0], _bits(x), *u.src[2:]))),
        (UPat(Ops.WHERE, dtype, (UPat.var("c"), UPat.var("x"), UPat.var("y"))),
         lambda c, x, y: c.where(_bits(x), _bits(y)).bitcast(dtype)),
        (UPat(Ops.CAST, dtype, (UPat.var("x", dtypes.float32),)),
         lambda x: to_bits[dtype](x).bitcast(dtype)),
        (UPat(Ops.CAST, dtypes.float32, (UPat(Ops.BITCAST, dtype, (UPat.var("x"),)),)),
         lambda x: from_bits[dtype](_bits(x))),
        (UPat(Ops.BITCAST, src=(UPat(Ops.BITCAST, dtype, (UPat.var("x"),)),), name="u"),
         lambda x, u: x.bitcast(u.dtype.scalar())),
        (UPat(Ops.BITCAST, src=(UPat.cvar("c", dtype),), name="u"),
         lambda c, u: _bits(c).bitcast(u.dtype)),
    ])  # fmt: skip
