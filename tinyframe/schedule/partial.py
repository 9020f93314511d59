"""Long reduces become two kernels: the first stores partial results, the second reduces those.

    for k in 0 … 16383: out += a[k]*b[k]      for p in 0 … 15: for k in 0 … 1023:
                                                  part[p] += a[p*1024 + k] * b[p*1024 + k]
                                              for p in 0 … 15: out += part[p]

Whether that helps can be read off a lowered kernel's accesses (`algebra/access.py`). It does not
matter which movement ops it came from, or whether it is a matrix product or the gradient of a
convolution. Each row of `PARTIAL` looks at one REDUCE and its target, and decides which RANGEs are
cut, and how much of each goes into a part.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tinyframe import thresholds
from tinyframe.algebra.access import AccessTable
from tinyframe.device import load
from tinyframe.renderer import Target
from tinyframe.schedule.ranges import order_ranges, renumber
from tinyframe.uop.node import (
    AxisType,
    Ops,
    UOp,
    extent,
    fresh_number,
    identity,
    is_symbolic,
    iterations,
)

Cut = dict[UOp, int]
"""RANGE of a REDUCE -> the length of a part of it."""


@dataclass(frozen=True, eq=False)
class Partial:
    """A row of the table: when partial results are worth a kernel of their own, and why."""

    name: str
    why: str
    cut: Callable[[AccessTable, UOp, Target], Cut | None]


def too_few_results(table: AccessTable, reduce: UOp, target: Target) -> Cut | None:
    """A very large reduce to few results, on a CPU's cores."""
    if (
        iterations(reduce.ranges) >= thresholds.MANY_RESULTS
        or iterations(table.around(reduce)) < thresholds.LARGE_REDUCE
    ):
        return None
    for r in reduce.own_ranges:
        most = min(thresholds.PARTS, extent(r) // 2)
        parts = divisor(extent(r), range(most, thresholds.LEAST_PARTS - 1, -1))
        if parts is not None:
            return {r: extent(r) // parts}
    return None


def windows_over_images(table: AccessTable, reduce: UOp, target: Target) -> Cut | None:
    """Few results, each a sum over images, and positions in them, with operands read in windows."""
    c = table.contraction_of(reduce)
    if c is None or len(c.summed) < 2:
        return None
    images, *positions = c.summed
    each = iterations(positions)
    parts = divisor(
        extent(images),
        (n for n in range(extent(images), 1, -1)
         if extent(images) // n * each >= thresholds.PART_OF_WINDOWS),
    )  # fmt: skip
    read = sum(math.prod(x.index.arg) for x in (c.a, c.b))
    if parts is None or parts * iterations(reduce.ranges) > read:
        return None  # partial results must not take more memory than the operands
    return {images: extent(images) // parts}


def long_product(table: AccessTable, reduce: UOp, target: Target) -> Cut | None:
    """Few results, each a long sum of products of two matrices."""
    c = table.contraction_of(reduce)
    if c is None or len(c.summed) != 1 or c.a.guarded or c.b.guarded:
        return None
    (r,) = c.summed
    if extent(r) < thresholds.LONG_PRODUCT or iterations(reduce.ranges) > thresholds.FEW_SUMS:
        return None
    parts = divisor(extent(r), range(extent(r) // thresholds.PART_OF_PRODUCT, 1, -1))
    return None if parts is None else {r: extent(r) // parts}


def divisor(n: int, candidates: Iterable[int]) -> int | None:
    """The first candidate that divides n."""
    return next((c for c in candidates if n % c == 0), None)


def parts_of(r: UOp, each: int) -> int:
    """The number of parts of a RANGE; the last one may be shorter."""
    return -(-extent(r) // each)


TOO_FEW_RESULTS = Partial(
    "too few results",
    "a very large reduce has fewer results than a machine may have cores: all cores take part",
    too_few_results,
)
PARTIAL: Sequence[Partial] = [
    Partial(
        "windows over images",
        "few weights are each a sum over all images: the data of one image at a time can be copied "
        "in reading order, and stays in the cache",
        windows_over_images,
    ),
    Partial(
        "long product",
        "few results, each a long sum of products: a part of the sum at a time stays in the cache",
        long_product,
    ),
]


def split_long_reduces(sink: UOp, target: Target) -> list[UOp]:
    """The kernels that store partial results of a lowered kernel's long reduces, followed by the
    one that reads them; the kernel itself if nothing is cut.

    Each set of partial results is one more argument, after the kernel's own.
    """
    of_blocks = target.block_threads and load("tinyframe.gpu.occupancy:IDLE_BLOCKS")
    rows = [of_blocks or TOO_FEW_RESULTS, *PARTIAL]
    table = AccessTable(sink)
    first: list[UOp] = []
    final = sink
    slot = 1 + max(u.arg for u in table.nodes if u.op is Ops.DEFINE_GLOBAL)
    for reduce in table.reduces:
        if any(map(is_symbolic, table.around(reduce))):
            continue
        cut = next((c for row in rows if (c := row.cut(table, reduce, target)) is not None), None)
        if cut is not None:
            kernel, rest = _cut(sink, reduce, cut, slot + len(first))
            first.append(kernel)
            final = final.substitute({reduce: rest})
    if not first:
        return [sink]
    return [renumber(order_ranges(kernel)) for kernel in (*first, final)]


def _cut(sink: UOp, reduce: UOp, cut: Cut, slot: int) -> tuple[UOp, UOp]:
    """The kernel that stores a reduce's partial results, contiguous for each part; and the REDUCE
    of these, which replaces the original one."""
    number = fresh_number(sink)
    inside = {r: UOp.range(n, number + k, AxisType.REDUCE) for k, (r, n) in enumerate(cut.items())}
    number += len(cut)
    around = sorted(reduce.ranges, key=lambda x: x.arg[0])
    parts = [UOp.range(parts_of(r, n), number + k) for k, (r, n) in enumerate(cut.items())]
    shape = tuple(map(extent, (*parts, *around)))
    memory = UOp(Ops.DEFINE_GLOBAL, reduce.dtype.ptr(math.prod(shape)), (), slot)

    value = _value_in_part(reduce, dict(zip(inside.values(), parts, strict=True)), inside)
    left = [x for r in reduce.own_ranges if extent(x := inside.get(r, r)) > 1]
    stored = memory.index(*parts, *around, shape=shape).store(
        value.reduce(reduce.arg, *left), *parts, *around
    )
    every = [part.replace(arg=(part.arg[0], AxisType.REDUCE)) for part in parts]
    total = memory.index(*every, *around, shape=shape).load().reduce(reduce.arg, *every)
    return UOp.sink(stored), total


def _value_in_part(reduce: UOp, part_of: dict[UOp, UOp], inside: dict[UOp, UOp]) -> UOp:
    """The operand of a REDUCE, in terms of the loops over parts and inside a part. A last part that
    would run past the end starts earlier, and the elements that the previous part has counted
    already become the identity."""
    place: dict[UOp, UOp] = {}
    counted: list[UOp] = []
    for r, inner in inside.items():
        each, part = extent(inner), part_of[inner].cast(r.dtype)
        begin = part * each
        start = begin if extent(r) % each == 0 else begin.minimum(extent(r) - each)
        place[r] = ((start + inner.cast(r.dtype)) if each > 1 else start).simplify()
        if start is not begin:
            counted.append((place[r] < begin).simplify())
    value = reduce.src[0].substitute(place)
    if not counted:
        return value
    is_counted = functools.reduce(lambda a, b: a | b, counted)
    return is_counted.where(value.const_like(identity(reduce.arg, reduce.dtype)), value)
