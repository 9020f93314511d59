"""A NumPy evaluator of tensor-level graphs: what a graph means, written a second time.

It shares no code with the compiler beyond the graph itself. `evaluate(t.uop)` is the value that
`t.numpy()` has to give, up to rounding.
"""

from __future__ import annotations

import math

import numpy as np

from tinyframe.device import buffer_of
from tinyframe.dtype import DType, bf16_to_f32, dtypes, f32_to_bf16, to_np_dtype
from tinyframe.uop.node import Ops, UOp


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """By its formula."""
    e = np.exp(x - x.max(axis, keepdims=True, initial=-math.inf))
    return e / e.sum(axis, keepdims=True)


def np_dtype(dtype: DType) -> np.dtype:
    """NumPy's dtype; bfloat16 is held as float32, rounded after every step."""
    return to_np_dtype(dtype) or np.dtype(np.float32)


def rounded(array: np.ndarray, dtype: DType) -> np.ndarray:
    """As a value of `dtype`; ints wrap around."""
    array = np.asarray(array)
    if dtype is dtypes.bfloat16:
        return bf16_to_f32(f32_to_bf16(array.astype(np.float32)))
    if dtypes.is_int(dtype) and array.dtype.kind == "f":
        array = _whole(array.astype(np.float64), dtype)
    return array.astype(np_dtype(dtype))


def _whole(array: np.ndarray, dtype: DType) -> np.ndarray:
    """Floats as integers, modulo 2**64; what does not fit is as spec.py says of CAST."""
    half = 2.0 ** (max(dtype.bits, 32) - 1)
    above = np.where(array > half, half, 0) if dtype in (dtypes.uint32, dtypes.uint64) else half * 0
    whole = np.trunc(array - above)
    fits = (whole >= -half) & (whole < half)
    return np.where(fits, whole, -half).astype(np.int64).astype(np.uint64) + np.uint64(above)


def _wide(*arrays: np.ndarray) -> list[np.ndarray]:
    """half in float32, so that NumPy rounds once."""
    return [a.astype(np.float32) if a.dtype == np.float16 else a for a in arrays]


def _divide_ints(function):
    """Division of ints gives 0 where the divisor is 0."""

    def divide(a, b):
        if a.dtype.kind == "f":
            return function(a, b)
        return np.where(b == 0, 0, function(a, np.where(b == 0, 1, b)))

    return divide


def _shift(function):
    def shift(a, b):
        bits = a.dtype.itemsize * 8
        inside = (b >= 0) & (b < bits)
        minus = (a < 0) & (function is np.right_shift) & (b > 0)
        lost = np.where(minus, -1, 0).astype(a.dtype)
        return np.where(inside, function(a, np.where(inside, b, 0)), lost)

    return shift


def _threefry(counter: np.ndarray, key: np.ndarray) -> np.ndarray:
    mask = np.uint64(0xFFFFFFFF)
    k0, k1 = key & mask, key >> np.uint64(32)
    keys = k0, k1, k0 ^ k1 ^ np.uint64(0x1BD11BDA)
    a, b = (counter & mask) + k0 & mask, (counter >> np.uint64(32)) + k1 & mask
    for i in range(5):
        for turn in ((13, 15, 26, 6), (17, 29, 16, 24))[i % 2]:
            a = a + b & mask
            b = (b << np.uint64(turn) | b >> np.uint64(32 - turn)) & mask ^ a
        a = a + keys[(i + 1) % 3] & mask
        b = b + keys[(i + 2) % 3] + np.uint64(i + 1) & mask
    return b << np.uint64(32) | a


def _power(a, b):
    if a.dtype.kind == "f":
        return np.power(a, b)
    flat = [
        pow(int(x), int(y), 1 << 64) if y >= 0 else 0 for x, y in zip(a.flat, b.flat, strict=True)
    ]
    return np.array(flat, np.uint64).reshape(a.shape)


ALU = {
    Ops.NEG: lambda a: ~a if a.dtype == bool else -a,
    Ops.RECIP: lambda a: 1 / a,
    Ops.SQRT: np.sqrt,
    Ops.EXP2: np.exp2,
    Ops.LOG2: np.log2,
    Ops.SIN: np.sin,
    Ops.COS: np.cos,
    Ops.TRUNC: np.trunc,
    Ops.ADD: np.add,
    Ops.SUB: np.subtract,
    Ops.MUL: np.multiply,
    Ops.FDIV: np.divide,
    Ops.FMOD: np.fmod,
    Ops.IDIV: _divide_ints(np.floor_divide),
    Ops.MOD: _divide_ints(np.mod),
    Ops.MAX: np.maximum,
    Ops.MIN: np.minimum,
    Ops.CMPLE: np.less_equal,
    Ops.CMPLT: np.less,
    Ops.CMPNE: np.not_equal,
    Ops.CMPEQ: np.equal,
    Ops.AND: np.bitwise_and,
    Ops.OR: np.bitwise_or,
    Ops.XOR: np.bitwise_xor,
    Ops.SHL: _shift(np.left_shift),
    Ops.SHR: _shift(np.right_shift),
    Ops.POW: _power,
    Ops.THREEFRY: _threefry,
    Ops.WHERE: np.where,
    Ops.MULACC: lambda a, b, c: a * b + c,
}

REDUCES = {Ops.ADD: np.add, Ops.MUL: np.multiply, Ops.MAX: np.maximum}


def reduced(u: UOp, a: np.ndarray) -> np.ndarray:
    op, axes = u.arg
    if op is Ops.MAX:
        lowest = -math.inf if dtypes.is_float(u.dtype) else u.dtype.min
        return np.maximum.reduce(a, axis=axes, keepdims=True, initial=lowest)
    return REDUCES[op].reduce(a, axis=axes, keepdims=True, dtype=a.dtype)


