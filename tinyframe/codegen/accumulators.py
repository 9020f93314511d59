"""Accumulators: a REDUCE becomes loads and stores of a register.

    REDUCE(value, k)      becomes      register = DEFINE_REG
                                       STORE register, 0                   before the loop over k
                                       STORE register, LOAD + value        in it
                                       LOAD                                after it

A graph doesn't say by itself which loop a register belongs to, or in which order it is read and
written. So both are sources: DEFINE_REG has the loops around it, and a LOAD has, after its INDEX,
the STORE that it comes after, and the loop whose every iteration reads it again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from tinyframe import thresholds
from tinyframe.algebra.symbolic import from_terms, terms
from tinyframe.codegen.expand import UNROLLED
from tinyframe.dtype import AddrSpace, dtypes
from tinyframe.uop.mma import adds_products
from tinyframe.uop.node import Ops, UOp, fresh_number, identity, is_symbolic, length, rebuild


def with_registers(sink: UOp) -> list[UOp]:
    """The nodes of a kernel, sources first, with register operations in place of each REDUCE.

    They stay in the kernel's own order, which the program keeps unless dependences decide
    otherwise.
    """
    numbers = itertools.count()
    done: dict[UOp, UOp] = {}
    nodes: dict[UOp, None] = {}
    for u in sink.toposort():
        if u.op is Ops.REDUCE:
            parts = [done[part] for part in unrolled_parts(u)]
            steps = _accumulation(u, parts, next(numbers))
            nodes.update(dict.fromkeys(steps))
            done[u] = steps[-1]
        elif u.tag != UNROLLED:  # the REDUCE accumulates the terms of an unrolled sum one by one
            src = tuple([done[s] for s in u.src])
            done[u] = new = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
            nodes[new] = None
    return list(nodes)


def _accumulation(reduce: UOp, parts: list[UOp], number: int) -> list[UOp]:
    """The instructions of a REDUCE; the last one loads the result. `parts`: the values that one
    iteration of its loops adds."""
    around = tuple(sorted(reduce.ranges, key=lambda r: r.arg[0]))
    register = UOp(Ops.DEFINE_REG, reduce.dtype.ptr(1, AddrSpace.REG), around, number)
    place = register.index(UOp.const(dtypes.int, 0))
    start = UOp.const(reduce.dtype, identity(reduce.arg, reduce.dtype.scalar()))
    store = place.store(start)
    steps = [register, *place.src[1:], place, *dict.fromkeys(start.src), start, store]
    op, loops = reduce.arg, reduce.own_ranges
    for n, part in enumerate(parts, 1):
        before = UOp(Ops.LOAD, reduce.dtype, (place, store, loops[-1]))
        value = UOp(op, reduce.dtype, (before, part))
        store = place.store(value, *(loops if n == len(parts) else ()))
        steps += (before, value, store)
    return [*steps, UOp(Ops.LOAD, reduce.dtype, (place, store))]


def unrolled_parts(reduce: UOp) -> list[UOp]:
    """The copies of a reduce's operand that UNROLL made, in order."""
    value, op = reduce.src[0], reduce.arg
    parts: list[UOp] = []
    while value.op is op and value.tag == UNROLLED:
        parts.append(value.src[1])
        value = value.src[0]
    return [value, *reversed(parts)]


# ---- long sums: nested accumulators, so that rounding errors stay small --------------------------
#
# Every addition rounds. A running sum of n numbers of one sign can be off by n half units in the
# last place, and the larger it is compared with the next number, the more each step loses: in
# float32, 2**24 plus 1 is 2**24. So a long sum is blocked. Each block's sum starts again at 0,
# and is then added to a second accumulator, which only gets one number per block; a very long sum
# has a third:
#
#     for o in 0 … 99:                     10,000 numbers in 100 blocks of 100
#       block = 0
#       for i in 0 … 99: block += x[o*100 + i]
#       total += block
#
# With at most r additions per accumulator (`thresholds.MOST_ADDITIONS`) and k levels the error is
# k*r half units at worst, whatever n is (Higham, "The accuracy of floating point summation",
# 1993, section 2). It only costs one more addition per block, so it is done for every sum,
# whatever was fused into it and however its loops were optimized. Integers, products and maxima
# gain nothing from it; if one shares the loops of a sum, its accumulator simply runs through all
# of the blocks.


@dataclass
class SumLevels:
    """The loops of a blocked sum: `levels` of nested accumulators, innermost first, and the index
    expression that `replaced` each original loop."""

    levels: list[list[UOp]] = field(default_factory=lambda: [[]])
    replaced: dict[UOp, UOp] = field(default_factory=dict)

    @property
    def loops(self) -> tuple[UOp, ...]:
        """The loops of all levels, outermost first."""
        return tuple(r for level in reversed(self.levels) for r in level)

    def replace(self, cut: UOp, index: UOp, original: UOp) -> None:
        """Puts `index` in place of a loop that was cut: an original one, or a part of that."""
        # the length of the last block depends on the loop outside of it
        self.levels = [[r.substitute({cut: index}) for r in level] for level in self.levels]
        self.replaced[original] = self.replaced.get(original, cut).substitute({cut: index})


