"""Lowering: a part of the tensor graph becomes one loop nest.

Every dimension of a stored value gets a RANGE, a loop variable. On the walk from there towards the
inputs, a movement op only changes the index expressions (`movement.py`), a REDUCE_AXIS adds its own
ranges, and the walk ends in LOADs at the resulting indices. No data is moved, and no view objects
are needed.

Under a PAD, an UNWINDOW or a TAKE an index may be out of range. Their source is lowered with a
fresh in-range RANGE in place of that index; then the real index is substituted, and every INDEX
that uses it gets the condition: nothing out of range is ever read. A WHERE gives the padding its
zero, unless the value is zero there anyway. The real index of a TAKE is itself a value.

An ASSIGN to a TAKE is a STORE at such an index, in a SERIAL loop: the values for one place come one
after the other, the same way each time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from tinyframe.algebra.symbolic import all_of, conjuncts, simplify_given, sym
from tinyframe.device import Device
from tinyframe.dtype import dtypes
from tinyframe.observe import tell_became
from tinyframe.rewrite.matcher import PatternMatcher, UPat, graph_rewrite
from tinyframe.schedule.fuse import Conditions, Demand, KernelOutput, Steps, needed_by
from tinyframe.uop.movement import (
    Indices,
    base_of,
    condition,
    memory_state,
    source_indices,
    stored_state,
    stored_view,
    taken_view,
)
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp, axis_type, rebuild, sources_first


def lower(
    outputs: list[KernelOutput],
    steps: Steps,
    memory: Callable[[UOp], UOp | None],
    target: Callable[[UOp, UOp], UOp],
) -> UOp:
    """The kernel that stores `outputs` at their indices, as a SINK of STOREs.

    `steps`: the steps from everything that is computed, the outputs included.
    `memory`: the DEFINE_GLOBAL of a value that is read from memory, None for one that is computed.
    `target`: the DEFINE_GLOBAL of a state of memory, as a view of it shows it.
    """
    own = {output.value: output.own for output in outputs}
    users = Counter([*own, *(s for u in steps for s in u.src)])  # storing a value is a use
    values: dict[tuple[UOp, Indices], UOp] = {}

    def value_at(u: UOp, ix: Indices) -> UOp:
        if (u, ix) not in values:
            if u in own:
                moved = {r: i for r, i in zip(own[u], ix, strict=True) if r.op is Ops.RANGE}
                values[u, ix] = values[u, own[u]].substitute(moved)
            elif (place := memory(u)) is not None:
                values[u, ix] = place.index(*ix, shape=u.shape).load()
            else:
                values[u, ix] = _leaf_value(u, ix)
        return values[u, ix]

    for u in sources_first(own, lambda u: needed_by(u, steps)):
        if u not in own and memory(u) is not None:
            continue
        for ix, step in steps.get(u, {}).items():
            sources = [value_at(s, at) for s, at, _ in step.needs(ix, ix)]
            values[u, ix] = _value(u, sources, step, users)

    tell_became((u, value) for (u, _), value in values.items())
    stores, ends, serial = [], [], set[UOp]()
    for value, ix, _ in outputs:
        ranges = sorted({r for i in ix for r in i.ranges}, key=lambda r: r.arg[0])
        stored = value_at(value, ix)
        if (view := taken_view(value)) is None:
            place = target(stored_state(value), stored_view(value))
            stores.append(_index(place, ix).store(stored, *ranges))
            continue
        _, places = steps[value][ix].sources  # of the view, or a copy of them
        number, at = value_at(places, ix), source_indices(view, ix)
        valid, turns = _placed(condition(view, ix, at), number), ix[view.arg].ranges
        at, whole = tuple([_placed(i, number) for i in at]), view.src[0]
        if value.device and Device[value.device].block_target is not None:
            stored = _loaded_where(valid, stored)
        written = _index(target(base_of(whole), whole), at, valid)
        before, op = written.load(*turns), value.arg
        is_combined = op in GroupOp.Reduce
        ends.append(written.store(before.alu(op, stored) if is_combined else stored, *ranges))
        if value.op is Ops.FETCH:
            stores.append(_index(target(value, value), ix).store(before, *ranges))
        serial |= set() if op is Ops.STORE else turns
    sink = renumber(order_ranges(UOp.sink(*stores, *ends)), serial)
    return graph_rewrite(sink, lowering_rules, name="simplify the kernel")


def _loaded_where(valid: UOp, value: UOp) -> UOp:
    """The value, for which nothing is loaded where the condition fails."""
    known = valid.toposort()

    def guarded(old: UOp, u: UOp) -> UOp:
        if u.op is not Ops.INDEX or old in known:
            return u
        return u.replace(src=(u.src[0], all_of([u.src[1], valid]), *u.src[2:]))

    return rebuild(value, guarded)


def _index(place: UOp, ix: Indices, valid: UOp | None = None) -> UOp:
    """The INDEX of an element of a view of memory."""
    while (written := memory_state(place)).op is not Ops.DEFINE_GLOBAL:
        ix, place = source_indices(place, ix), place.src[0]
    return written.index(*ix, valid=valid, shape=place.shape)


def _placed(u: UOp, number: UOp) -> UOp:
    """An expression of the PLACE of a TAKE, now that its value is known."""
    return u.substitute({p: number for p in u.toposort() if p.op is Ops.PLACE})


def _leaf_value(u: UOp, ix: Indices) -> UOp:
    if u.op is Ops.IOTA:
        return ix[0].cast(u.dtype)
    if u.base.op is Ops.CONST:  # the same in every element
        return UOp.const(u.dtype, u.base.arg)
    return u.src[0] if u.op is Ops.BIND else u


def _value(u: UOp, sources: list[UOp], step: Demand, users: Counter[UOp]) -> UOp:
    if u.op is Ops.TAKE:
        value, number = sources
        conditions = step.conditions or {}
        found = {r: (_placed(i, number), _placed(c, number)) for r, (i, c) in conditions.items()}
        return guard(value, found, exact=True)
    if u.op is Ops.REDUCE_AXIS:
        (x,), op = sources, u.arg[0]
        below = u.src[0]
        while below.op in (Ops.RESHAPE, Ops.PERMUTE) and users[below] == 1:
            below = below.src[0]
        # Nested reduces of one kind become one, unless the inner one has other users, or would be
        # recomputed for a range that it does not depend on.
        is_inner = x.op is Ops.REDUCE and x.arg is op and users[below] == 1
        if is_inner and x.ranges.issuperset(step.ranges):
            return x.src[0].reduce(op, *step.ranges, *x.src[1:])
        return x.reduce(op, *step.ranges)
    if u.op is Ops.SCAN_AXIS:
        op, axis = u.arg
        return UOp(Ops.SCAN, u.dtype, (*sources, step.indices[axis]), op)
    if step.conditions:
        return guard(sources[0], step.conditions, exact=u.op is Ops.PAD)
    if not sources:
        return UOp.const(u.dtype, 0)  # in the padding of a PAD
    if u.op in _VALUE_OF_SOURCE or len(sources) < len(u.src):
        return sources[0]
    return UOp(u.op, u.dtype, tuple(sources), u.arg, u.tag)


# ops whose value is that of their source
_VALUE_OF_SOURCE = {*GroupOp.Movement, Ops.CONTIGUOUS, Ops.FUSE, Ops.DETACH, Ops.ASSIGN, Ops.FETCH,
                    Ops.COPY}  # fmt: skip


# ---- validity ---------------------------------------------------------------------------------


def guard(value: UOp, conditions: Conditions, exact: bool) -> UOp:
    """The value with real indices in place of placeholders: guarded, and 0 where a condition fails.

    With `exact` False, a product counts as 0 if one factor does: padding adds nothing to a sum of
    products, even where the other factor in memory is inf. The exception is a factor that is a
    quotient with a padded divisor: the divisor is 0, so the quotient is inf and the product NaN.
    """
    real = {r: index for r, (index, _) in conditions.items()}

    def guarded(old: UOp, u: UOp) -> UOp:
        if u.op is Ops.INDEX:
            memory, valid, *ix = u.src
            valid = all_of([valid, *[conditions[r][1] for r in real if r in old.ranges]])
            return u.replace(src=(memory, valid, *[simplify_given(i, valid) for i in ix]))
        return u

    value = rebuild(value, guarded, dict(real), below=lambda u: bool(u.ranges & real.keys()))
    missing = [c for _, valid in conditions.values() for c in conjuncts(valid)]
    missing = [c for c in missing if not _zero_without(value, c, exact)]
    return all_of(missing).where(value, value.const_like(0)).simplify() if missing else value


def _zero_without(value: UOp, c: UOp, exact: bool) -> bool:
    """Whether the value is 0 wherever `c` does not hold."""

    def zero(u: UOp) -> bool:
        if u.op is Ops.CONST:
            return u.arg == 0
        if u.op is Ops.LOAD:
            return c in conjuncts(u.src[0].src[1])
        if u.op is Ops.MUL:
            a, b = u.src
            if exact:
                return zero(a) and zero(b)
            return any(zero(x) and not divides_by_padding(y) for x, y in ((a, b), (b, a)))
        if u.op is Ops.WHERE:
            condition, yes, no = u.src
            return zero(no) and (zero(yes) or c in conjuncts(condition))
        if u.op in (Ops.ADD, Ops.MAX):
            return all(map(zero, u.src))
        if u.op is Ops.REDUCE:
            return u.arg in (Ops.ADD, Ops.MAX) and zero(u.src[0])
        if u.op is Ops.NEG and u.dtype is dtypes.bool:
            return False  # NEG of a bool is "not"
        return u.op in (Ops.CAST, Ops.NEG, Ops.SQRT) and zero(u.src[0])

    def divides_by_padding(u: UOp) -> bool:
        return any(
            x.op is Ops.LOAD and c in conjuncts(x.src[0].src[1])
            for quotient in u.toposort()
            if quotient.op in _INFINITE_AT_0
            for x in quotient.toposort()
        )

    return len(value.toposort()) < 400 and zero(value)


_INFINITE_AT_0 = {Ops.FDIV, Ops.RECIP, Ops.LOG2, Ops.POW}


def _drop_where(c: UOp, x: UOp, zero: UOp) -> UOp | None:
    """WHERE(c, LOAD, 0) is the LOAD itself if c already guards the LOAD."""
    if zero.arg != 0:
        return None
    guarded = set(conjuncts(x.src[0].src[1]))
    return x if guarded.issuperset(conjuncts(c)) else None


_LOAD_OR_ZERO = UPat(Ops.WHERE, src=(UPat.var("c"), UPat(Ops.LOAD, name="x"), UPat.cvar("zero")))
_NEVER_VALID = UPat(Ops.INDEX, src=(UPat(), UPat.const(dtypes.bool, False)), allow_any_len=True)
kernel_rules = PatternMatcher(
    [
        (_LOAD_OR_ZERO, _drop_where),
        # a LOAD that is never valid is 0
        (UPat(Ops.LOAD, src=(_NEVER_VALID,), allow_any_len=True, name="x"),
         lambda x: x.const_like(0)),
    ]
)
lowering_rules = kernel_rules + sym


# ---- canonical form -----------------------------------------------------------------------------


def order_ranges(sink: UOp) -> UOp:
    """Loops that reduces depend on move outermost, so that a reduce runs once for each of its
    results. The loop of a scan moves innermost, inside all that it depends on."""
    nodes = sink.toposort()
    counts: Counter[UOp] = Counter()  # for each range, the number of reduces that depend on it
    for u in nodes:
        if u.op is Ops.REDUCE:
            counts.update(u.ranges)
        elif u.op is Ops.SCAN:
            counts[u.src[-1]] -= len(nodes)

    def ordered(old: UOp, u: UOp) -> UOp:
        if u.op not in (Ops.STORE, Ops.REDUCE):
            return u
        return u.with_ranges(*sorted(u.own_ranges, key=counts.__getitem__, reverse=True))

    return rebuild(sink, ordered)


def renumber(sink: UOp, serial: Collection[UOp] = ()) -> UOp:
    """Numbers ranges in the order of the walk, so that equal kernels become the same object. Those
    of `serial`, and a loop along which there is a SCAN, become SERIAL."""
    scanned = {*serial, *(u.src[-1] for u in sink.toposort() if u.op is Ops.SCAN)}
    found = [r for s in sink.src for r in s.own_ranges]
    found += [r for u in sink.toposort() for r in u.own_ranges]
    kinds = {r: AxisType.SERIAL if r in scanned else axis_type(r) for r in found}
    # in two steps, because an old and a new range may be the same object
    for offset in (1 << 20, 0):
        new = {r: r.replace(arg=(offset + n, kind)) for n, (r, kind) in enumerate(kinds.items())}
        sink = sink.substitute(new)
        kinds = {new[r]: kind for r, kind in kinds.items()}
    return sink
