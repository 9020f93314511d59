"""Part 7b: what somebody might answer, and what they are told."""

from __future__ import annotations

from functools import cache, reduce
from typing import Any

import numpy as np

from tinyframe import dtypes
from tinyframe.uop import Ops, UOp

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = set()

# for each prediction what is right, and what somebody might think
GUESSES: dict[str, tuple[Any, ...]] = {
    "7.11": ((1, 2, 2, 1), (1, 1, 1, 1), (2, 2, 2, 2), (1, 1, 2, 2), (2, 1, 1, 2)),
    "7.13": (
        (False, True, False, False),
        (True, True, True, True),
        (False, False, False, False),
        (False, True, False, True),
        (True, True, False, False),
    ),
    "7.15": ((24, 4, 24, 4), (24, 4, 6, 4), (24, 24, 24, 4), (24, 4, 24, 24), (24, 1, 6, 4)),
}


# ---- 7.12 ----------------------------------------------------------------------------------------


def kernel(out, data, read, written=None, closed=True, size=None, sink=True):
    i = UOp.range(size or out.dtype.size, 0)
    place = out.index(i if written is None else written(i))
    store = place.store(read(data, i), *((i,) if closed else ()))
    return UOp.sink(store) if sink else store


def node_by_node(out, data):
    """Without a single method."""
    n = UOp(Ops.CONST, dtypes.int, (), out.dtype.size)
    true = UOp(Ops.CONST, dtypes.bool, (), True)
    i = UOp(Ops.RANGE, dtypes.int, (n,), UOp.range(1, 3).arg)
    square = UOp(Ops.MUL, dtypes.int, (i, i))
    place = UOp(Ops.INDEX, out.dtype, (out, true, i), (out.dtype.size,))
    there = UOp(Ops.INDEX, data.dtype, (data, true, square), (data.dtype.size,))
    value = UOp(Ops.LOAD, dtypes.float, (there,))
    return UOp(Ops.SINK, dtypes.void, (UOp(Ops.STORE, dtypes.void, (place, value, i)),))


def sum_of_odd_numbers(out, data):
    """i * i is 1 + 3 + 5 …: here as a sum over a second loop, of what is at i * i where it is 0."""
    i, j = UOp.range(out.dtype.size, 0), UOp.range(out.dtype.size, 1)
    picked = i.eq(j).where(data.index(j * j).load(), 0.0)
    return UOp.sink(out.index(i).store(picked.reduce(Ops.ADD, j), i))


def backwards(out, data):
    """From the last to the first."""
    n = out.dtype.size
    i = UOp.range(n, 0)
    k = i * -1 + (n - 1)
    return UOp.sink(out.index(k).store(data.index(k * k).load(), i))


# ---- 7.14 ----------------------------------------------------------------------------------------


def counters(u, closes=True):
    if u.op is Ops.RANGE:
        return {u}
    found = set().union(*(counters(s, closes) for s in u.src))
    return found - set(u.src[1:]) if closes and u.op is Ops.REDUCE else found


def deepest(u, nest, closes=True):
    return max((nest.index(r) + 1 for r in counters(u, closes)), default=0)


def by_depth(u, nest):
    """Depths of sources, without sets; a REDUCE leaves its own loops."""

    @cache
    def depth(u):
        if u.op is Ops.RANGE:
            return nest.index(u) + 1
        found = max((depth(s) for s in u.src), default=0)
        return found - (len(u.src) - 1) if u.op is Ops.REDUCE else found

    return depth(u)


def counter_outside(u, nest):
    return nest.index(u) if u.op is Ops.RANGE else deepest(u, nest)


def by_asking(u, nest):
    return max((nest.index(r) + 1 for r in u.ranges), default=0)


def nothing_for_constants(u, nest):
    if u.op is not Ops.CONST:
        return deepest(u, nest)


def in_every_loop(u, nest):
    return len(nest)


# ---- 7.16 ----------------------------------------------------------------------------------------


def has(op, nodes):
    return any(u.op is op for u in nodes)


def from_the_end(op, stages):
    """The last stage that has it, then the next."""
    for n in reversed(range(len(stages))):
        if has(op, stages[n][1]):
            return stages[n + 1][0] if n + 1 < len(stages) else ""
    return ""


