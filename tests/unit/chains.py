"""Generated chains of movement ops, and what NumPy makes of them. Shared by the tests of uop/."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from tests.reference import MOVEMENT
from tinyframe.dtype import dtypes
from tinyframe.uop.node import Ops, UOp

KINDS = "reshape reshape permute expand pad pad shrink flip window unwindow".split()


@st.composite
def chains(draw, most_ops: int = 5, most_elements: int = 400, kinds: list[str] = KINDS) -> UOp:
    """Up to `most_ops` movement ops on a buffer."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    u = UOp.new_buffer("CPU", math.prod(sizes), dtypes.int).reshape(tuple(sizes))
    for _ in range(draw(st.integers(1, most_ops))):
        new = draw(one_move(u, kinds))
        if 0 < math.prod(new.shape) <= most_elements:
            u = new
    return u


@st.composite
def one_move(draw, u: UOp, kinds: list[str]) -> UOp:
    shape, axes = u.shape, range(len(u.shape))
    match draw(st.sampled_from(kinds)):
        case "reshape":
            return u.reshape(tuple(draw(factors_of(math.prod(shape)))))
        case "permute":
            return u.permute(tuple(draw(st.permutations(axes))))
        case "expand":
            return u.expand(tuple(draw(st.integers(1, 4)) if s == 1 else s for s in shape))
        case "pad":
            widths = st.tuples(st.integers(0, 2), st.integers(0, 2))
            return u.pad(tuple(draw(widths) for _ in axes))
        case "shrink":
            begins = [draw(st.integers(0, s)) for s in shape]
            ends = [draw(st.integers(min(b + 1, s), s)) for b, s in zip(begins, shape, strict=True)]
            return u.shrink(tuple(zip(begins, ends, strict=True)))
        case "flip":
            return u.flip(tuple(draw(st.booleans()) for _ in axes))
        case "window" if shape:
            axis = draw(st.integers(0, len(shape) - 1))
            size, dilation = draw(st.integers(1, 3)), draw(st.integers(1, 2))
            if dilation * (size - 1) < shape[axis]:
                return u.window(axis, size, draw(st.integers(1, 3)), dilation)
        case "unwindow" if len(shape) > 1:
            stride, dilation = draw(st.integers(1, 3)), draw(st.integers(1, 2))
            axis = draw(st.integers(0, len(shape) - 2))
            return u.unwindow(axis, stride, dilation, draw(st.integers(1, 7)))
    return u


@st.composite
def factors_of(draw, n: int) -> list[int]:
    out = []
    while n > 1 and len(out) < 3:
        factor = draw(st.sampled_from([f for f in range(1, n + 1) if n % f == 0]))
        out.append(factor)
        n //= factor
    return [*out, n]


def numpy_of(u: UOp, memory: np.ndarray) -> np.ndarray:
    """The chain `u` with `memory` in its buffer."""
    return memory if u.op is Ops.BUFFER else MOVEMENT[u.op](u, numpy_of(u.src[0], memory))
