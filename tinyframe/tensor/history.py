"""History: the graphs that realized values were computed from, for gradients requested later.

The node of a realized value is a BUFFER, which does not say how its values were computed. A
gradient may still have to flow through it:

    loss = f(w)
    print(loss.item())      # realizes it: loss.uop is a BUFFER
    loss.backward()         # flows on through its history

So the BUFFER's node keeps an Origin: the graph that was computed. Realizing affects when a value is
computed, never its derivatives.

An Origin lives as long as the node of the value, and only while a gradient can still be requested:
while a Tensor below it, its `witness`, is alive. So a loop such as `x = (x * 2).realize()` keeps
nothing of its earlier iterations. The values a graph needs stay in memory with it, as in PyTorch:
results that depend on parameters should be dropped, or computed under `no_grad()` if no gradient is
needed.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable

from tinyframe.dtype import dtypes
from tinyframe.tensor.base import Reference, Storage, down_to_memory, references_to, storages_at
from tinyframe.uop.movement import base_of
from tinyframe.uop.node import GroupOp, Ops, UOp, sources_first

# No gradient flows through these: DETACH by design, the others have none, or 0 everywhere.
STOPS = GroupOp.Comparison | {
    Ops.DETACH, Ops.BITCAST, Ops.THREEFRY, Ops.KERNEL, Ops.DEVICE, Ops.UNIQUE, Ops.BIND,
}  # fmt: skip

# The longest history, in realized values, of a value that depends on no Tensor that has
# requires_grad=True; longer ones are dropped. A loop that only simulates would else fill memory.
LONGEST_UNASKED = 100
TOO_LONG = (
    f"it was longer than {LONGEST_UNASKED} realized values. Create that one with "
    "requires_grad=True, and all of it is kept"
)


class Origin(Reference):
    """The graph that a realized value was computed from.

    witness: a Tensor's storage below it with respect to which a gradient may be requested. depth:
    the length of its longest chain of realized values.
    """

    __slots__ = ("depth", "value", "witness")

    def __init__(self, value: UOp, graph: UOp, witness: Storage, depth: int) -> None:
        self.value, self.depth = weakref.ref(value), depth
        self._watch(witness)
        super().__init__(graph)  # from here on it is found

    def _watch(self, witness: Storage) -> None:
        origin = weakref.ref(self)
        self.witness = weakref.ref(witness, lambda _: _orphaned.append(origin))


class Lost:
    """In place of an Origin: the storages whose gradient can no longer be found through a realized
    value, and why."""

    __slots__ = ("refs", "value", "why")
    value: weakref.ref[UOp]

    def __init__(self, refs: Iterable[weakref.ref[Storage]], why: str) -> None:
        self.refs, self.why = list(refs), why

    def storages(self) -> list[Storage]:
        return [storage for ref in self.refs if (storage := ref()) is not None]


# for values that depend on such a storage only through detach() or no_grad()
CUT_OFF = Lost((), "")

_orphaned: list[weakref.ref[Origin]] = []  # those whose witness has died


def origin_of(u: UOp) -> Origin | Lost | None:
    """The history of a realized value."""
    return u.__dict__.get("_origin")


def sources(u: UOp) -> tuple[UOp, ...]:
    """The nodes that a node is computed from: its sources, or the Origin of a realized value."""
    origin = u.__dict__.get("_origin")
    return (origin.uop,) if type(origin) is Origin else u.src


def flows_to(u: UOp) -> tuple[UOp, ...]:
    """Those `sources` that gradients flow to: not a value that an ASSIGN overwrites completely."""
    if not flows(u):
        return ()
    is_first_hidden = u.op is Ops.DETACH or (u.op is Ops.ASSIGN and len(u.src) == 2)
    return u.src[1:] if is_first_hidden else sources(u)


def before_writes(u: UOp) -> UOp:
    """The value before its last writes, as far as those were without gradients. A gradient that
    flows to this value flows on to that one, unchanged."""
    while True:
        origin = origin_of(u)
        top = origin.uop if isinstance(origin, Origin) else u
        place = {Ops.ASSIGN: 1, Ops.CONTIGUOUS: 0}.get(top.op)
        written = top if place is None else top.src[place]
        if written.op is not Ops.DETACH or len(written.src) == 1:
            return u
        u = top.src[0] if top.op is Ops.ASSIGN else written.src[1]


def has_history(storage: Storage) -> bool:
    """Whether a gradient of its value may be requested with respect to another storage."""
    u = storage.uop
    return before_writes(u) is not u or bool(targets_below(u) - {storage})


def remember(becomes: dict[UOp, UOp], below: Iterable[UOp]) -> dict[UOp, UOp]:
    """Records the Origins of realized values, where a gradient may be requested.

    below: these nodes and all nodes they depend on, sources first.

    Returns `becomes` without views that gradients flow through: replacing their base is enough, and
    keeps the views as nodes, whose gradient may be requested. Likewise without a DETACH of a value
    that has a gradient, or both would be one BUFFER.
    """
    drop_orphans()
    search = _Search(below)
    memory = {old: new.base for old, new in becomes.items()}
    kept = {
        old: new
        for old, new in becomes.items()
        if (base := base_of(old)) is old
        or (search.at_or_below.get(base) if old.op is Ops.DETACH else search.below.get(old)) is None
        or new.base is not memory.get(base, base)
    }
    for old, new in kept.items():
        if (origin := origin_of(old)) is not None:  # split into kernels before, and run now
            new.__dict__["_origin"], origin.value = origin, weakref.ref(new)
        elif _begins_anew(old):
            pass
        elif (witness := search.below.get(old)) is None:
            if old in search.cut:
                new.__dict__["_origin"] = CUT_OFF
        else:
            before = before_writes(old)
            depth = 0 if witness.is_parameter else (before is old) + search.depth.get(old, 0)
            if depth <= LONGEST_UNASKED:
                # nothing is kept of what was written without gradients
                graph = old if before is old else UOp(Ops.DETACH, old.dtype, (before, before))
                new.__dict__["_origin"] = Origin(new, graph, witness, depth)
            else:
                new.__dict__["_origin"] = Lost(map(weakref.ref, targets_below(old)), TOO_LONG)
    return kept


def reset_history(uop: UOp, lost: Lost | None) -> None:
    """Drops the history of memory that now holds a new value. The new value has none, or (`lost`)
    a lost one."""
    for u in down_to_memory(uop):
        u.__dict__.pop("_origin", None)
    if lost is not None:
        u.__dict__["_origin"] = lost


def _begins_anew(u: UOp) -> bool:
    """Whether this value was assigned to a parameter."""
    return u.base.op in (Ops.ASSIGN, Ops.DETACH) and any(
        isinstance(r, Storage) and r.is_parameter for r in references_to(u)
    )


def flows(u: UOp) -> bool:
    """Whether gradients flow through this node to its sources. A DETACH may have a second
    source: then they flow to that one."""
    stops = u.op in STOPS and not (u.op is Ops.DETACH and len(u.src) == 2)
    return not stops and dtypes.is_float(u.dtype)


def _target_at(u: UOp) -> Storage | None:
    """A storage with this value, now or before an assignment, with respect to which a gradient may
    be requested: a parameter if there is one."""
    found = [s for s in storages_at(u) if s.may_need_grad] if dtypes.is_float(u.dtype) else []
    return max(found, key=lambda storage: storage.is_parameter, default=None)


class _Search:
    """For each node one storage below it with respect to which a gradient may be requested: a
    parameter if there is one. One walk from the sources covers all nodes."""

    def __init__(self, graph: Iterable[UOp]) -> None:
        self.below: dict[UOp, Storage] = {}  # not at the node itself
        self.depth: dict[UOp, int] = {}  # the longest chain of realized values below it
        self.cut: set[UOp] = set()  # nodes cut off by a DETACH below
        self.at_or_below = at_or_below = dict[UOp, Storage]()
        for u in graph:
            known = u.__dict__
            if flows(u):
                origin, best = known.get("_origin"), None
                if origin is CUT_OFF or (self.cut and not self.cut.isdisjoint(u.src)):
                    self.cut.add(u)
                if origin is not None:
                    is_lost = isinstance(origin, Lost)
                    best = next(iter(origin.storages()), None) if is_lost else origin.witness()
                    self.depth[u] = 0 if is_lost else origin.depth
                else:
                    inputs = flows_to(u) if u.op in (Ops.ASSIGN, Ops.DETACH) else u.src
                    if self.depth:
                        self.depth[u] = max([self.depth.get(s, 0) for s in inputs], default=0)
                    for s in inputs:
                        if s in at_or_below and (best is None or at_or_below[s].is_parameter):
                            best = at_or_below[s]
                if best is not None:
                    self.below[u] = at_or_below[u] = best
                    if best.is_parameter:
                        continue
            elif u.op is Ops.DETACH and (u.src[0] in at_or_below or u.src[0] in self.cut):
                self.cut.add(u)
            if (target := _target_at(u)) is not None:
                at_or_below[u] = target


def targets_below(root: UOp) -> set[Storage]:
    """All storages below a node whose gradient may be requested, through histories too."""
    found: set[Storage] = set()
    for u in sources_first((root,), flows_to):
        found.update(storage for storage in storages_at(u) if storage.may_need_grad)
        if isinstance(origin := origin_of(u), Lost):
            found.update(origin.storages())
    return found


def drop_orphans() -> None:
    """Drops the histories that can no longer be used."""
    while _orphaned:
        origin = _orphaned.pop()()
        if origin is None or origin.witness() is not None or (value := origin.value()) is None:
            continue
        found = max(targets_below(origin.uop), key=lambda s: s.is_parameter, default=None)
        if found is not None:
            origin._watch(found)
        elif origin_of(value) is origin:
            del value.__dict__["_origin"]