def falls_through(op, stages):
    """A loop that returns what it finds, and nothing after it."""
    for (_, before), (name, nodes) in zip(stages, stages[1:], strict=False):
        if has(op, before) and not has(op, nodes):
            return name


def last_that_has_it(op, stages):
    there = [name for name, nodes in stages if has(op, nodes)]
    return there[-1] if there else ""


def first_without(op, stages):
    before = False
    for name, nodes in stages:
        if before and not has(op, nodes):
            return name
        before = before or has(op, nodes)
    return ""


def first_without_at_all(op, stages):
    return next((name for name, nodes in stages if not has(op, nodes)), "")


def though_it_is_there(op, stages):
    """Without a thought for the end."""
    return from_the_end(op, stages) or stages[-1][0]


def with_its_nodes(op, stages):
    """The whole pair, of which the name is the first half."""
    name = from_the_end(op, stages)
    return next(((n, nodes) for n, nodes in stages if n == name), "")


# ---- 7.17 ----------------------------------------------------------------------------------------


def floats(*counters):
    return [counter.cast(dtypes.float) for counter in counters]


def waves(row, column):
    y, x = floats(row, column)
    return (y * 0.1).sin() + (x * 0.07).sin()


def ripples(row, column):
    y, x = floats(row - 120, column - 160)
    return ((x * x + y * y).sqrt() * 0.2).sin()


def munching_squares(row, column):
    return ((row + 1) ^ column) % 256


def chessboard(row, column):
    return (row // 16 + column // 16) % 2


def one_over_column(row, column):
    return (row * 3 + 1) // column


def ten_waves(row, column):
    """A Python loop, and an int for a start."""
    y, x = floats(row, column)
    return reduce(lambda s, k: s + (y * 0.01 * k).sin() * (x * 0.02 * k).sin(), range(1, 11), 0)


def stripes(row, column):
    return row * 3 % 50


def a_new_counter(row, column):
    return row * 2 + column + UOp.range(7, 9)


def with_memory(row, column):
    data = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(10), (), 1)
    return data.index(row % 10).load() + column


