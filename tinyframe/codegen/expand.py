"""Expansion: UPCAST and UNROLL ranges become copies, VECTOR ranges become lanes.

After it a kernel has only real loops left, every INDEX is one flat number, and what varied along a
VECTOR range is a vector: a contiguous load stays one load, others are gathered lane by lane.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from tinyframe.algebra.symbolic import from_terms, terms
from tinyframe.dtype import AddrSpace, dtypes
from tinyframe.uop.movement import flatten
from tinyframe.uop.node import FIRST_RANGE, AxisType, GroupOp, Ops, UOp
from tinyframe.uop.range import length
from tinyframe.uop.rebuild import rebuild

# marks the sums that UNROLL makes: linearize adds their parts to the accumulator one by one
UNROLLED = "unrolled"


def of_kind(u: UOp, *kinds: AxisType) -> list[UOp]:
    return [r for r in u.own_ranges if r.arg[1] in kinds]


def copies_of(bodies: Sequence[UOp], ranges: Sequence[UOp]) -> tuple[UOp, ...]:
    """Nodes with every combination of constants for the ranges, the last of which changes first.

    One range at a time, of all copies so far together: what changes with one range only is made
    once for each of its constants, and not for each combination.
    """
    copies = UOp.sink(*bodies)
    for r in reversed(ranges):
        constants = [{r: UOp.const(r.dtype, n)} for n in range(length(r))]
        copies = UOp.sink(*[copy for k in constants for copy in put_constants(copies, k).src])
    return copies.src


def put_constants(root: UOp, values: dict[UOp, UOp]) -> UOp:
    """The ranges of `values` replaced; nodes that do not use them stay the same objects."""
    keys = values.keys()
    if not root.ranges & keys:
        return root
    done: dict[UOp, UOp] = dict(values)
    for u in root.toposort(
        gate=lambda u: u.op is not Ops.INDEX and u not in values and bool(u.ranges & keys)
    ):
        if u in done or not u.ranges & keys:
            continue
        if u.op is Ops.INDEX:
            done[u] = _index_with(u, values)
            continue
        new = UOp(u.op, u.dtype, tuple([done.get(s, s) for s in u.src]), u.arg, u.tag)
        if new.op in GroupOp.ALU and (new.dtype in _INDEX_DTYPES or new.src[0].op is Ops.CONST):
            new = new.simplify()
        done[u] = new
    return done.get(root, root)


def _index_with(index: UOp, values: dict[UOp, UOp]) -> UOp:
    """An INDEX with constants for some ranges. A sum is put together again from its terms, which is
    much quicker than simplifying it, and most of a kernel's copies are this."""
    memory, valid, *ix = index.src
    keys = values.keys()
    out = []
    for i in ix:
        if not i.ranges & keys:
            out.append(i)
            continue
        ts = terms(i)
        if any(t is not None and t not in values and t.ranges & keys for t in ts):
            out.append(i.substitute(values).simplify())
            continue
        offset = ts.get(None, 0) + sum(f * values[t].arg for t, f in ts.items() if t in values)
        out.append(
            from_terms({**{t: f for t, f in ts.items() if t not in values}, None: offset}, i.dtype)
        )
    if valid.ranges & keys:
        valid = valid.substitute(values).simplify()
    return UOp(Ops.INDEX, index.dtype, (put_constants(memory, values), valid, *out), index.arg)


_INDEX_DTYPES = (dtypes.int, dtypes.long, dtypes.bool)


def expand_copies(sink: UOp) -> UOp:
    """UNROLL: a reduce's value becomes the sum of its copies. UPCAST: a store becomes several;
    equal parts of the copies stay one node, which is what makes a register tile. A STAGE that owns
    either keeps all copies."""

    def expanded(old: UOp, u: UOp) -> UOp:
        if u.op is Ops.REDUCE and (unrolled := of_kind(u, AxisType.UNROLL)):
            value, *parts = copies_of((u.src[0],), unrolled)
            loops = [r for r in u.own_ranges if r not in unrolled]
            tag = UNROLLED if loops else None
            for part in parts:
                value = UOp(u.arg, value.dtype, (value, part), tag=tag)
            return value.reduce(u.arg, *loops)
        if u.op is Ops.STAGE and (copied := of_kind(u, AxisType.UPCAST, AxisType.UNROLL)):
            return _stage_of_copies(u, copied)
        return UOp.sink(*_copies(u.src), arg=u.arg) if u.op is Ops.SINK else u

    return rebuild(sink, expanded)


