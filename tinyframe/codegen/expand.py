"""Expansion: UPCAST and UNROLL ranges become copies, VECTOR ranges become lanes.

Afterwards a kernel has only real loops left, every INDEX is one flat offset, and a value that
varied along a VECTOR range is a vector: a contiguous load stays one load, others are gathered lane
by lane.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from tinyframe.algebra.symbolic import from_terms, terms
from tinyframe.dtype import AddrSpace, dtypes
from tinyframe.observe import tell_became
from tinyframe.uop.movement import flatten
from tinyframe.uop.node import (
    AxisType,
    GroupOp,
    Ops,
    UOp,
    axis_type,
    extent,
    loops_of_scan,
    rebuild,
)

# marks the sums that UNROLL makes: linearize adds their parts to the accumulator one by one
UNROLLED = "unrolled"
# marks a scan whose lanes follow one another
ALONG_LANES = "along lanes"


def of_kind(u: UOp, *kinds: AxisType) -> list[UOp]:
    return [r for r in u.own_ranges if axis_type(r) in kinds]


def copies_of(bodies: Sequence[UOp], ranges: Sequence[UOp]) -> tuple[UOp, ...]:
    """Copies of nodes with every combination of constants for the ranges; the last range varies
    fastest.

    Done one range at a time, for all copies so far together: a node that depends on one range only
    is copied once for each of that range's constants, not for each combination.
    """
    copies = UOp.sink(*bodies)
    for r in reversed(ranges):
        constants = [{r: UOp.const(r.dtype, n)} for n in range(extent(r))]
        copies = UOp.sink(*[copy for k in constants for copy in put_constants(copies, k).src])
    return copies.src


def put_constants(root: UOp, values: dict[UOp, UOp]) -> UOp:
    """Replaces the ranges in `values`; nodes that don't depend on them stay the same objects."""
    keys = values.keys()
    if not root.ranges & keys:
        return root
    done: dict[UOp, UOp] = dict(values)
    for u in root.toposort(gate=lambda u: u.op is not Ops.INDEX and bool(u.ranges & keys)):
        if u in done or not u.ranges & keys:
            continue
        if u.op is Ops.INDEX:
            done[u] = _index_with(u, values)
            continue
        new = UOp(u.op, u.dtype, tuple([done.get(s, s) for s in u.src]), u.arg, u.tag)
        if new.op in GroupOp.ALU and (new.dtype in _INDEX_DTYPES or new.src[0].op is Ops.CONST):
            new = new.simplify()
        done[u] = new
    tell_became(done.items())
    return done.get(root, root)


def _index_with(index: UOp, values: dict[UOp, UOp]) -> UOp:
    """An INDEX with constants for some ranges. Its sum is rebuilt from its terms, which is much
    faster than simplifying it; most nodes that are copied are sums like this."""
    memory, valid, flat = index.src
    keys = values.keys()
    if flat.ranges & keys:
        ts = terms(flat)
        constants = sum(ts.pop(r, 0) * value.arg for r, value in values.items())
        offset = ts.pop(None, 0) + constants
        if any(t.ranges & keys for t in ts):
            flat = flat.substitute(values).simplify()
        else:
            flat = from_terms({**ts, None: offset}, flat.dtype)
    if valid.ranges & keys:
        valid = valid.substitute(values).simplify()
    return UOp(Ops.INDEX, index.dtype, (put_constants(memory, values), valid, flat), index.arg)


_INDEX_DTYPES = (dtypes.int, dtypes.long, dtypes.bool)


NEVER = UOp.const(dtypes.bool, False)


def expand_copies(sink: UOp) -> UOp:
    """UNROLL: a reduce's operand becomes the sum of its copies. UPCAST: a store becomes several;
    equal parts of the copies stay one node, which makes a register tile. A STAGE that owns either
    kind of range holds all copies."""

    def expanded(old: UOp, u: UOp) -> UOp:
        unrolled = of_kind(u, AxisType.UNROLL)
        match u.op:
            case Ops.REDUCE if unrolled:
                value, *parts = copies_of((u.src[0],), unrolled)
                loops = [r for r in u.own_ranges if r not in unrolled]
                tag = UNROLLED if loops else None
                for part in parts:
                    value = UOp(u.arg, value.dtype, (value, part), tag=tag)
                return value.reduce(u.arg, *loops)
            case Ops.MMA if unrolled:  # one vector of all the rows' elements
                copies = copies_of((u.src[0],), unrolled)
                lanes = tuple(copy.gep(n) for copy in copies for n in range(copy.dtype.count))
                operand = UOp(Ops.VECTORIZE, lanes[0].dtype.vec(len(lanes)), lanes)
                return u.replace(src=(operand, u.src[1]))
            case Ops.STAGE if copied := of_kind(u, AxisType.UPCAST, AxisType.UNROLL):
                # the copies are stored one after the other
                loops = [r for r in u.own_ranges if r not in copied]
                memory = u.src[0].src[0].src[0]
                for copy in copies_of((u.src[0],), copied):
                    index, value = copy.src
                    place = index.replace(src=(memory, *index.src[1:]))
                    memory = u.replace(src=(place.store(value), *loops))
                return memory
            case Ops.SINK:
                return u.replace(src=tuple(_copies_of_stores(u.src)))
            case _:
                return u

    return rebuild(sink, expanded)


