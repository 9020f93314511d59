"""Part 4: what somebody might answer, and what they are told."""

from __future__ import annotations

from tinyframe import Tensor
from tinyframe.uop import Ops, UOp

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = set()

# for each prediction what is right, and what somebody might think
GUESSES = {
    "4.1": (0, 1, 2),
    "4.3": (60, 61, 2**60, 1),
    "4.8": (0, 1, 5, 6),
    "4.10": ((1, 1, 2, 1, 2), (1, 2, 2, 1, 2), (3, 2, 2, 2, 2), (1, 1, 1, 1, 1)),
    "4.11": ((2, 1), (1, 1), (2, 2), (1, 2)),
    "4.13": ((10, 20, 4), (30, 30, 4), (10, 20, 3), (10, 20, 2), (10, 10, 4), (30, 30)),
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


def chain(a, length):
    for _ in range(length):
        a = a + 1
    return a


# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("4.2", lambda t, op: t.uop.op is op, "a whole number"),
    ("4.2", as_tree, "Another number"),
    ("4.2", lambda t, op: len(t.uop.toposort()), "Another number"),
    ("4.2", lambda t, op: 1, "Another number"),
    ("4.4", lambda a: a + a, "Not yet"),
    ("4.4", lambda a: chain(a, 100), "too large"),
    ("4.5", lambda a, b: multiply(a, b), "not the one that was asked for"),
    ("4.5", lambda a, b: UOp(Ops.ADD, a.dtype, (a, multiply(a, b))), "another order"),
    ("4.5", lambda a, b: Tensor(a) * Tensor(b) + Tensor(a), "a UOp"),
    ("4.5", lambda a, b: UOp(Ops.MUL, a.dtype, a), "do not fit"),
    ("4.6", lambda a, b: total(a, b), "not the one that was asked for"),
    ("4.6", lambda a, b: UOp(Ops.REDUCE_AXIS, a.dtype, (multiply(a, b),), (0,)), "do not fit"),
    ("4.6", lambda a, b: UOp(Ops.REDUCE_AXIS, a.dtype, (multiply(a, b),)), "do not fit"),
    ("4.6", lambda a, b: UOp(Ops.RESHAPE, a.dtype, (total(a, b),), (1,)), "another arg"),
    ("4.7", lambda items: len(items), "Another number"),
    ("4.7", lambda items: sum(b.size for i in items for b in i.bufs), "Another number"),
    ("4.7", lambda items: sum({b: b.nbytes for i in items for b in i.bufs}.values()), "Another"),
    ("4.9", lambda a: a.T, "values"),
    ("4.9", lambda a: a.flip((0, 1)), "swapped"),
    ("4.9", lambda a: a.flip((0, 1)).T.contiguous(), "kernel"),
    ("4.12", lambda a: a * 2 + 1, "1 kernel"),
    ("4.12", lambda a: ((a * 2).contiguous() + 1).contiguous() + 0.5, "3 kernels"),
    ("4.12", lambda a: (a * 2).contiguous() + 2, "Every value is 1 too large"),
    ("4.12", lambda a: (a * 2).realize() + 1, "ran already"),
    ("4.14", lambda a: a.sum(axis=0) / a.sum(axis=0).sum(), "3 kernels"),
    ("4.14", lambda a: a.sum(axis=0), "1 kernel"),
    ("4.14", lambda a: a.sum(axis=1) / a.sum(), "shape"),
    ("4.14", lambda a: (a.sum(axis=0) / a.sum()).contiguous(), "by hand"),
    ("4.15", lambda a: a / a.sum(), "2 kernels"),
    ("4.15", lambda a: ((a + 1).contiguous() + 1).contiguous() + 1, "CONTIGUOUS"),
    ("4.15", lambda a: a @ Tensor.rand(*a.shape), "Random"),
    ("4.16", lambda a, n: a @ a, "should take 2"),
    ("4.16", lambda a, n: chain(a, n), "kernel"),
]