def _stage_of_copies(stage: UOp, copied: list[UOp]) -> UOp:
    """A panel that several copies of a value are kept in, one stored after the other."""
    loops = [r for r in stage.own_ranges if r not in copied]
    memory = stage.src[0].src[0].src[0]
    for copy in copies_of((stage.src[0],), copied):
        index, value = copy.src
        place = index.replace(src=(memory, *index.src[1:]))
        memory = stage.replace(src=(place.store(value), *loops))
    return memory


def _copies(stores: tuple[UOp, ...]) -> list[UOp]:
    """Each store once for every combination of its UPCAST ranges; stores with the same together."""
    groups: dict[tuple[UOp, ...], list[UOp]] = {}
    for store in stores:
        copied = tuple(of_kind(store, AxisType.UPCAST))
        body = store.replace(
            src=(*store.src[:2], *[r for r in store.own_ranges if r not in copied])
        )
        groups.setdefault(copied, []).append(body)
    return [copy for copied, bodies in groups.items() for copy in copies_of(bodies, copied)]


def flatten_indices(sink: UOp) -> UOp:
    """One flat number per INDEX; a STAGE becomes stores into scratch memory of its own."""
    number = itertools.count()

    def flat(old: UOp, u: UOp) -> UOp:
        if u.op is Ops.STAGE:
            value, *ranges = u.src
            sizes = [length(r) for r in ranges]
            pointer = u.dtype.ptr(math.prod(sizes), AddrSpace.LOCAL)
            scratch = UOp(Ops.DEFINE_LOCAL, pointer, (), next(number))
            place = scratch.index(flatten(tuple(ranges), sizes))
            return UOp(Ops.STAGE, scratch.dtype, (place.store(value), *ranges), u.arg)
        if u.op is Ops.INDEX and u.arg is not None:
            memory, valid, *ix = u.src
            return UOp(Ops.INDEX, memory.dtype, (memory, valid, flatten(tuple(ix), u.arg)))
        return u

    return rebuild(sink, flat)


# ---- lanes --------------------------------------------------------------------------------------


def expand_lanes(sink: UOp) -> UOp:
    """VECTOR ranges become lanes: scalar nodes that vary along one become vector nodes."""
    done: dict[UOp, UOp] = {}
    for u in sink.toposort():
        done[u] = _with_lanes(u, done)
    return done[sink]


def lane_of(u: UOp) -> UOp | None:
    """The VECTOR range that a value varies along."""
    return next((r for r in u.ranges if r.arg[1] is AxisType.VECTOR), None)


def _with_lanes(u: UOp, done: dict[UOp, UOp]) -> UOp:
    lane = lane_of(u)
    if u.op is Ops.RANGE and lane is u:
        return UOp.const(u.dtype.vec(length(u)), tuple(range(length(u))))
    if u.op is Ops.INDEX:
        return u  # stays scalar: the LOAD or STORE rebuilds it
    if u.op is Ops.LOAD:
        return _load(u, lane, done)
    if u.op is Ops.STORE:
        return _store(u, done)
    if u.op is Ops.REDUCE:
        return _reduce(u, done)
    src = tuple([done[s] for s in u.src])
    if u.op in FIRST_RANGE or u.op is Ops.SINK:
        ranges = [r for r in u.src if r.op is Ops.RANGE and r.arg[1] is AxisType.VECTOR]
        kept = [done[s] for s in u.src if s not in ranges]
        # an unrolled store gives several, held together by a SINK
        flat = (
            [x for s in kept for x in (s.src if s.op is Ops.SINK else (s,))]
            if u.op is Ops.SINK
            else kept
        )
        return u.replace(src=tuple(flat))
    if lane is None:
        return u if src == u.src else u.replace(src=src)
    n = length(lane)
    return UOp(u.op, u.dtype.vec(n), tuple(_broadcast(s, n) for s in src), u.arg, u.tag)


def _broadcast(u: UOp, n: int) -> UOp:
    return u if u.dtype.count == n else u.vectorize(n)