def block_long_sums(sink: UOp) -> UOp:
    """The kernel with nested REDUCEs in place of long float sums."""
    by_loops: dict[tuple[UOp, ...], list[UOp]] = {}  # loops -> the reduces that share them
    for u in sink.toposort():
        if u.op is Ops.REDUCE:
            by_loops.setdefault(u.own_ranges, []).append(u)
    numbers = itertools.count(fresh_number(sink))
    cut: dict[tuple[UOp, ...], SumLevels] = {}
    for loops, reduces in by_loops.items():
        if added := [len(unrolled_parts(u)) for u in reduces if _is_float_sum(u)]:
            split = split_into_levels(loops, max(added), numbers)
            if len(split.levels) > 1:
                cut[loops] = split
    if not cut:
        return sink

    def changed(old: UOp, u: UOp) -> UOp:
        if old.op is Ops.REDUCE and old.own_ranges in cut:
            split, value = cut[old.own_ranges], u.src[0]
            if not _is_float_sum(old):
                return value.reduce(old.arg, *split.loops)
            first, *others = split.levels
            value = value.reduce(Ops.ADD, *first)
            # A tensor core adds products to all lanes at once; its sums are added lane by lane.
            lanes = [value]
            if others and adds_products(old):
                lanes = [value.gep(n) for n in range(value.dtype.count)]
            for level in others:
                lanes = [lane.reduce(Ops.ADD, *level) for lane in lanes]
            return lanes[0] if len(lanes) == 1 else UOp(Ops.VECTORIZE, old.dtype, tuple(lanes))
        if u.op is Ops.GEP and u.src[0].op is Ops.VECTORIZE:
            return u.src[0].src[u.arg]
        is_sum = dtypes.is_int(u.dtype) and u.op in (Ops.ADD, Ops.MUL) and u.dtype.count == 1
        # from_terms sorts the terms of an index, so that the part of it that depends on the outer
        # loop alone can be computed there.
        return from_terms(terms(u), u.dtype) if is_sum and u is not old else u

    return rebuild(sink, changed, {r: new for s in cut.values() for r, new in s.replaced.items()})


def _is_float_sum(u: UOp) -> bool:
    return u.arg is Ops.ADD and dtypes.is_float(u.dtype)


def split_into_levels(loops: tuple[UOp, ...], additions: int, numbers: Iterator[int]) -> SumLevels:
    """The loops in levels of few additions each; one iteration of all of them has `additions`."""
    split, count = SumLevels(), additions
    for loop in reversed(loops):
        rest = loop
        while count * length(rest) > thresholds.MOST_ADDITIONS:
            if count < thresholds.LONG_BLOCK:
                outer, inner, index = _cut(rest, thresholds.MOST_ADDITIONS // count, numbers)
                split.replace(rest, index, original=loop)
                split.levels[-1].insert(0, inner)
                rest = outer
            split.levels.append([])
            count = 1
        split.levels[-1].insert(0, rest)
        count *= length(rest)
    return split


def _cut(loop: UOp, most: int, numbers: Iterator[int]) -> tuple[UOp, UOp, UOp]:
    """A loop split into two: (outer, inner, the index that replaces it). `most`: iterations of the
    inner one.

    All blocks are of the same length if a divisor of the loop's length is at least half of `most`;
    otherwise the last one is shorter.
    """
    size, count = loop.src[0], length(loop)
    lengths = [] if is_symbolic(loop) else range(most, most // 2, -1)
    n = next((n for n in lengths if count % n == 0), None)
    divides = n is not None
    n = n or -(-count // -(-count // most))
    blocks = size.const_like(-(-count // n))
    if is_symbolic(loop):
        blocks = size.alu(Ops.ADD, size.const_like(n - 1)).alu(Ops.CDIV, size.const_like(n))
    outer = loop.replace(src=(blocks,), arg=(next(numbers), *loop.arg[1:]))
    start = outer.alu(Ops.MUL, outer.const_like(n))
    left = size.alu(Ops.ADD, start.alu(Ops.MUL, start.const_like(-1)))
    block_length = size.const_like(n)
    if not divides:
        block_length = left.alu(Ops.CMPLT, block_length).where(left, block_length)
    inner = loop.replace(src=(block_length,), arg=(next(numbers), *loop.arg[1:]))
    return outer, inner, start.alu(Ops.ADD, inner)