def _copies_of_stores(stores: tuple[UOp, ...]) -> list[UOp]:
    """Each store once for every combination of its UPCAST ranges; stores that share these ranges
    are copied together. Those of whole vectors vary fastest: a number that is multiplied with them
    has then been used by all when the next one needs its register."""
    nodes = UOp.sink(*stores).toposort()
    of_vectors = {r for u in nodes if u.op is Ops.LOAD and u.dtype.count > 1 for r in u.ranges}
    groups: dict[tuple[UOp, ...], list[UOp]] = {}
    for store in stores:
        copied = tuple(sorted(of_kind(store, AxisType.UPCAST), key=of_vectors.__contains__))
        loops = [r for r in store.own_ranges if r not in copied]
        groups.setdefault(copied, []).append(store.with_ranges(*loops))
    copies = [copy for copied, bodies in groups.items() for copy in copies_of(bodies, copied)]
    # If an axis is shorter than the number of its copies, the excess copies would write nothing.
    return [copy for copy in copies if copy.src[0].src[1] is not NEVER]


NO_PADDING: Mapping[UOp, tuple[int, int]] = {}


def flatten_indices(sink: UOp, padded: Mapping[UOp, tuple[int, int]] = NO_PADDING) -> UOp:
    """One flat offset per INDEX; a STAGE becomes stores into its own scratch memory. padded: STAGE
    with padded rows -> the length of a row, without its padding and with it."""
    number = itertools.count()

    def flat(old: UOp, u: UOp) -> UOp:
        if u.op is Ops.STAGE:
            value, *ranges = u.src
            ix: Sequence[UOp] = ranges
            sizes = [extent(r) for r in ranges]
            if old in padded:
                row, length = padded[old]
                n = next(n for n in range(len(sizes)) if math.prod(sizes[n:]) == row)
                ix = flatten(ix[:n], sizes[:n]), flatten(ix[n:], sizes[n:])
                sizes = [math.prod(sizes[:n]), length]
            pointer = u.dtype.ptr(math.prod(sizes), AddrSpace.LOCAL)
            several = u.arg[1:] if isinstance(u.arg, tuple) else ()
            name = (next(number), *several) if several else next(number)
            scratch = UOp(Ops.DEFINE_LOCAL, pointer, (), name)
            place = scratch.index(flatten(ix, sizes))
            return UOp(Ops.STAGE, scratch.dtype, (place.store(value), *ranges), u.arg)
        if u.op is Ops.INDEX and u.arg is not None:
            memory, valid, *ix = u.src
            shape = u.arg
            if old.src[0] in padded:
                shape = (*shape[:-1], padded[old.src[0]][1])
            return UOp(Ops.INDEX, memory.dtype, (memory, valid, flatten(tuple(ix), shape)))
        return u

    return rebuild(sink, flat)


# ---- lanes --------------------------------------------------------------------------------------


def expand_lanes(sink: UOp) -> UOp:
    """VECTOR ranges become lanes: scalar nodes that vary along one become vector nodes."""
    done: dict[UOp, UOp] = {}
    for u in sink.toposort():
        done[u] = _with_lanes(u, done)
    tell_became(done.items())
    return done[sink]


def lane_of(*values: UOp) -> UOp | None:
    """The VECTOR range that the values depend on."""
    return next((r for u in values for r in u.ranges if axis_type(r) is AxisType.VECTOR), None)


# values in an index expression that are not index arithmetic
DATA = (Ops.LOAD, Ops.REDUCE, Ops.SCAN)


def _lanes(lane: UOp | None) -> int:
    return 1 if lane is None else extent(lane)


def _places(index: UOp, lane: UOp | None, done: dict[UOp, UOp]) -> list[UOp]:
    """One INDEX for all lanes if they are evenly spaced and share a condition (`arg` is the stride,
    None for 1); otherwise one for each lane."""
    memory, valid, flat = index.src
    # the loaded or reduced values that the index is computed from -> their replacements
    below = UOp.sink(*index.src[1:]).toposort(lambda u: u.op not in DATA)
    data = {u: done[u] for u in below if u.op in DATA}

    def place(valid: UOp, flat: UOp, step: int | None = None) -> UOp:
        if data:
            valid, flat = valid.substitute(data), flat.substitute(data)
        return UOp(Ops.INDEX, index.dtype, (done[memory], valid, flat), step)

    if lane is None:
        return [place(valid, flat)]
    ts = terms(flat)
    step = ts.pop(lane, 0)
    if lane not in valid.ranges and not any(lane in t.ranges for t in ts if t is not None):
        return [place(valid, from_terms(ts, flat.dtype), None if step == 1 else step)]
    if any(lane in u.ranges for u in data):  # the indices are a vector that was loaded or computed
        return [
            UOp(Ops.INDEX, index.dtype, (done[memory], done[valid].gep(k), done[flat].gep(k)))
            for k in range(extent(lane))
        ]
    constants = [{lane: UOp.const(lane.dtype, k)} for k in range(extent(lane))]
    return [
        place(put_constants(valid, k).simplify(), put_constants(flat, k).simplify())
        for k in constants
    ]


