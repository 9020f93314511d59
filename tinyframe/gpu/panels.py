"""Panels, the memory that the threads of a block share: how they fill them.

for k in 0…511: panel[k] = x[k]        v = 4*(c*64 + thread), c in 0…1     64 threads, vectors
                                       panel[v … v+3] = x[v … v+3]         of 4 elements
"""

from __future__ import annotations

from tinyframe import thresholds
from tinyframe.algebra.symbolic import all_of, from_terms, is_multiple, terms
from tinyframe.codegen.optimize.opt import fresh_range
from tinyframe.renderer import Target
from tinyframe.uop.movement import unflatten
from tinyframe.uop.node import AxisType, Ops, UOp, axis_type, extent, iterations


def filled_by_all_threads(sink: UOp, stage: UOp, thread: UOp, count: int, target: Target) -> UOp:
    """Divides the copy of a STAGE among the threads of a block, in the order of the source in
    memory: neighbouring threads read neighbouring vectors, or elements where vectors would not be
    aligned. If these are few, a thread reads all of its own before it stores the first."""
    place, value = stage.src[0].src
    inside = frozenset(stage.own_ranges)
    load = next(u for u in value.toposort() if u.op is Ops.LOAD and u.ranges & inside)
    step = terms(load.src[0].src[2])
    loops = sorted(stage.own_ranges, key=lambda r: -abs(step.get(r, 0)))
    sizes, total, panel = [extent(r) for r in loops], iterations(loops), place.src[0].arg
    number = 2 * (panel[0] if isinstance(panel, tuple) else panel)

    def moved(index: UOp, element: UOp) -> UOp:
        at = dict(zip(loops, unflatten(element, sizes), strict=True))
        return index.replace(src=tuple([s.substitute(at).simplify() for s in index.src]))

    def in_vectors(index: UOp, lanes: int) -> tuple[UOp, UOp, UOp, UOp]:
        """The number of a vector, its INDEX, and those of its first and of its last element."""
        every = fresh_range(sink, max(1, total // lanes), AxisType.LOOP, number)
        lane = fresh_range(sink, lanes, AxisType.VECTOR, number + 1) if lanes > 1 else 0
        whole, first, last = (moved(index, every * lanes + n) for n in (lane, 0, lanes - 1))
        return every, whole, first, last

    def fits(n: int) -> bool:
        _, read, first, last = in_vectors(load.src[0], n)
        _, written, _, _ = in_vectors(place, n)
        one_condition = total % n == 0 and first.src[1] is last.src[1]
        (lane,) = (r for r in read.ranges if axis_type(r) is AxisType.VECTOR)
        is_even = is_vector(written.src[2], lane, n, step=None)
        return one_condition and is_even and is_vector(read.src[2], lane, n)

    widest = min(target.most_lanes or 8, target.vector_bytes // load.dtype.itemsize)
    lanes = next((n for n in (8, 4, 2) if n <= widest and fits(n)), 1)
    vectors = total // lanes
    rounds = -(-vectors // count)
    kind = AxisType.UPCAST if rounds <= thresholds.READS_IN_FLIGHT else AxisType.LOOP
    round_ = fresh_range(sink, rounds, kind, number)
    vector = round_ * count + thread if rounds > 1 else thread

    def guarded(index: UOp) -> UOp:
        every, whole, first, _ = in_vectors(index, lanes)
        valid, flat = (u.substitute({every: vector}) for u in (first.src[1], whole.src[2]))
        valid = all_of([valid, vector < vectors])
        return index.replace(src=(index.src[0], valid, flat.simplify()))

    store = guarded(place).store(value.substitute({load: guarded(load.src[0]).load()}))
    lane = [r for r in store.ranges if axis_type(r) is AxisType.VECTOR]
    return stage.replace(src=(store, *[round_] * (rounds > 1), *lane))


def is_vector(flat: UOp, lane: UOp, lanes: int, step: int | None = 1) -> bool:
    """Whether the lanes of a flat index are a vector: contiguous and aligned; step: None if they
    may be any distance apart."""
    factors = dict(terms(flat))
    found = factors.pop(lane, 0)
    if any(lane in t.ranges for t in factors if t is not None):
        return False
    return step is None or (found == step and is_multiple(from_terms(factors, flat.dtype), lanes))
