"""Walks that call themselves, and no dict of what has arrived."""

from functools import cache

import numpy as np

from tinyframe import Tensor


def slope(name, x, w):
    return {"square": lambda: x * 2, "product": lambda: w,
            "sigmoid": lambda: (s := x.sigmoid()) - s.square()}[name]()  # fmt: skip


def huber(error, below, above):
    right, left = (error - above).relu(), (-error - below).relu()
    return (error.square() - right.square() - left.square()) / 2


def hessian(f, x):
    def row(i):
        unit = Tensor.eye(x.shape[0])[i]
        return (f(x).gradient(x)[0] * unit).sum().gradient(x)[0].reshape(1, -1)

    return Tensor.cat(*map(row, range(x.shape[0])), dim=0)


def gradient_of_all(loss, start, batches, rows=0):
    """A running mean: each batch moves it by its share of the rows so far."""
    w, mean = start(), 0.0
    for batch in batches:
        rows += (count := batch.shape[0])
        mean = mean + (loss(w, batch).gradient(w)[0] - mean) * (count / rows)
    return mean


def forwards(f, x, direction, rules):
    """From the result down to x, each node once."""

    @cache
    def speed(u):
        if u is x.uop:
            return direction.uop
        if u.op.name not in rules:
            return None
        below = [speed(source) for source in u.src]
        if all(s is None for s in below):
            return None
        pairs = zip(below, u.src, strict=True)
        return rules[u.op.name](u, [v.const_like(0) if s is None else s for s, v in pairs])

    return Tensor(speed(f(x).uop))


def slope_of_rate(loss, w, rate, steps):
    def after(at, left):
        if not left:
            return loss(at)
        return after(at - loss(at).gradient(at)[0] * rate, left - 1)

    return after(w, steps).gradient(rate)[0]


def suspects(table):
    """By nudging in random directions, which give one number each for a row."""
    from mini.part4 import Ops

    rng = np.random.default_rng(7)
    x, y = np.round(rng.uniform(-2, 2, (2, 2, 3, 4)) * 8) / 8
    x[0, 0, :2] = y[0, 0, :2] = 1.0
    ties = np.array([[2.0, 1.0, 2.0], [0.5, 3.0, 3.0]])
    mask = Mini((x < 0.3) * 1.0)  # noqa: F821
    node = lambda array: Mini(array).uop  # noqa: E731, F821
    makes = {
        "MUL": (lambda a, b: a * b, x, y), "MAX": (lambda a, b: a.maximum(b), x, y),
        "RECIP": (lambda a: a.recip(), abs(x) + 1), "EXP2": (lambda a: a.alu(Ops.EXP2), x),
        "WHERE": (lambda a, b: mask.uop.where(a, b), x, y),
        "PERMUTE": (lambda a: a.permute(1, 2, 0), x),
        "EXPAND": (lambda a: a.expand(3, 3, 4), x[:1]),
        "SHRINK": (lambda a: a.shrink((0, 1), (1, 3), (3, 4)), x),
        "PAD": (lambda a: a.pad((2, 0), (0, 1), (1, 0)), x),
        "REDUCE_AXIS": (lambda a: a.max(1, keepdim=True), ties),
    }  # fmt: skip

    def right(*asked):
        return all(along_one(*asked) for _ in range(3))

    def along_one(row, make, *arrays):
        z = make(*map(node, arrays))
        grad = rng.uniform(1, 2, z.shape)
        ways = [rng.uniform(-1, 1, a.shape) for a in arrays]
        try:
            flows = [f for f in row(node(grad), z, *z.src) if f is not None]
        except Exception:
            return False
        for n, flow in enumerate(flows):
            if Mini(flow).shape != arrays[n].shape:  # noqa: F821
                return False

            def at(by, n=n):
                moved = [a + by * ways[n] if k == n else a for k, a in enumerate(arrays)]
                return float((Mini(make(*map(node, moved))).numpy() * grad).sum())  # noqa: F821

            slope = (at(2**-9) - at(-(2**-9))) * 2**8
            if abs(float((Mini(flow).numpy() * ways[n]).sum()) - slope) > 0.02 * max(1, abs(slope)):  # noqa: F821
                return False
        return len(flows) == len(arrays)

    def sums(row):
        return right(row, lambda a: a.sum(0, 2, keepdim=True), x)

    found = [name for name, row in table.items() if not right(row, *makes[name])]
    if "REDUCE_AXIS" not in found and not sums(table["REDUCE_AXIS"]):
        found.append("REDUCE_AXIS")
    return found