def _run(places: list[UOp]) -> int:
    """How many lanes follow one another in memory, if all such runs are equally long: 2 of the four
    results of an MMA's thread."""
    at = [terms(place.src[2]) for place in places]
    follows = [b == {**a, None: a.get(None, 0) + 1} for a, b in itertools.pairwise(at)]
    run = follows.index(False) + 1 if False in follows else 1
    whole = all(follow is bool((n + 1) % run) for n, follow in enumerate(follows))
    return run if whole and len(places) % run == 0 and len({p.src[1] for p in places}) == 1 else 1


def _with_lanes(u: UOp, done: dict[UOp, UOp]) -> UOp:
    """A node in all lanes. done: node -> its replacement, for all of its sources."""
    # the ranges that it closes, except lanes
    loops = [done[r] for r in u.own_ranges if axis_type(r) is not AxisType.VECTOR]
    match u.op:
        case Ops.RANGE:
            if axis_type(u) is not AxisType.VECTOR:
                return u
            return UOp.const(u.dtype.vec(extent(u)), tuple(range(extent(u))))
        case Ops.INDEX:
            return u  # the LOAD or STORE rebuilds it
        case Ops.LOAD:
            lane = lane_of(u)
            places, vector = _places(u.src[0], lane, done), u.dtype.vec(_lanes(lane))
            if len(places) == 1:
                return UOp(Ops.LOAD, vector, (places[0], *u.src[1:]))
            lanes = tuple(UOp(Ops.LOAD, u.dtype, (p, *u.src[1:])) for p in places)
            return UOp(Ops.VECTORIZE, vector, lanes)
        case Ops.STORE:
            index, value = u.src[:2]
            lane = lane_of(index, value)
            places, value = _places(index, lane, done), done[value].vectorize(_lanes(lane))
            if len(places) == 1:
                return UOp(Ops.STORE, dtypes.void, (places[0], value, *loops))
            # lanes that are stored one by one, or in shorter vectors
            n = _run(places)
            each = [value.gep(k) for k in range(len(places))]
            groups = [tuple(each[k : k + n]) for k in range(0, len(each), n)]
            vectors = [g[0] if n == 1 else UOp(Ops.VECTORIZE, g[0].dtype.vec(n), g) for g in groups]
            pairs = zip(places[::n], vectors, strict=True)
            return UOp.sink(*[place.store(v, *loops) for place, v in pairs])
        case Ops.STAGE:
            return u.replace(src=(done[u.src[0]], *loops))
        case Ops.SINK:
            stores = [done[s] for s in u.src]
            each = [x for s in stores for x in (s.src if s.op is Ops.SINK else [s])]
            return UOp.sink(*each, arg=u.arg)
        case Ops.REDUCE:
            return _reduced_lanes(done[u.src[0]], u, loops)
        case Ops.SCAN:
            outer, *more = loops_of_scan(u)
            values = [done[s].vectorize(_lanes(lane_of(u))) for s in u.src[: -1 - len(more)]]
            tag = ALONG_LANES if more else None
            return UOp(Ops.SCAN, values[0].dtype, (*values, outer), u.arg, tag)
        case Ops.FRAGMENT:
            count, is_transposed = u.arg
            place = tuple(_places(u.src[0], None, done))
            return UOp(Ops.FRAGMENT, u.dtype.vec(count), place, is_transposed)
        case Ops.MMA:  # a thread's run of operand elements becomes lanes, and so do its results
            a, b, result = u.src[:3]
            dtype = u.dtype.vec(extent(result))
            if not loops:  # they are FRAGMENTs
                return UOp(Ops.MMA, dtype, (done[a], done[b]), u.arg)
            (run,) = of_kind(u, AxisType.VECTOR)
            given = [done[operand].vectorize(extent(run)) for operand in (a, b)]
            return UOp(Ops.MMA, dtype, (*given, done[result], *loops), u.arg)
        case _:  # computed in all lanes at once
            n = _lanes(lane_of(u))
            src = tuple([done[s].vectorize(n) for s in u.src])
            return UOp(u.op, u.dtype.vec(n), src, u.arg, u.tag)


def _reduced_lanes(value: UOp, reduce: UOp, loops: list[UOp]) -> UOp:
    """A reduce along lanes accumulates a vector of partial results, and combines the lanes after
    its loop."""
    lanes = of_kind(reduce, AxisType.VECTOR)
    if not lanes:
        return value.reduce(reduce.arg, *loops)
    n = extent(lanes[0])
    total = value.vectorize(n).reduce(reduce.arg, *loops)
    parts = [total.gep(k) for k in range(n)]
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [a.alu(reduce.arg, b) for a, b in zip(parts[:half], parts[half:], strict=True)]
    return parts[0]
