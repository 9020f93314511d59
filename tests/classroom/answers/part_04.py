"""Part 4: what somebody might answer, and what they are told."""

from __future__ import annotations

import numpy as np

from tinyframe import Tensor
from tinyframe.uop import Ops, UOp
from tinyframe.uop.show import summary

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = {"4.9"}

# for each prediction what is right, and what somebody might think
GUESSES = {
    "4.2": ((0, 0, 1, 1), (2, 2, 2, 2), (0, 1, 1, 1), (0, 0, 1, 2), (0, 0, 2, 2)),
    "4.3": (
        (False, True, False, False),
        (False, False, False, False),
        (True, True, True, True),
        (False, True, True, True),
    ),
    "4.8": ((1, 1, 2, 1, 2), (1, 2, 2, 1, 2), (3, 2, 2, 2, 2), (1, 1, 1, 1, 1)),
    "4.13": ((10, 20, 4), (30, 30, 4), (10, 20, 3), (10, 20, 2), (10, 10, 4)),
    "4.15": ((1, 1, 2, 2), (1, 1, 1, 1), (1, 2, 2, 2), (0, 0, 1, 1)),
}


def as_tree(tensor, op):
    """What somebody writes who thinks of a tree."""

    def walk(u):
        return (u.op is op) + sum(map(walk, u.src))

    return walk(tensor.uop)


def multiply(a, b):
    return UOp(Ops.MUL, a.dtype, (a, b))


def total(a, b, axes=(0,)):
    return UOp(Ops.REDUCE_AXIS, a.dtype, (multiply(a, b),), (Ops.ADD, axes))


def largest(a, b):
    maximum = UOp(Ops.REDUCE_AXIS, a.dtype, (multiply(a, b),), (Ops.MAX, (0,)))
    return UOp(Ops.RESHAPE, a.dtype, (maximum,), ())


def dot(a, b):
    return UOp(Ops.RESHAPE, a.dtype, (total(a, b),), ())


def dot_by_operator(a, b):
    """Two of the three nodes by hand."""
    added = UOp(Ops.REDUCE_AXIS, a.dtype, (a * b,), (Ops.ADD, (0,)))
    return UOp(Ops.RESHAPE, a.dtype, (added,), ())


def chain(a, length):
    for _ in range(length):
        a = a + 1
    return a


def product(a, n):
    result = a
    for _ in range(n - 1):
        result = result * a
    return result


def rows(a, n):
    for _ in range(n):
        a = a / a.sum(axis=1, keepdim=True)
    return a


def columns_and_rows(a, n):
    for k in range(n):
        a = a - a.max(axis=1 - k % 2, keepdim=True)
    return a


def means(a, n):
    for k in range(n):
        a = a * (a + a.mean(axis=k % 2, keepdim=True)).sqrt()
    return a


def by_digits(a, n):
    result = 1
    for digit in bin(n)[2:]:
        result = result * result * a if digit == "1" else result * result
    return result


def three(waves):
    return [(waves * k).sum() for k in (2, 3, 4)]


def exchanged(x, y, kept):
    x.assign(y)
    y.assign(kept)
    return x, y


def by_arithmetic(x, y):
    x.assign(x + y)
    y.assign(x - y)
    x.assign(x - y)
    return x, y


def written(window, place, value):
    window[place] = value
    return window


def moved_up(window, value=None):
    window[:-1] = window[1:]
    return window if value is None else written(window, -1, value)


def bend(u):
    return (u[:-2] - 2 * u[1:-1] + u[2:]).pad(((1, 1),))


def later(now, before, stiffness=0.5):
    return 2 * now - before + stiffness * bend(now)


def swung(now, before, stiffness):
    following = later(now, before, stiffness)
    before.assign(now)
    now.assign(following)
    return now, before


def swung_by_swapping(now, before):
    """First into `before`, which nobody needs after that; then the two exchange their values."""
    before.assign(2 * now - before + bend(now) / 2)
    return exchanged(now, before, now + 0)


def early(now, before):
    before.assign(now)
    now.assign(later(now, before))
    return now, before


# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("4.1", lambda t, op: t.uop.op is op, "a whole number"),
    ("4.1", lambda t, op: summary(t.uop).count(op.name), "too many"),
    ("4.1", as_tree, "once for every path"),
    ("4.1", lambda t, op: len(t.uop.toposort()), "You counted all nodes"),
    ("4.1", lambda t, op: 1, "too many"),
    ("4.1", lambda t, op: sum(u.op is op for u in t.uop.src), "sources of the last node"),
    ("4.1", lambda t, op: int(t.uop.op is op), "You found none"),
    ("4.4", product, "too many multiplications"),
    ("4.4", lambda a, n: a**n, "POW"),
    ("4.4", lambda a, n: (a.log() * n).exp(), "multiplications only"),
    ("4.4", lambda a, n: product(a, n + 1), "case `a = [[1, 2, 3]]`, n = 1"),
    ("4.4", lambda a, n: a * n, "case `a = [[1, 2, 3]]`, n = 2"),
    ("4.5", lambda a, b: multiply(a, b), "missing from your graph: ADD"),
    ("4.5", lambda a, b: UOp(Ops.ADD, a.dtype, (a, multiply(a, b))), "wrong order"),
    ("4.5", lambda a, b: Tensor(a) * Tensor(b) + Tensor(a), "a UOp"),
    ("4.5", lambda a, b: UOp(Ops.MUL, a.dtype, a), "a UOp without a comma"),
    ("4.5", lambda a, b: UOp(Ops.MUL, a.dtype, [a, b]), "have to be a tuple"),
    ("4.5", lambda a, b: UOp(Ops.ADD, (UOp(Ops.MUL, (a, b)), a)), "is its dtype"),
    ("4.5", lambda a, b: a * b + a, "MUL, ADD: built by an operator"),
    ("4.5", lambda a, b: (Tensor(a) * Tensor(b) + Tensor(a)).uop, "built by an operator"),
    ("4.5", lambda a, b: UOp(Ops.ADD, a.dtype, (a * b, a)), "MUL: built by an operator"),
    ("4.5", lambda a, b: multiply(a, b) + a, "ADD: built by an operator"),
    ("4.6", lambda a, b: total(a, b), "missing from your graph: RESHAPE"),
    ("4.6", lambda a, b: UOp(Ops.REDUCE_AXIS, a.dtype, (multiply(a, b),), (0,)), "possible node"),
    ("4.6", lambda a, b: UOp(Ops.REDUCE_AXIS, a.dtype, (multiply(a, b),)), "possible node"),
    ("4.6", lambda a, b: UOp(Ops.RESHAPE, a.dtype, (total(a, b),), (1,)), "wrong arg"),
    (
        "4.6",
        lambda a, b: UOp(Ops.RESHAPE, a.dtype, (total(b, a),), ()),
        "MUL has the right sources",
    ),
    ("4.6", lambda a, b: UOp(Ops.REDUCE_AXIS, a.dtype, (multiply(a, b),), (Ops.ADD, [0])), "list"),
    ("4.6", largest, "REDUCE_AXIS has the wrong arg"),
    ("4.6", lambda a, b: (Tensor(a) * Tensor(b)).sum().uop, "built by an operator or a method"),
    ("4.6", dot_by_operator, "MUL: built by an operator"),
    ("4.6", lambda a, b: UOp(Ops.MUL, a.dtype, (dot(a, b), dot(a, b))), "than it needs: MUL"),
    ("4.7", lambda items: len(items), "43 too few"),
    ("4.7", lambda items: sum(b.size for i in items for b in i.bufs), "elements instead of bytes"),
    ("4.7", lambda items: 4 * sum(b.size for i in items for b in i.bufs), "a double has 8"),
    ("4.7", lambda items: sum({b: b.nbytes for i in items for b in i.bufs}.values()), "twice"),
    ("4.7", lambda items: sum(b.nbytes for b in items[0].bufs), "case `a / a.sum()`"),
    ("4.9", 31, "isn't enough rows"),
    ("4.9", 64, "one row fewer does too"),
    ("4.9", 1, "between 2 and 4,096"),
    ("4.9", 31.5, "a whole number"),
    ("4.10", lambda a: a.sum(axis=0) / a.sum(axis=0).sum(), "takes 3 kernels"),
    ("4.10", lambda a: a.sum(axis=0), "takes 1 kernel"),
    ("4.10", lambda a: a.sum(axis=1) / a.sum(), "size"),
    ("4.10", lambda a: (a.sum(axis=0) / a.sum()).contiguous(), "CONTIGUOUS"),
    ("4.11", lambda a, n: a / a.sum(), "takes 2 kernels; it should take 1"),
    ("4.11", lambda a, n: a @ a, "products are ruled out"),
    ("4.11", lambda a, n: a.matmul(a), "products are ruled out"),
    ("4.11", lambda a, n: ((a + 1).contiguous() + 1).contiguous() + 1, "CONTIGUOUS"),
    ("4.11", lambda a, n: a * Tensor.rand(*a.shape), "Random"),
    ("4.11", lambda a, n: chain(a, n), "takes 1 kernel"),
    ("4.11", lambda a, n: rows(a, n), "takes 1 kernel; it should take 2"),
    ("4.11", lambda a, n: (a / a.sum()).realize() + 1, "A kernel has run already"),
    ("4.11", lambda a, n: Tensor.ones(5) + 1, "`a` isn't in your expression"),
    ("4.12", lambda u: three(u.sin().exp()), "each sine 3 times"),
    ("4.12", lambda u: three(u.sin().exp().realize()), "run already"),
    ("4.12", lambda u: [(u.sin().exp() * k).contiguous().sum() for k in (2, 3, 4)], "sine 3 times"),
    ("4.12", lambda u: three(u.sin().contiguous()), "times 2"),
    ("4.12", lambda u: u.sin().exp().contiguous().sum(), "list of three"),
    ("4.14", lambda x, y: (y, x), "in the other order"),
    ("4.14", lambda x, y: (x, y), "Nothing has changed"),
    ("4.14", lambda x, y: (x.assign(y), y.assign(x)), "Both hold the old values of `y` now"),
    ("4.14", lambda x, y: (y.assign(x), x.assign(y))[::-1], "Both hold the old values of `x` now"),
    ("4.14", lambda x, y: (x * 1, y * 1), "returns a new Tensor"),
    ("4.14", lambda x, y: exchanged(x, y, x.detach()), "Both hold the old values of `y`"),
    ("4.14", lambda x, y: x, "the two Tensors `x` and `y`"),
    ("4.16", lambda window, value: window, "Nothing has changed"),
    ("4.16", lambda window, value: window[1:].cat(Tensor([value])), "returns a new Tensor"),
    ("4.16", lambda window, value: window.assign(Tensor([value]).cat(window[:-1])), "other way"),
    ("4.16", lambda window, value: window.assign(window.roll(-1)), "oldest value came back"),
    ("4.16", lambda window, value: written(window, -1, value), "others haven't moved"),
    ("4.16", lambda window, value: moved_up(written(window, -1, value)), "twice"),
    ("4.16", lambda window, value: moved_up(window), "the new value isn't there"),
    ("4.17", lambda now, before: (now, before), "Nothing has changed"),
    ("4.17", lambda now, before: (now.assign(later(now, before)), before.assign(now)), "same val"),
    ("4.17", lambda now, before: (now.assign(later(now, before)), before), "`before`"),
    ("4.17", lambda now, before: (later(now, before), now), "returns a new Tensor"),
    ("4.17", lambda now, before: early(now, before), "overwritten when `now` needed it"),
    ("4.17", lambda now, before: swung(now, before, 0.25), "after 1 step: `now`"),
]

