"""Accumulators: what a REDUCE is in a register.

    REDUCE(value, k)      becomes      register = DEFINE_REG
                                       STORE register, 0                   before the loop over k
                                       STORE register, LOAD + value        in it
                                       LOAD                                after it

A register has no place among the loops by itself, and reading it twice does not give the same
number twice. So the graph says both: DEFINE_REG has the loops around it as sources, and a LOAD has,
after its place, the STORE that it comes after, and the loop in which it is read anew.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from tinyframe import thresholds
from tinyframe.algebra.symbolic import from_terms, terms
from tinyframe.codegen.expand import UNROLLED
from tinyframe.dtype import AddrSpace, DType, dtypes
from tinyframe.uop.node import Ops, UOp, fresh_number, identity, is_symbolic, length, rebuild


def with_registers(sink: UOp) -> list[UOp]:
    """The nodes of a kernel, sources first, with register operations in place of each REDUCE.

    They are in the order in which the kernel mentions them, which is the order that a program keeps
    where nothing else decides.
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
        elif u.tag != UNROLLED:  # such a sum is taken apart where it is accumulated
            src = tuple([done[s] for s in u.src])
            done[u] = new = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
            nodes[new] = None
    return list(nodes)


def _accumulation(reduce: UOp, parts: list[UOp], number: int) -> list[UOp]:
    """What a REDUCE does, step by step; the last one reads the result. `parts`: the values that one
    turn of its loops adds."""
    around = tuple(sorted(reduce.ranges, key=lambda r: r.arg[0]))
    register = UOp(Ops.DEFINE_REG, reduce.dtype.ptr(1, AddrSpace.REG), around, number)
    place = register.index(_first())
    start = _start(reduce.arg, reduce.dtype)
    store = place.store(start)
    steps = [register, *place.src[1:], place, *dict.fromkeys(start.src), start, store]
    op, loops = reduce.arg, reduce.own_ranges
    for n, part in enumerate(parts, 1):
        before = UOp(Ops.LOAD, reduce.dtype, (place, store, loops[-1]))
        value = UOp(op, reduce.dtype, (before, part))
        store = place.store(value, *(loops if n == len(parts) else ()))
        steps += (before, value, store)
    return [*steps, UOp(Ops.LOAD, reduce.dtype, (place, store))]


@functools.cache
def _first() -> UOp:
    """Where a register's one element is."""
    return UOp.const(dtypes.int, 0)


@functools.cache
def _start(op: Ops, dtype: DType) -> UOp:
    """What an accumulator holds at first; of a vector in each lane."""
    return UOp.const(dtype, identity(op, dtype.scalar()))


def unrolled_parts(reduce: UOp) -> list[UOp]:
    """The copies that UNROLL made of a reduce's value, in order."""
    value, op = reduce.src[0], reduce.arg
    parts: list[UOp] = []
    while value.op is op and value.tag == UNROLLED:
        parts.append(value.src[1])
        value = value.src[0]
    return [value, *reversed(parts)]


# ---- long sums: nested accumulators, so that rounding errors stay small --------------------------
#
# Every addition rounds. A running sum of n numbers of one sign can be off by n half units in the
# last place, and the larger it is beside what is added to it, the more each step loses: in
# float32, 2**24 plus 1 is 2**24. So a long sum is taken in blocks. A block's sum starts anew at
# 0, and is then added to a second accumulator, which only sees one number per block; a very long
# sum has a third:
#
#     for o in 0 … 99:                     10,000 numbers in 100 blocks of 100
#       block = 0
#       for i in 0 … 99: block += x[o*100 + i]
#       total += block
#
# With at most r additions per accumulator (`thresholds.MOST_ADDITIONS`) and k levels the error is
# k*r half units at worst, whatever n is (Higham, "The accuracy of floating point summation",
# 1993, section 2). It costs one addition more per block, so it is done for every sum, whatever
# was fused into it and however its loops were optimized. Integers, products and maxima gain
# nothing from it; where one shares the loops of a sum, its accumulator simply runs through all of
# the blocks.


@dataclass
class Blocks:
    """The loops of a sum after they were cut: `levels` of nested accumulators, innermost first, and
    what stands for each loop that is gone."""

    levels: list[list[UOp]] = field(default_factory=lambda: [[]])
    replaced: dict[UOp, UOp] = field(default_factory=dict)

    @property
    def loops(self) -> tuple[UOp, ...]:
        """All of them, outermost first."""
        return tuple(r for level in reversed(self.levels) for r in level)

    def replace(self, gone: UOp, index: UOp, standing_for: UOp) -> None:
        """`index` for a loop that was cut: one of the kernel's, or a part of one."""
        # how long the last block inside it is depends on it
        self.levels = [[r.substitute({gone: index}) for r in level] for level in self.levels]
        self.replaced[standing_for] = self.replaced.get(standing_for, gone).substitute(
            {gone: index}
        )


