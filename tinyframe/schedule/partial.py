"""Long reduces in two kernels: the first leaves partial results, the second reduces those.

    for k in 0 … 16383: out += a[k]*b[k]      for p in 0 … 15: for k in 0 … 1023:
                                                  part[p] += a[p*1024 + k] * b[p*1024 + k]
                                              for p in 0 … 15: out += part[p]

Whether that helps can be read off the table of what a lowered kernel reads (`algebra/access.py`):
it does not matter from which movement ops the kernel came, nor whether it is a matrix product or
the gradient of a convolution. Each row of `PARTIAL` looks at one REDUCE and names the RANGE that is
cut, and into how many parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tinyframe import thresholds
from tinyframe.algebra.access import AccessTable
from tinyframe.schedule.ranges import order_ranges, renumber
from tinyframe.uop.node import AxisType, Ops, UOp
from tinyframe.uop.range import is_symbolic, iterations, length

Cut = tuple[UOp, int]
"""A RANGE of a REDUCE, and the number of parts that it is cut into."""


@dataclass(frozen=True, eq=False)
class Partial:
    """A row of the table: when partial results are worth a kernel of their own, and why."""

    name: str
    why: str
    cut: Callable[[AccessTable, UOp], Cut | None]


def too_few_results(table: AccessTable, reduce: UOp) -> Cut | None:
    """A very large reduce to few results."""
    if (
        iterations(reduce.ranges) >= thresholds.MANY_RESULTS
        or iterations(table.around(reduce)) < thresholds.LARGE_REDUCE
    ):
        return None
    for r in reduce.own_ranges:
        most = min(thresholds.PARTS, length(r) // 2)
        parts = _divisor(length(r), range(most, thresholds.LEAST_PARTS - 1, -1))
        if parts is not None:
            return r, parts
    return None


def windows_over_images(table: AccessTable, reduce: UOp) -> Cut | None:
    """Few results, each a sum over images and the places in them, of operands read in windows."""
    c = table.contraction_of(reduce)
    if c is None or len(c.summed) < 2:
        return None
    images, *places = c.summed
    each = iterations(places)
    parts = _divisor(
        length(images),
        (n for n in range(length(images), 1, -1)
         if length(images) // n * each >= thresholds.PART_OF_WINDOWS),
    )  # fmt: skip
    read = sum(math.prod(x.index.arg) for x in (c.a, c.b))
    if parts is None or parts * iterations(reduce.ranges) > read:
        return None  # partial results may not take more memory than what is summed
    return images, parts


def long_product(table: AccessTable, reduce: UOp) -> Cut | None:
    """Few results, each a long sum of products of two matrices."""
    c = table.contraction_of(reduce)
    if c is None or len(c.summed) != 1 or c.a.guarded or c.b.guarded:
        return None
    (r,) = c.summed
    if length(r) < thresholds.LONG_PRODUCT or iterations(reduce.ranges) > thresholds.FEW_SUMS:
        return None
    parts = _divisor(length(r), range(length(r) // thresholds.PART_OF_PRODUCT, 1, -1))
    return None if parts is None else (r, parts)


def _divisor(n: int, candidates) -> int | None:
    """The first of these that divides n."""
    return next((c for c in candidates if n % c == 0), None)


PARTIAL: Sequence[Partial] = [
    Partial(
        "too few results",
        "a very large reduce leaves fewer results than there could be cores: all take part",
        too_few_results,
    ),
    Partial(
        "windows over images",
        "few weights are each the sum over all images: what is read of one image at a time can be "
        "copied in the order of reading, and stays in the cache",
        windows_over_images,
    ),
    Partial(
        "long product",
        "few results of a long sum of products: a part of the sum at a time stays in the cache",
        long_product,
    ),
]


def in_parts(sink: UOp, rows: Sequence[Partial] = PARTIAL) -> list[UOp]:
    """A kernel as those that leave partial results, and the one that reads them, which stands last;
    a list of the kernel itself where nothing is cut.

    sink: a lowered kernel. Partial results lie in arguments after its own: one more slot for each.
    """
    table = AccessTable(sink)
    first: list[UOp] = []
    final = sink
    slot = 1 + max(u.arg for u in table.nodes if u.op is Ops.DEFINE_GLOBAL)
    for reduce in table.reduces:
        if any(map(is_symbolic, table.around(reduce))):
            continue
        cut = next((c for row in rows if (c := row.cut(table, reduce)) is not None), None)
        if cut is not None:
            kernel, rest = _cut(sink, reduce, *cut, slot + len(first))
            first.append(kernel)
            final = final.substitute({reduce: rest})
    if not first:
        return [sink]
    return [renumber(order_ranges(kernel)) for kernel in (*first, final)]


def _cut(sink: UOp, reduce: UOp, r: UOp, parts: int, slot: int) -> tuple[UOp, UOp]:
    """The kernel that stores partial results of a reduce, those of one part side by side; and what
    stands for the reduce after it."""
    number = 1 + max(u.arg[0] for u in sink.toposort() if u.op is Ops.RANGE)
    around = sorted(reduce.ranges, key=lambda x: x.arg[0])
    inner = UOp.range(length(r) // parts, number, AxisType.REDUCE)
    shape = (parts, *map(length, around))
    memory = UOp(Ops.DEFINE_GLOBAL, reduce.dtype.ptr(math.prod(shape)), (), slot)

    part = UOp.range(parts, number + 1)
    place = part.cast(r.dtype) * length(inner) + inner.cast(r.dtype)
    value = reduce.src[0].substitute({r: place.simplify()})
    partial = value.reduce(reduce.arg, *[inner if x is r else x for x in reduce.own_ranges])
    stored = memory.index(part, *around, shape=shape).store(partial, part, *around)

    part = UOp.range(parts, number + 1, AxisType.REDUCE)
    total = memory.index(part, *around, shape=shape).load().reduce(reduce.arg, part)
    return UOp.sink(stored), total