def scanned(u: UOp, *src: np.ndarray) -> np.ndarray:
    if not u.size:
        return src[-1]
    op, axis = u.arg
    *factor, x = (np.moveaxis(a, axis, 0) for a in src)
    out = [x[0] * 1]
    for i in range(1, len(x)):
        out.append(out[-1] * factor[0][i] + x[i] if factor else REDUCES[op](out[-1], x[i]))
    return np.moveaxis(np.stack(out), 0, axis)


def _window(u: UOp, a: np.ndarray) -> np.ndarray:
    axis, size, stride, dilation = u.arg
    places = np.arange(u.shape[axis])[:, None] * stride + np.arange(size) * dilation
    taken = np.take(a, places.reshape(-1), axis)
    split = taken.reshape(*a.shape[:axis], *places.shape, *a.shape[axis + 1 :])
    return np.moveaxis(split, axis + 1, -1)


def _unwindow(u: UOp, a: np.ndarray) -> np.ndarray:
    axis, stride, dilation, _ = u.arg
    out = np.zeros(u.shape, a.dtype)
    source, result = np.moveaxis(a, axis, 0), np.moveaxis(out, axis, 0)
    for i in range(u.shape[axis]):
        for k in range(a.shape[-1]):
            place, rest = divmod(i - k * dilation, stride)
            if rest == 0 and 0 <= place < a.shape[axis]:
                result[i, ..., k] = source[place, ..., k]
    return out


MOVEMENT = {
    Ops.RESHAPE: lambda u, a: a.reshape(u.arg),
    Ops.EXPAND: lambda u, a: np.broadcast_to(a, u.arg),
    Ops.PERMUTE: lambda u, a: a.transpose(u.arg),
    Ops.PAD: lambda u, a: np.pad(a, u.arg),
    Ops.SHRINK: lambda u, a: a[tuple(slice(b, e) for b, e in u.arg)],
    Ops.FLIP: lambda u, a: np.flip(a, [d for d, flipped in enumerate(u.arg) if flipped]),
    Ops.WINDOW: _window,
    Ops.UNWINDOW: _unwindow,
}


def _taken(u: UOp, x: np.ndarray, index: np.ndarray) -> np.ndarray:
    there = (index >= 0) & (index < x.shape[u.arg])
    found = np.take_along_axis(x, np.where(there, index, 0), u.arg) if x.size else there * 0
    return np.where(there, found, 0).astype(x.dtype)


def _assigned(u: UOp, state: np.ndarray, value: np.ndarray, index: np.ndarray | None):
    """The memory after a write to a part of it; at places that are data one after the other."""
    path, view = [], u.src[2]
    while view is not u.src[0]:
        path.append(view)
        view = view.src[0]
    places = np.arange(1, state.size + 1).reshape(state.shape)
    for step in reversed(path):
        is_take = step.op is Ops.TAKE
        places = _taken(step, places, index) if is_take else value_of(step, [places])
    axis = path[0].arg if index is not None else 0
    flat = np.append(0, state)  # what is nowhere goes to place 0
    for at, new in zip(np.moveaxis(places, axis, 0), np.moveaxis(value, axis, 0), strict=True):
        flat[at] = REDUCES[u.arg](flat[at], new) if u.arg in REDUCES else new
    return flat[1:].reshape(state.shape).astype(state.dtype)


def value_of(u: UOp, src: list[np.ndarray], index: np.ndarray | None = None) -> np.ndarray:
    """The value of one node, given those of its sources; index: where an ASSIGN writes to."""
    if u.op is Ops.CONST:
        return rounded(np.array(u.arg), u.dtype)
    if u.op is Ops.IOTA:
        return np.arange(u.arg, dtype=np_dtype(u.dtype))
    if u.op is Ops.BUFFER:
        return buffer_of(u).numpy().copy()
    if u.op is Ops.BIND:
        return np.array(u.src[1].arg, np_dtype(u.dtype))
    if u.op in (Ops.COPY, Ops.CONTIGUOUS, Ops.FUSE, Ops.DETACH):
        return src[0]
    if u.op is Ops.ASSIGN:
        return src[1] if len(u.src) == 2 else _assigned(u, *src[:2], index)
    if u.op is Ops.TAKE:
        return _taken(u, *src)
    if u.op is Ops.CAST:
        return rounded(src[0], u.dtype)
    if u.op is Ops.BITCAST:
        stored = f32_to_bf16(src[0]) if u.src[0].dtype is dtypes.bfloat16 else src[0]
        if u.dtype is dtypes.bfloat16:
            return bf16_to_f32(stored.view(np.uint16))
        return stored.view(np_dtype(u.dtype))
    if u.op in MOVEMENT:
        return MOVEMENT[u.op](u, src[0])
    if u.op is Ops.SCAN_AXIS:
        return rounded(scanned(u, *_wide(*src)), u.dtype)
    if u.op is Ops.REDUCE_AXIS:
        return rounded(reduced(u, *_wide(src[0])), u.dtype)
    return rounded(ALU[u.op](*_wide(*src)), u.dtype)


def value_in(values: dict[UOp, np.ndarray], u: UOp) -> np.ndarray:
    """The value of a node, where those of all nodes below it are known."""
    to_take = u.op is Ops.ASSIGN and u.src[-1].op is Ops.TAKE
    index = values[u.src[-1].src[1]] if to_take else None
    return value_of(u, [values[s] for s in u.src if s in values], index)


def evaluate(root: UOp) -> np.ndarray:
    """The value of a tensor-level graph."""
    values: dict[UOp, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for u in root.toposort():
            if u.op not in (Ops.DEVICE, Ops.UNIQUE, Ops.DEFINE_VAR):
                values[u] = value_in(values, u)
    return values[root]