def in_blocks(sink: UOp) -> UOp:
    """The kernel with nested REDUCEs in place of long float sums."""
    by_loops: dict[tuple[UOp, ...], list[UOp]] = {}  # loops -> the reduces that share them
    for u in sink.toposort():
        if u.op is Ops.REDUCE:
            by_loops.setdefault(u.own_ranges, []).append(u)
    numbers = itertools.count(fresh_number(sink))
    cut: dict[tuple[UOp, ...], Blocks] = {}
    for loops, reduces in by_loops.items():
        if added := [len(unrolled_parts(u)) for u in reduces if _is_float_sum(u)]:
            blocks = blocks_of(loops, max(added), numbers)
            if len(blocks.levels) > 1:
                cut[loops] = blocks
    return _rebuilt(sink, cut) if cut else sink


def _is_float_sum(u: UOp) -> bool:
    return u.arg is Ops.ADD and dtypes.is_float(u.dtype)


def blocks_of(loops: tuple[UOp, ...], additions: int, numbers: Iterator[int]) -> Blocks:
    """The loops in levels of few additions each, if one turn of all of them has `additions`."""
    blocks, count = Blocks(), additions
    for loop in reversed(loops):
        rest = loop
        while count * length(rest) > thresholds.MOST_ADDITIONS:
            if count < thresholds.LONG_BLOCK:
                outer, inner, index = _cut(rest, thresholds.MOST_ADDITIONS // count, numbers)
                blocks.replace(rest, index, standing_for=loop)
                blocks.levels[-1].insert(0, inner)
                rest = outer
            blocks.levels.append([])
            count = 1
        blocks.levels[-1].insert(0, rest)
        count *= length(rest)
    return blocks


def _cut(loop: UOp, most: int, numbers: Iterator[int]) -> tuple[UOp, UOp, UOp]:
    """A loop as two, the inner one of at most `most` turns: (outer, inner, what it was).

    All blocks are of one length if one divides the loop's that is at least half of what is allowed.
    Otherwise the last one is shorter.
    """
    size, count = loop.src[0], length(loop)
    at_best = [] if is_symbolic(loop) else range(most, most // 2, -1)
    n = next((n for n in at_best if count % n == 0), None)
    divides = n is not None
    n = n or -(-count // -(-count // most))
    blocks = (
        size.alu(Ops.ADD, size.const_like(n - 1)).alu(Ops.CDIV, size.const_like(n))
        if is_symbolic(loop)
        else size.const_like(-(-count // n))
    )
    outer = loop.replace(src=(blocks,), arg=(next(numbers), *loop.arg[1:]))
    start = outer.alu(Ops.MUL, outer.const_like(n))
    left = size.alu(Ops.ADD, start.alu(Ops.MUL, start.const_like(-1)))
    turns = size.const_like(n)
    if not divides:
        turns = left.alu(Ops.CMPLT, turns).where(left, turns)
    inner = loop.replace(src=(turns,), arg=(next(numbers), *loop.arg[1:]))
    return outer, inner, start.alu(Ops.ADD, inner)


def _rebuilt(sink: UOp, cut: dict[tuple[UOp, ...], Blocks]) -> UOp:
    def rebuilt(old: UOp, u: UOp) -> UOp:
        if old.op is Ops.REDUCE and old.own_ranges in cut:
            return _nested(old, u.src[0], cut[old.own_ranges])
        is_sum = dtypes.is_int(u.dtype) and u.op in (Ops.ADD, Ops.MUL) and u.dtype.count == 1
        # Put together anew, a sum has its parts in one order, and what the outer loop alone
        # changes can be computed there.
        return from_terms(terms(u), u.dtype) if is_sum and u is not old else u

    return rebuild(sink, rebuilt, {r: new for b in cut.values() for r, new in b.replaced.items()})


def _nested(reduce: UOp, value: UOp, blocks: Blocks) -> UOp:
    if not _is_float_sum(reduce):
        return value.reduce(reduce.arg, *blocks.loops)
    for level in blocks.levels:
        value = value.reduce(Ops.ADD, *level)
    return value