# number of an exercise, a right answer that is not the worked one
RIGHT = [
    ("4.1", lambda t, op: [u.op for u in t.uop.toposort()].count(op)),
    ("4.1", lambda t, op: np.count_nonzero([u.op is op for u in t.uop.toposort()])),
    ("4.4", lambda a, n: by_digits(a, n)),
    ("4.7", lambda items: sum(map(sum, ([b.nbytes for b in item.bufs] for item in items)))),
    ("4.7", lambda items: sum(b.size * b.dtype.itemsize for i in items for b in i.bufs)),
    ("4.9", np.int64(32)),
    ("4.9", 32.0),
    ("4.10", lambda a: (a / a.sum()).sum(axis=0)),
    ("4.10", lambda a: a.sum(axis=0) * (1 / a.sum())),
    ("4.10", lambda a: a.mean(axis=0) / a.sum() * a.shape[0]),
    ("4.11", lambda a, n: columns_and_rows(a, n)),
    ("4.11", lambda a, n: means(a, n)),
    ("4.12", lambda u: tuple(three(u.sin().exp().contiguous()))),
    ("4.12", lambda u: (plan for plan in three(u.sin().exp().contiguous()))),
    ("4.12", lambda u: three(u.sin().contiguous().exp())),
    ("4.12", lambda u: [u.sin().exp().sum().contiguous() * k for k in (2, 3, 4)]),
    ("4.14", lambda x, y: exchanged(x, y, x + 0)),
    ("4.14", lambda x, y: exchanged(x, y, (x * 1).realize())),
    ("4.14", lambda x, y: exchanged(x, y, Tensor(x.numpy().copy()))),
    ("4.14", lambda x, y: list(exchanged(y, x, y.contiguous()))[::-1]),
    ("4.14", lambda x, y: by_arithmetic(x, y)),
    ("4.16", lambda window, value: window.assign(window[1:].cat(Tensor([value])))),
    ("4.16", lambda window, value: written(moved_up(window), -1, value)),
    ("4.16", lambda window, value: written(window.assign(window.roll(-1)), -1, value)),
    ("4.16", lambda window, value: moved_up(window, value).realize()),
    ("4.17", lambda now, before: swung(now, before, 0.5)),
    ("4.17", lambda now, before: swung_by_swapping(now, before)),
]
