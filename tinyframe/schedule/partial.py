"""Long reduces in two kernels: the first leaves partial results, the second reduces those.

    for k in 0 … 16383: out += a[k]*b[k]      for p in 0 … 15: for k in 0 … 1023:
                                                  part[p] += a[p*1024 + k] * b[p*1024 + k]
                                              for p in 0 … 15: out += part[p]

Whether that helps can be read off the table of what a lowered kernel reads (`algebra/access.py`):
it does not matter from which movement ops the kernel came, nor whether it is a matrix product or
the gradient of a convolution. Each row of `PARTIAL` looks at one REDUCE, and at what it will run
on, and names the RANGEs that are cut, and how much of each is in a part.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tinyframe import thresholds
from tinyframe.algebra.access import AccessTable
from tinyframe.renderer import Target
from tinyframe.schedule.blocks import block_size, leaves_blocks_idle
from tinyframe.schedule.ranges import order_ranges, renumber
from tinyframe.uop.node import (
    AxisType,
    Ops,
    UOp,
    fresh_number,
    identity,
    is_symbolic,
    iterations,
    length,
)

Cut = dict[UOp, int]
"""RANGEs of a REDUCE, and how much of each is in a part."""


@dataclass(frozen=True, eq=False)
class Partial:
    """A row of the table: when partial results are worth a kernel of their own, and why."""

    name: str
    why: str
    cut: Callable[[AccessTable, UOp, Target], Cut | None]


def idle_blocks(table: AccessTable, reduce: UOp, target: Target) -> Cut | None:
    """A long reduce to fewer results than a GPU runs blocks of threads. It has no other reduce
    inside: `fuse.py` has stored that."""
    results, each = iterations(reduce.ranges), iterations(reduce.own_ranges)
    is_nested = any(u.op is Ops.REDUCE for u in reduce.src[0].toposort())
    if is_nested or not leaves_blocks_idle(target, results, each):
        return None
    ranges, is_contiguous = _as_in_memory(table, reduce)
    # A block has threads for neighbouring results too where these are what lies side by side.
    beside = 1 if is_contiguous else max(1, min(target.warp, results))
    least = thresholds.LEAST_READS * block_size(target)
    blocks = min(thresholds.BLOCKS_OF_PARTS, math.prod(target.grid))
    parts = min(blocks * beside // results, each * beside // least)
    return _cut_from_outside(ranges, parts, target) or None


def _as_in_memory(table: AccessTable, reduce: UOp) -> tuple[list[UOp], bool]:
    """The RANGEs of a REDUCE, those first whose neighbours lie farthest apart in what is read most,
    and whether the last of them runs along contiguous memory."""
    read = max(table.read_by(reduce.src[0]), key=lambda x: x.elements, default=None)
    if read is None:
        return list(reduce.own_ranges), True

    def apart(r: UOp) -> int:
        return abs(read.step(r) or 0)

    ranges = sorted(reduce.own_ranges, key=apart, reverse=True)
    return ranges, any(apart(r) == 1 for r in ranges)


def _cut_from_outside(ranges: Iterable[UOp], parts: int, target: Target) -> Cut:
    """About so many parts, and no more: of the outermost loops each turn is one, and the next is
    cut."""
    cut = {}
    for r in ranges:
        if parts < 2:
            break
        number = _divisor(length(r), range(parts, parts // 2, -1))
        if length(r) <= parts:
            cut[r] = 1
        elif number is not None:
            cut[r] = length(r) // number
        else:  # what is read of a part begins where a warp's does
            whole = max(1, target.warp)
            cut[r] = min(length(r), -(-length(r) // (parts * whole)) * whole)
        parts //= _parts(r, cut[r])
    return cut


def too_few_results(table: AccessTable, reduce: UOp, target: Target) -> Cut | None:
    """A very large reduce to few results, on cores."""
    if (
        target.block_threads
        or iterations(reduce.ranges) >= thresholds.MANY_RESULTS
        or iterations(table.around(reduce)) < thresholds.LARGE_REDUCE
    ):
        return None
    for r in reduce.own_ranges:
        most = min(thresholds.PARTS, length(r) // 2)
        parts = _divisor(length(r), range(most, thresholds.LEAST_PARTS - 1, -1))
        if parts is not None:
            return {r: length(r) // parts}
    return None


def windows_over_images(table: AccessTable, reduce: UOp, target: Target) -> Cut | None:
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
    return {images: length(images) // parts}


def long_product(table: AccessTable, reduce: UOp, target: Target) -> Cut | None:
    """Few results, each a long sum of products of two matrices."""
    c = table.contraction_of(reduce)
    if c is None or len(c.summed) != 1 or c.a.guarded or c.b.guarded:
        return None
    (r,) = c.summed
    if length(r) < thresholds.LONG_PRODUCT or iterations(reduce.ranges) > thresholds.FEW_SUMS:
        return None
    parts = _divisor(length(r), range(length(r) // thresholds.PART_OF_PRODUCT, 1, -1))
    return None if parts is None else {r: length(r) // parts}


def _divisor(n: int, candidates: Iterable[int]) -> int | None:
    """The first of these that divides n."""
    return next((c for c in candidates if n % c == 0), None)


def _parts(r: UOp, each: int) -> int:
    """How many parts a RANGE has, the last of which may be shorter."""
    return -(-length(r) // each)


PARTIAL: Sequence[Partial] = [
    Partial(
        "idle blocks",
        "a long reduce leaves fewer results than a GPU runs blocks of threads: they share it",
        idle_blocks,
    ),
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


def in_parts(sink: UOp, target: Target, rows: Sequence[Partial] = PARTIAL) -> list[UOp]:
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
        cut = next((c for row in rows if (c := row.cut(table, reduce, target)) is not None), None)
        if cut is not None:
            kernel, rest = _cut(sink, reduce, cut, slot + len(first))
            first.append(kernel)
            final = final.substitute({reduce: rest})
    if not first:
        return [sink]
    return [renumber(order_ranges(kernel)) for kernel in (*first, final)]


def _cut(sink: UOp, reduce: UOp, cut: Cut, slot: int) -> tuple[UOp, UOp]:
    """The kernel that stores partial results of a reduce, those of one part side by side; and what
    stands for the reduce after it."""
    number = fresh_number(sink)
    inside = {r: UOp.range(n, number + k, AxisType.REDUCE) for k, (r, n) in enumerate(cut.items())}
    number += len(cut)
    around = sorted(reduce.ranges, key=lambda x: x.arg[0])
    parts = [UOp.range(_parts(r, n), number + k) for k, (r, n) in enumerate(cut.items())]
    shape = tuple(map(length, (*parts, *around)))
    memory = UOp(Ops.DEFINE_GLOBAL, reduce.dtype.ptr(math.prod(shape)), (), slot)

    value = _of_a_part(reduce, dict(zip(inside.values(), parts, strict=True)), inside)
    left = [x for r in reduce.own_ranges if length(x := inside.get(r, r)) > 1]
    stored = memory.index(*parts, *around, shape=shape).store(
        value.reduce(reduce.arg, *left), *parts, *around
    )
    every = [part.replace(arg=(part.arg[0], AxisType.REDUCE)) for part in parts]
    total = memory.index(*every, *around, shape=shape).load().reduce(reduce.arg, *every)
    return UOp.sink(stored), total


def _of_a_part(reduce: UOp, part_of: dict[UOp, UOp], inside: dict[UOp, UOp]) -> UOp:
    """What a REDUCE reduces, in terms of the loops inside of a part, and those over parts. Where
    the last part would reach over the end it is moved back, and what the part before it has counted
    is the identity."""
    place: dict[UOp, UOp] = {}
    counted: list[UOp] = []
    for r, inner in inside.items():
        each, part = length(inner), part_of[inner].cast(r.dtype)
        begin = part * each
        start = begin if length(r) % each == 0 else begin.minimum(length(r) - each)
        place[r] = ((start + inner.cast(r.dtype)) if each > 1 else start).simplify()
        if start is not begin:
            counted.append((place[r] < begin).simplify())
    value = reduce.src[0].substitute(place)
    if not counted:
        return value
    again = functools.reduce(lambda a, b: a | b, counted)
    return again.where(value.const_like(identity(reduce.arg, reduce.dtype)), value)
