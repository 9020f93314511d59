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

from tinyframe.codegen.expand import UNROLLED
from tinyframe.dtype import AddrSpace, DType, dtypes
from tinyframe.uop.node import Ops, UOp
from tinyframe.uop.range import identity


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
