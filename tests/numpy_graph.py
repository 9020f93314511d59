"""Runs a graph of elementwise UOps on NumPy arrays, one op at a time, in the exact dtypes.

    x = leaf("x", dtypes.float32)
    compute((x + 1).exp2(), {x: array})

`fused=True` computes a*b + c with one rounding, as a C compiler may (-ffp-contract=fast): exactly
for float32, and for float64 with the 64 bits of x86's long double, where there is one.
"""

from __future__ import annotations

import numpy as np

from tests.reference import ALU
from tinyframe.dtype import dtypes, to_np_dtype
from tinyframe.uop import GroupOp, Ops, UOp

_WIDER = {np.dtype("float32"): np.float64, np.dtype("float64"): np.longdouble}

# a count that C leaves open must not come, and is not made right
_NUMPY = {**ALU, Ops.SHL: np.left_shift, Ops.SHR: np.right_shift}


class Trap(Exception):
    """An integer division for which a CPU would stop the process."""


def leaf(name: str, dtype) -> UOp:
    """An input of a graph."""
    return UOp.variable(name, dtypes.min(dtype), dtypes.max(dtype), dtype)


def _truncating_divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if np.any(y == 0) or (x.dtype.kind == "i" and np.any((x == np.iinfo(x.dtype).min) & (y == -1))):
        raise Trap
    quotient = x // y
    return quotient + ((x % y != 0) & ((x < 0) != (y < 0))).astype(x.dtype)


def _constant(u: UOp) -> np.ndarray:
    dtype = to_np_dtype(u.dtype)
    value = u.arg
    if dtype.kind == "u":
        value %= 1 << (8 * dtype.itemsize)
    return np.asarray(value, dtype)


def _one(u: UOp, sources: list[np.ndarray], fused: bool) -> np.ndarray:
    dtype = to_np_dtype(u.dtype)
    if u.op is Ops.CAST:
        return sources[0].astype(dtype)
    if u.op is Ops.BITCAST:
        return np.ascontiguousarray(sources[0]).view(dtype)
    if u.op is Ops.CDIV:
        return _truncating_divide(*sources)
    if u.op is Ops.CMOD:
        return sources[0] - sources[1] * _truncating_divide(*sources)
    if u.op is Ops.MULACC:
        return sources[0] * sources[1] + sources[2]
    return _NUMPY[u.op](*sources).astype(dtype, copy=False)


def compute(root: UOp, values: dict[UOp, np.ndarray], fused: bool = False) -> np.ndarray:
    """The value of `root` for each element of the arrays, which stand for the leaves."""
    done = {u: np.asarray(v) for u, v in values.items()}
    with np.errstate(all="ignore"):
        for u in root.toposort(gate=lambda u: u not in values):
            if u in done:
                continue
            if u.op is Ops.DETACH:
                done[u] = done[u.src[0]]
            elif u.op is Ops.CONST:
                done[u] = _constant(u)
            elif u.op in GroupOp.Elementwise:
                done[u] = _fused(u, done) if fused else None
                if done[u] is None:
                    done[u] = _one(u, [done[s] for s in u.src], fused)
            else:
                raise AssertionError(f"not elementwise: {u.op}")
            assert done[u].dtype == to_np_dtype(u.dtype), u.op
    return np.broadcast_to(done[root], np.broadcast_shapes(*[v.shape for v in values.values()]))


def _fused(u: UOp, done: dict[UOp, np.ndarray]) -> np.ndarray | None:
    """a*b + c rounded once; None where `u` is not of this form."""
    dtype = to_np_dtype(u.dtype)
    if u.op is not Ops.ADD or dtype not in _WIDER:
        return None
    product = next((s for s in u.src if s.op is Ops.MUL), None)
    if product is None:
        return None
    other = u.src[1] if u.src[0] is product else u.src[0]
    a, b, c = (done[s].astype(_WIDER[dtype]) for s in (*product.src, other))
    return (a * b + c).astype(dtype)
