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
    panel = panel[0] if isinstance(panel, tuple) else panel

    def moved(index: UOp, element: UOp) -> UOp:
        at = dict(zip(loops, unflatten(element, sizes), strict=True))
        return index.replace(src=tuple([s.substitute(at).simplify() for s in index.src]))

    def lane_of(lanes: int) -> UOp:
        return fresh_range(sink, lanes, AxisType.VECTOR, 2 * panel)

    def fits(lanes: int) -> bool:
        elements = [thread * lanes + n for n in (lane_of(lanes), 0, lanes - 1)]
        is_even = all(_is_even(t, lane_of(lanes)) for t in terms(moved(place, elements[0]).src[2]))
        is_whole = total % lanes == 0 and is_vector(*[moved(load.src[0], x) for x in elements])
        return is_even and is_whole

    widest = min(target.most_lanes or 8, target.vector_bytes // load.dtype.itemsize)
    lanes = next((n for n in (8, 4, 2) if n <= widest and fits(n)), 1)
    vectors = total // lanes
    rounds = -(-vectors // count)
    kind = AxisType.UPCAST if rounds <= thresholds.READS_IN_FLIGHT else AxisType.LOOP
    round_ = fresh_range(sink, rounds, kind, 2 * panel + 1)
    vector = round_ * count + thread if rounds > 1 else thread
    element = vector * lanes + lane_of(lanes) if lanes > 1 else vector

    def guarded(index: UOp) -> UOp:
        memory, _, flat = moved(index, element).src
        valid = moved(index, vector * lanes).src[1]  # of all lanes
        return index.replace(src=(memory, all_of([valid, vector < vectors]), flat))

    store = guarded(place).store(value.substitute({load: guarded(load.src[0]).load()}))
    return stage.replace(src=(store, *[round_] * (rounds > 1), *[lane_of(lanes)] * (lanes > 1)))


def is_vector(index: UOp, first: UOp, last: UOp) -> bool:
    """Whether an INDEX along a lane is a vector: contiguous, aligned, and under one condition.
    first, last: the INDEX of the first and of the last lane."""
    (lane,) = (r for r in index.ranges if axis_type(r) is AxisType.VECTOR)
    factors = dict(terms(index.src[2]))
    return (
        first.src[1] is last.src[1]
        and factors.pop(lane, 0) == 1
        and is_multiple(from_terms(factors), extent(lane))
        and all(_is_even(t, lane) for t in factors)
    )


def _is_even(term: UOp | None, lane: UOp) -> bool:
    """Whether a term of an index is the lane itself, or the same for all lanes."""
    return term is None or term is lane or lane not in term.ranges