WRONG: list[Any] = [
    ("7.10", lambda r, c, i, j, width: (r + i) * (width - 2) + c + j, "width of the result"),
    ("7.10", lambda r, c, i, j, width: (c + j) * width + r + i, "rows for columns"),
    ("7.10", lambda r, c, i, j, width: r * width + c, "corner of the window"),
    ("7.10", lambda r, c, i, j, width: (r + i) * width + c, "not to the right"),
    ("7.10", lambda r, c, i, j, width: r + i + c + j, "`width` cells further on"),
    ("7.10", lambda r, c, i, j, width: r * width + c + i * 3 + j, "image by itself"),
    ("7.10", lambda r, c, i, j, width: (r + i) * 6 + c + j, "wrong for other sizes"),
    ("7.10", lambda r, c, i, j, width: r * i * width + c * j, "reads the wrong cell"),
    ("7.10", lambda r, c, i, j, width: ((r + i) * width + c + j) / 4, "whole number"),
    ("7.12", lambda out, data: kernel(out, data, lambda d, i: d.index(i).load()), "a copy"),
    (
        "7.12",
        lambda out, data: kernel(out, data, lambda d, i: d.index(i).load() * d.index(i).load()),
        "different numbers",
    ),
    (
        "7.12",
        lambda out, data: kernel(
            out, data, lambda d, i: d.index(i * i).load() * d.index(i * i).load()
        ),
        "squared what was read",
    ),
    (
        "7.12",
        lambda out, data: kernel(out, data, lambda d, i: d.index(i * i * i).load()),
        "leaves its memory: LOAD reads data1",
    ),
    (
        "7.12",
        lambda out, data: kernel(out, data, lambda d, i: d.index(i).load(), lambda i: i * i),
        "leaves its memory: STORE writes data0",
    ),
    (
        "7.12",
        lambda out, data: kernel(out, data, lambda d, i: d.index(i * i).load(), closed=False),
        "ridx0 is never closed",
    ),
    (
        "7.12",
        lambda out, data: kernel(out, data, lambda d, i: d.index(i * i).load(), sink=False),
        "put it into `UOp.sink",
    ),
    (
        "7.12",
        lambda out, data: kernel(out, data, lambda d, i: d.index(i * i).load(), size=3),
        "never been written",
    ),
    (
        "7.12",
        lambda out, data: kernel(out, data, lambda d, i: (i * i).cast(dtypes.float)),
        "i * i itself",
    ),
    ("7.12", lambda out, data: UOp.sink(), "A SINK holds STOREs"),
    (
        "7.12",
        lambda out, data: kernel(data, out, lambda d, i: d.index(i).load(), size=2),
        "writes to a place in `out`",
    ),
    ("7.14", lambda u, nest: len(counters(u)), "all the loops around that one"),
    ("7.14", counter_outside, "inside its own loop"),
    ("7.14", lambda u, nest: deepest(u, nest, closes=False), "closes the loops it runs over"),
    ("7.14", in_every_loop, "deeper than it has to be"),
    ("7.14", lambda u, nest: 0, "inside its own loop"),
    ("7.14", lambda u, nest: deepest(u, nest) if u.op is Ops.RANGE else 0, "no value yet"),
    ("7.14", nothing_for_constants, "returns nothing here"),
    ("7.14", by_asking, "uses `ranges`"),
    ("7.14", lambda u, nest: counters(u), "a whole number"),
    ("7.16", last_that_has_it, "it's still there"),
    ("7.16", falls_through, "returns nothing here"),
    ("7.16", first_without, "comes back later"),
    ("7.16", first_without_at_all, "No stage removed it"),
    ("7.16", though_it_is_there, "No stage removed it"),
    ("7.16", lambda op, stages: "", "A different stage"),
    ("7.16", lambda op, stages: from_the_end(op, stages) or "none", "the name of a stage"),
    ("7.16", lambda op, stages: 0, "the name of a stage"),
    ("7.17", chessboard, "some shades"),
    ("7.17", stripes, "don't depend on `column`"),
    ("7.17", lambda row, column: column * 3 % 50, "don't depend on `row`"),
    ("7.17", one_over_column, "`column` may be 0"),
    ("7.17", lambda row, column: row + column, "once per row"),
    ("7.17", a_new_counter, "Who is ridx9?"),
    ("7.17", with_memory, "There's memory"),
    (
        "7.17",
        lambda row, column: (row - 20).cast(dtypes.float).sqrt() + column.cast(dtypes.float),
        "infinite or NaN",
    ),
    ("7.17", lambda row, column: row * 2 < column, "some shades"),
    ("7.17", lambda row, column: row * 0.5 + column, "a whole number meets a float"),
    ("7.17", lambda row, column: row.cast(dtypes.float) * column, "a whole number meets a float"),
    ("7.17", lambda row, column: (row * row + column).sqrt(), "gets a whole number"),
]

RIGHT: list[Any] = [
    ("7.10", lambda r, c, i, j, width: r * width + c + i * width + j),
    ("7.10", lambda r, c, i, j, width: np.int64((r + i) * width + c + j)),
    ("7.10", lambda r, c, i, j, width: float((r + i) * width + c + j)),
    ("7.10", lambda *where: int(np.dot(where[:4], (where[4], 1, where[4], 1)))),
    ("7.12", node_by_node),
    ("7.12", sum_of_odd_numbers),
    ("7.12", backwards),
    ("7.12", lambda out, data: kernel(out, data, lambda d, i: (d.index(i * i)).load() * 1.0)),
    ("7.14", deepest),
    ("7.14", by_depth),
    ("7.14", lambda u, nest: float(deepest(u, nest))),
    ("7.14", lambda u, nest: np.int32(deepest(u, nest))),
    ("7.16", from_the_end),
    ("7.16", with_its_nodes),
    ("7.17", waves),
    ("7.17", ripples),
    ("7.17", munching_squares),
    ("7.17", ten_waves),
    ("7.17", lambda row, column: row * row % 97 + column),
    ("7.17", lambda row, column: (row * 3 % 7 < column % 9).where(row * 2, column)),
]
