"""Walks that call themselves, and no dict of what has arrived."""

from functools import cache, reduce
from operator import add

import numpy as np

from tinyframe import Tensor
from tinyframe.rewrite.pattern import UPat
from tinyframe.uop import Ops


def finite_difference(f, x, eps=0.02):
    """Four points instead of two, so that a larger step will do."""
    values = x.numpy()

    def at(place, steps):
        nudged = values.copy()
        nudged[place] += steps * eps
        return f(Tensor(nudged)).item()

    slopes = np.empty_like(values)
    for place in np.ndindex(values.shape):
        one, two = (at(place, n) - at(place, -n) for n in (1, 2))
        slopes[place] = (8 * one - two) / (12 * eps)
    return Tensor(slopes)


def slope(name, x, w):
    return {"square": lambda: x * 2, "product": lambda: w,
            "sigmoid": lambda: (s := x.sigmoid()) - s.square()}[name]()  # fmt: skip


def expand_row(grad, shape, axis=0):
    if axis == len(shape):
        return grad
    if shape[axis] != grad.shape[axis]:
        grad = np.add.reduce(grad, axis, keepdims=True)
    return expand_row(grad, shape, axis + 1)


def max_row(grad, x):
    if grad.shape == x.shape:
        return grad
    found = np.zeros(np.broadcast_shapes(grad.shape, x.shape), grad.dtype)
    axes = [d for d in range(x.ndim) if grad.shape[d] != x.shape[d]]
    for place in np.ndindex(grad.shape):
        index = tuple(slice(None) if d in axes else n for d, n in enumerate(place))
        part = x[index]
        found[index] = (part == part.max()) * (grad[place] / np.count_nonzero(part == part.max()))
    return found


def huber(error, below, above):
    right, left = (error - above).relu(), (-error - below).relu()
    return (error.square() - right.square() - left.square()) / 2


def minimum_row():
    def flow(grad, x, y):
        smaller, equal = ((x < y).cast(grad.dtype), x.eq(y).cast(grad.dtype))
        first = smaller + equal * 0.5
        return grad * first, grad - grad * first

    return (UPat(Ops.MIN, src=(UPat.var("x"), UPat.var("y"))), flow)


def walk(f, x, rules):
    root = f(x).uop
    users = {u: [v for v in root.toposort() if u in v.src] for u in root.toposort()}

    @cache
    def arrived(u):
        if u is root:
            return u.const_like(1)
        flows = [
            grad
            for v in users[u]
            if v.op.name in rules and (at := arrived(v)) is not None
            for source, grad in zip(v.src, rules[v.op.name](at, v), strict=True)
            if source is u
        ]
        return reduce(add, flows) if flows else None

    return Tensor(arrived(x.uop))


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
