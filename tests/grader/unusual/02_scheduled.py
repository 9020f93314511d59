"""Asks tinyframe where the words allow it, and does two axes at once."""

import numpy as np

from tinyframe import Tensor
from tinyframe.uop import Ops
from tinyframe.uop.node import GroupOp

STEPS = {
    "transpose": Tensor.transpose,
    "flip": lambda t: t.flip(0),
    "exp": Tensor.exp,
    "product": lambda t: t @ Tensor(np.ones(t.shape, np.float32)).realize(),
    "store": Tensor.contiguous,
    "share": lambda t: t / t.sum(axis=1, keepdim=True),
    "sums": lambda t: t.sum(axis=1),
}


def predicted_kernels(steps, n):
    """Nothing changes above 32 rows."""
    size = min(n, 32)
    t = Tensor(np.ones((size, size), np.float32)).realize()
    for step in steps:
        t = STEPS[step](t)
    return len(t.schedule())


def kinds_in_kernel(kernel):
    """From the top: what is reached without going through an INDEX is a value."""
    values, pending = set(), [kernel]
    while pending:
        u = pending.pop()
        if u in values or u.op is Ops.INDEX:
            continue
        values.add(u)
        pending.extend(u.src)
    nodes = set(kernel.toposort())
    is_elementwise = {u for u in nodes if u.op in GroupOp.Elementwise}
    places = {p for u in nodes - values if u.op is Ops.INDEX for p in u.toposort()}
    return {
        "elementwise": len(is_elementwise - places),
        "movement": len(is_elementwise & places),
        "reduction": len([u for u in nodes if u.op is Ops.REDUCE]),
    }


def loops_of_sum(shape, axes):
    places = np.arange(np.prod(shape)).reshape(*shape)
    found = {"loop": [], "reduce": []}
    for axis in range(places.ndim):
        kind = "reduce" if axis in axes else "loop"
        step = np.diff(places, axis=axis).flat[0]
        found[kind].append((places.shape[axis], kind, step))
    return found["loop"] + found["reduce"]


def matmul(a, b):
    k = b.shape[0]
    left = a.transpose().unsqueeze(-1).expand(k, a.shape[0], b.shape[1])
    right = b.unsqueeze(1).expand(*left.shape)
    return Tensor.sum(left * right, 0)


def convolution(image, filters):
    results, channels, rows, columns = filters.shape
    down, across = rows // 2, columns // 2
    x = image.pad(((0, 0), (down, down), (across, across)))
    _, h, w = x.shape
    x = x.reshape(channels, 1, h, 1, w).expand(channels, rows + 1, h, columns + 1, w)
    x = x.reshape(channels, (rows + 1) * h, (columns + 1) * w)
    x = x[:, : rows * (h + 1), : columns * (w + 1)]
    x = x.reshape(channels, rows, h + 1, columns, w + 1)[:, :, : h - rows + 1, :, : w - columns + 1]
    return (x.unsqueeze(0) * filters.reshape(results, channels, rows, 1, columns, 1)).sum((1, 2, 4))