def _lane_places(index: UOp, lane: UOp, done: dict[UOp, UOp]) -> list[UOp]:
    """One INDEX for all lanes where they lie evenly apart under one condition (`arg` is how far, if
    not side by side), else one for each lane."""
    memory, valid, flat = index.src
    ts, data = terms(flat), _data_in(index)
    rebuilt = _rebuilt(data, done)
    others = [t for t in ts if t is not None and t is not lane]
    if lane not in valid.ranges and not any(lane in t.ranges for t in others):
        first = from_terms({t: f for t, f in ts.items() if t is not lane}, flat.dtype)
        step = ts.get(lane, 0)
        place = _place(index, valid, first, rebuilt, done)
        return [place.replace(arg=None if step == 1 else step)]
    if any(lane in u.ranges for u in data):  # the indices are a vector that was loaded or computed
        return [
            UOp(Ops.INDEX, index.dtype, (done[memory], done[valid].gep(k), done[flat].gep(k)))
            for k in range(length(lane))
        ]
    constants = [{lane: UOp.const(lane.dtype, k)} for k in range(length(lane))]
    lanes = [(put_constants(valid, k), put_constants(flat, k)) for k in constants]
    return [_place(index, v.simplify(), f.simplify(), rebuilt, done) for v, f in lanes]


def _data_in(index: UOp) -> list[UOp]:
    """The values that an index's own expressions are computed from: loaded, or a reduce's
    result."""
    found = (
        u
        for s in index.src[1:]
        if s.op not in (Ops.CONST, Ops.RANGE)
        for u in s.toposort(gate=lambda u: u.op not in (Ops.LOAD, Ops.REDUCE))
    )
    return [u for u in found if u.op in (Ops.LOAD, Ops.REDUCE)]


def _rebuilt(data: list[UOp], done: dict[UOp, UOp]) -> dict[UOp, UOp]:
    return {u: done[u] for u in data if done[u] is not u}


def _place(index: UOp, valid: UOp, flat: UOp, rebuilt: dict[UOp, UOp], done: dict[UOp, UOp]) -> UOp:
    if rebuilt:
        valid, flat = valid.substitute(rebuilt), flat.substitute(rebuilt)
    return UOp(Ops.INDEX, index.dtype, (done[index.src[0]], valid, flat))


def _as_it_is(index: UOp, done: dict[UOp, UOp]) -> UOp:
    return _place(index, index.src[1], index.src[2], _rebuilt(_data_in(index), done), done)


def _load(u: UOp, lane: UOp | None, done: dict[UOp, UOp]) -> UOp:
    index = u.src[0]
    if lane is None:
        return u.replace(src=(_as_it_is(index, done),))
    places, vector = _lane_places(index, lane, done), u.dtype.vec(length(lane))
    if len(places) == 1:
        return UOp(Ops.LOAD, vector, (places[0],))
    return UOp(Ops.VECTORIZE, vector, tuple(UOp(Ops.LOAD, u.dtype, (p,)) for p in places))


def _store(u: UOp, done: dict[UOp, UOp]) -> UOp:
    index, value = u.src[0], done[u.src[1]]
    lane = next((r for s in (index, u.src[1]) if (r := lane_of(s)) is not None), None)
    loops = tuple(done[r] for r in u.own_ranges if r.arg[1] is not AxisType.VECTOR)
    if lane is None:
        place = _as_it_is(index, done)
        return UOp(Ops.STORE, dtypes.void, (place, value, *loops))
    value = _broadcast(value, length(lane))
    places = _lane_places(index, lane, done)
    if len(places) == 1:
        return UOp(Ops.STORE, dtypes.void, (places[0], value, *loops))
    return UOp.sink(
        *[UOp(Ops.STORE, dtypes.void, (p, value.gep(k), *loops)) for k, p in enumerate(places)]
    )


def _reduce(u: UOp, done: dict[UOp, UOp]) -> UOp:
    """Lanes of a reduce's own are accumulated side by side and combined after its loop."""
    value = done[u.src[0]]
    lanes = of_kind(u, AxisType.VECTOR)
    loops = [done[r] for r in u.own_ranges if r not in lanes]
    if not lanes:
        return value.reduce(u.arg, *loops)
    n = length(lanes[0])
    total = _broadcast(value, n).reduce(u.arg, *loops)
    parts = [total.gep(k) for k in range(n)]
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [a.alu(u.arg, b) for a, b in zip(parts[:half], parts[half:], strict=True)]
    return parts[0]
