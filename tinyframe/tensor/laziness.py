"""Laziness: which values to compute, in which memory, and how Tensors are updated afterwards.

A Tensor refers to a graph, and graphs do not change (`base.py`). An ASSIGN in a graph says that
the new value may replace the old one in place. Whether it can is decided here, when it is computed:
it can if the old value is no longer needed, as in every step of an optimizer. The old value is
still needed by

- a Tensor that *is* the old value, such as an alias (`b1 = x * 2; b2 = x * 2` are one node and
  share one BUFFER). Then the new value gets memory of its own.
- a Tensor that is not computed yet and reads it: `b = a + 1; a.assign(0)`. It is computed in the
  same schedule, before the change. But if its result takes more memory than the old value, it
  stays lazy, and the new value gets memory of its own.

So no expression sees a later change, and copies are made only where they are needed. A BUFFER node
always stands for one value: after a change in place the memory moves on to a new node, and the old
node is marked as overwritten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from tinyframe.device import (
    buffer_of,
    compute_at_need,
    is_overwritten,
    lose,
    memory_behind,
    successor,
)
from tinyframe.dtype import dtypes
from tinyframe.rewrite.matcher import substituted
from tinyframe.run.capture import capture_now, captures, needs_value
from tinyframe.run.realize import run_schedule, running, settle, settling, unrecorded
from tinyframe.tensor.base import (
    Storage,
    TensorBase,
    down_to_memory,
    follow,
    path_between,
    references_to,
)
from tinyframe.tensor.history import Origin, origin_of, remember
from tinyframe.uop.movement import base_of, in_new_memory, is_result, stored_state
from tinyframe.uop.node import GroupOp, Ops, UOp, collector_paused, drop_dead, sources_first

if TYPE_CHECKING:
    from tinyframe.schedule.kernels import ScheduleItem

# ops that the scheduler always stores
STORED = (Ops.ASSIGN, Ops.COPY, Ops.CONTIGUOUS, Ops.FETCH)


def is_computed(uop: UOp) -> bool:
    """Whether this value needs no kernel: memory, a constant, or a view of these."""
    return base_of(uop).op in (Ops.BUFFER, Ops.CONST, Ops.IOTA)


def compute(storages: Iterable[Storage], what: str | None = None) -> None:
    """Computes these storages, and updates every reference to a part of their graphs.

    what: the operation, for the error if a TinyJit that is capturing needs the values now.
    """
    if what is not None:
        needs_value(what)
    storages = list(storages)
    with running:
        settle()
        capture = capture_now() if captures else None
        if capture is not None:
            for storage in storages:
                capture.note(storage)
        if roots := _uncomputed(storages):
            with collector_paused():  # once, for the compilers too: it costs a search in the end
                schedule = Scheduled(roots)
                if capture is not None:
                    capture.note_memory(schedule.items)
                schedule.run()


def unrealized(*tensors: TensorBase) -> list[UOp]:
    """The graphs of these that still have to be computed, each once."""
    return _uncomputed(tensor._storage for tensor in tensors)


def _uncomputed(storages: Iterable[Storage]) -> list[UOp]:
    graphs = dict.fromkeys(storage.uop for storage in storages)
    return [graph for graph in graphs if not is_computed(graph)]


def transitive_users(nodes: Iterable[UOp], gate: Callable[[UOp], bool] | None = None) -> list[UOp]:
    """These nodes and all live users of them, transitively; except those that `gate` refuses, and
    their users."""
    found = list(nodes)
    seen = set(found)
    for u in found:  # it grows in the loop
        for user in u.users():
            if user not in seen:
                seen.add(user)
                if gate is None or gate(user):
                    found.append(user)
    return found


class Scheduled:
    """The kernels for some graphs, and the nodes that replace others once they have run."""

    items: list[ScheduleItem]

    def __init__(self, roots: Sequence[UOp]) -> None:
        from tinyframe.schedule import create_schedule

        self.plan = placed = InPlacePlan(roots)
        self.items, becomes, self.var_vals = create_schedule(UOp.sink(*placed.roots), _is_held)
        self.becomes = placed.becomes(becomes)
        written = {buffer for item in self.items for buffer in item.written}
        self.in_place = {buffer for buffer in written if buffer.is_allocated()}
        self.begun: list[ScheduleItem] = []  # may have written some of their results
        self.update: Update | None = None

    def run(self) -> None:
        """Runs all items, and then points all references at the results.

        If an error or Ctrl-C stops it before anything was changed in place, everything stays lazy.
        Otherwise the references still get their results, and the remaining items run as soon as one
        of those is needed: no change is lost, and none is made twice.
        """
        settling(self._run, self._settle)

    def publish(self) -> None:
        """Points all references at the results before anything has run."""
        settling(self._finish, self._settle)

    def _run(self) -> None:
        run_schedule(self.items, self.var_vals, self.begun)
        self._finish()

    def _settle(self) -> None:
        """Completes what an error or Ctrl-C stopped."""
        done = [item for item in self.items if item.has_run]
        changed = {buffer for item in (*done, *self.interrupted) for buffer in item.written}
        if self.update is not None or changed & self.in_place:
            self._finish()

    @property
    def interrupted(self) -> list[ScheduleItem]:
        return [item for item in self.begun if not item.has_run]

    @collector_paused()
    def _finish(self) -> None:
        """Points all references at the results. Items that have not run are run as soon as one of
        their results is needed."""
        if self.update is None:
            becomes, overwritten = self.plan.after_run(self.becomes)
            if not all(item.has_run for item in self.items):
                self._compute_at_need(becomes)
            elif captures and (capture := capture_now()) is not None:
                capture.nodes.update((base_of(new), None) for new in becomes.values())
            self.update = Update(becomes, self.plan.graph, overwritten)
        self.update.make()

    def _compute_at_need(self, becomes: dict[UOp, UOp]) -> None:
        """Makes the first request for one of these results run the items that have not run."""
        left = {buffer for item in self.items if not item.has_run for buffer in item.written}
        bases = {base: None for new in becomes.values() if (base := base_of(new)).op is Ops.BUFFER}
        self.awaited = [base for base in bases if memory_behind(base) in left]
        capture = capture_now()

        def compute_rest() -> None:
            # the items are part of the captured call that scheduled them, and of no other
            with running, nullcontext() if capture_now() is capture else unrecorded():
                try:
                    if left := [item for item in self.items if not item.has_run]:
                        run_schedule(left, self.var_vals, self.begun)
                except BaseException:
                    self._lose_interrupted()
                    raise

        for result in self.awaited:
            compute_at_need(result, compute_rest)
        self._lose_interrupted()

    def _lose_interrupted(self) -> None:
        """Marks memory that a stopped item was changing in place as lost: it holds neither the old
        value nor the new one."""
        lost = {b for item in self.interrupted for b in item.written} & self.in_place
        for result in self.awaited:
            if lost and not is_overwritten(result) and memory_behind(result) in lost:
                lose(result)


def _is_held(u: UOp) -> bool:
    """Whether a Tensor is this value, or a view of it."""
    views = transitive_users([u], lambda user: user.op in GroupOp.Movement or user.op is Ops.DETACH)
    return any(isinstance(r, Storage) for view in views for r in references_to(view))


class InPlacePlan:
    """Graphs with each ASSIGN in the memory that it may write to; see the module text.

    roots: the graphs to schedule.
    """

    def __init__(self, roots: Sequence[UOp]) -> None:
        self.roots = list(roots)
        self.graph: dict[UOp, None] = {}  # all below the roots, sources first
        self.states: dict[UOp, list[UOp]] = {}  # an overwritten value -> its ASSIGNs
        self.out_of_place: set[UOp] = set()  # the ASSIGNs that write to new memory
        self.changed: dict[UOp, UOp] = {}  # nodes of the graph -> nodes that are scheduled
        self._look_below(self.roots)
        kept_states: set[UOp] = set()
        while self.states:
            known = len(self.states)
            run_first, kept_states = self._readers()
            # A change that others depend on is made now, since its old value may be gone later.
            changes = [u for u in kept_states if u.op is Ops.ASSIGN and not is_result(u)]
            run_first += [u for u in changes if u not in self.roots]
            self._look_below(run_first)
            # A node that stays lazy may now read one of these results in place of the old value.
            if not run_first or (not kept_states and len(self.states) == known):
                break
        # of several changes of one value, only one can be in place
        self.out_of_place = {assign for _, *others in self.states.values() for assign in others}
        self.out_of_place |= {assign for state in kept_states for assign in self.states[state]}
        if self.out_of_place:
            self.changed = in_new_memory(UOp.sink(*self.roots), self.out_of_place, UOp.new_buffer)
            self.roots = [self.changed[root] for root in self.roots]

    def _look_below(self, roots: Iterable[UOp]) -> None:
        """Adds these to the roots."""
        self.roots = list(dict.fromkeys((*self.roots, *roots)))
        found = sources_first(roots, known=self.graph)
        self.graph.update(found)
        for u in found:
            if u.op is Ops.ASSIGN and u.src[1].op is not Ops.KERNEL:
                self.states.setdefault(stored_state(u), []).append(u)

    def _readers(self) -> tuple[list[UOp], set[UOp]]:
        """The lazy values to compute in the same schedule, since they read an overwritten one; and
        the states that have to be kept for others."""
        stored = {u for u in self.graph if u.op in STORED}
        stored.update(*[(root, root.base) for root in self.roots])
        users = transitive_users(self.states, lambda u: u not in stored and u.op is not Ops.SINK)
        # of these users, the ones that are values of Tensors
        reading_values = [u for u in users if any(isinstance(r, Storage) for r in references_to(u))]
        run_first: list[UOp] = []
        kept_states = {base for root in self.roots if (base := base_of(root)) in self.states}
        for u, (states, changes_them) in self._states_below(reading_values).items():
            state_bytes = sum(state.size * state.dtype.itemsize for state in states)
            if (
                is_computed(u)
                or base_of(u) in self.states  # the old value itself, or a view of it
                or changes_them
                or u.size * u.dtype.itemsize > state_bytes
            ):
                kept_states.update(states)
            else:
                run_first.append(u)
        return run_first, kept_states

    def _states_below(self, nodes: list[UOp]) -> dict[UOp, tuple[list[UOp], bool]]:
        """For each node the old values it depends on, and whether computing it would itself
        overwrite one of them. One walk for all; a set of states is an int with a bit for each."""
        bit = {state: 1 << n for n, state in enumerate(self.states)}
        below: dict[UOp, int] = {}
        changed: dict[UOp, int] = {}
        for u in sources_first(nodes, lambda u: () if u in bit else u.src):
            reads, changes = bit.get(u, 0), 0
            if not reads:
                for s in u.src:
                    reads |= below[s]
                    changes |= changed[s]
                if u.op is Ops.ASSIGN:
                    changes |= bit.get(stored_state(u), 0)
            below[u], changed[u] = reads, changes
        return {
            u: ([state for state in bit if bit[state] & below[u]], bool(changed[u] & below[u]))
            for u in nodes
        }

    def becomes(self, scheduled: dict[UOp, UOp]) -> dict[UOp, UOp]:
        """The results of the original nodes, from those of the scheduled ones."""
        if not self.changed:
            return scheduled
        return {old: scheduled[new] for old, new in self.changed.items() if new in scheduled}

    def after_run(self, becomes: dict[UOp, UOp]) -> tuple[dict[UOp, UOp], list[UOp]]:
        """`becomes` with new nodes for memory that was changed in place; and its old nodes."""
        passed: set[UOp] = set()  # a state between two changes has no reference any more
        fresh: dict[UOp, UOp] = {}
        for state, assigns in self.states.items():
            for assign in assigns:
                # an ASSIGN that nothing scheduled needs stays lazy
                if assign not in self.out_of_place and assign in becomes:
                    passed.add(state)
                    base = becomes[assign].base
                    if base in self.graph and base not in fresh:
                        fresh[base] = successor(base)

        def now(new: UOp) -> UOp:
            base = new.base
            return follow(path_between(base, new), fresh[base]) if base in fresh else new

        becomes = {old: now(new) for old, new in becomes.items() if old not in passed}
        return becomes, list(fresh)


class Update:
    """Replaces computed nodes in the graphs of all references that contain them.

    The constructor changes no reference: it walks up from the nodes to their users, and takes time
    in proportion to those. `make()` carries out the changes, and can be called again if Ctrl-C
    stops it.

    below: the graph that contains these nodes, sources first, if that is known already.
    overwritten: the BUFFERs whose memory holds later values now.
    """

    def __init__(
        self,
        becomes: dict[UOp, UOp],
        below: Iterable[UOp] | None = None,
        overwritten: Iterable[UOp] = (),
    ) -> None:
        below = sources_first(becomes) if below is None else below
        becomes = {old: new for old, new in remember(becomes, below).items() if old is not new}
        users = dict.fromkeys(transitive_users(becomes))
        affected = dict.fromkeys([reference for u in users for reference in references_to(u)])
        storages = [r for r in affected if isinstance(r, Storage)]
        origins = [
            r for r in affected if isinstance(r, Origin) and not users.keys().isdisjoint(r.uop.src)
        ]
        # of a history only its sources: its top is the node that has become the value
        graphs = [storage.uop for storage in storages]
        pasts = [UOp(Ops.SINK, dtypes.void, origin.uop.src) for origin in origins]
        after = substituted(UOp(Ops.SINK, dtypes.void, (*graphs, *pasts)), becomes)
        earlier = [(u, after.get(u, u)) for u in users if "_earlier_storages" in u.__dict__]
        self.overwritten = list(overwritten)
        self.earlier = [(u, new) for u, new in earlier if new is not u]
        self.storages = [(s, after[graph]) for s, graph in zip(storages, graphs, strict=True)]
        results = Counter([u for new in becomes.values() for u in down_to_memory(new)])
        self.histories = []
        for origin, graph in zip(origins, pasts, strict=True):
            value = origin.value()
            # The value must not become its own history, as a view of another result would.
            is_twice = value is not None and results[value] > 1
            if not (is_twice and value in after[graph].toposort(lambda u: origin_of(u) is None)):
                self.histories.append((origin, after[graph]))

    def make(self) -> None:
        """Carries out the changes."""
        for u in self.overwritten:
            lose(u)
        for u, new in self.earlier:
            if refs := u.__dict__.get("_earlier_storages"):
                known = new.__dict__.get("_earlier_storages", ())
                new.__dict__["_earlier_storages"] = [*known, *refs]
                del u.__dict__["_earlier_storages"]
        for storage, graph in self.storages:
            storage.point_to(graph)
        for origin, graph in self.histories:
            origin.point_to(origin.uop.replace(src=graph.src))


def update_references(becomes: dict[UOp, UOp]) -> None:
    """Replaces computed nodes in the graphs of all references that contain them."""
    Update(becomes).make()


# ---- memory that is changed from outside ---------------------------------------------------------


def is_sole_owner(storage: Storage) -> bool:
    """Whether this storage is the only reference to its BUFFER."""
    above = None
    for u in down_to_memory(storage.uop):
        if any(reference is not storage for reference in references_to(u)):
            return False
        if any(user is not above for user in u.users()):
            return False
        above = u
    return True


def lists_to_watch(storage: Storage) -> list[Any]:
    """The lists of users and references of the nodes of a sole owner. As long as their lengths stay
    the same (`map(len, …)`), nothing else refers to its memory."""
    nodes = list(down_to_memory(storage.uop))
    lists = [u.__dict__.setdefault(name, []) for u in nodes for name in ("_users", "_references")]
    for each in lists:  # now, or a new one could take the place of a dead one dropped later
        drop_dead(each)
    return lists


def make_sole_owner(storage: Storage) -> None:
    """Makes a storage the only reference to its memory, so that it can be changed from outside.

    Lazy values that read it are computed, if they are not too large; otherwise, or if others are
    the same value, the storage gets memory of its own.
    """
    if is_sole_owner(storage):
        return
    size = storage.uop.size * storage.uop.dtype.itemsize
    with unrecorded():
        waiting = _others_above(storage)
        compute(s for s in waiting if s.uop.size * s.uop.dtype.itemsize <= size)
        if _others_above(storage):
            move_to_new_memory(storage)
    if not is_sole_owner(storage):  # histories, or graphs that the user holds, still refer to it
        base = base_of(storage.uop)
        rebind(storage, successor(base))
        lose(base)


def _others_above(storage: Storage) -> list[Storage]:
    """The other storages that depend on the BUFFER of this one."""
    above = transitive_users([base_of(storage.uop)])
    storages = [r for u in above for r in references_to(u) if isinstance(r, Storage)]
    return [other for other in storages if other is not storage]


def unalias(storage: Storage) -> None:
    """Gives a storage memory that no other storage shares."""
    if any(is_computed(other.uop) for other in _others_above(storage)):
        move_to_new_memory(storage)


def move_to_new_memory(storage: Storage) -> None:
    """Copies the values to new memory, which nothing else refers to."""
    base = base_of(storage.uop)
    new = UOp.new_buffer(base.device, base.arg, base.dtype)
    buffer_of(new).copyin(buffer_of(base).as_memoryview())
    rebind(storage, new)


def rebind(storage: Storage, base: UOp) -> None:
    """Moves a storage to another BUFFER, with the history of its value."""
    before, after = storage.uop, storage.uop.substitute({base_of(storage.uop): base})
    storage.take_value(after)
    for old, new in zip(down_to_memory(before), down_to_memory(after), strict=True):
        if (origin := origin_of(old)) is not None:
            new.__dict__["_origin"] = origin


# ---- memory and order ----------------------------------------------------------------------------


def is_moved(uop: UOp) -> bool:
    """Whether the elements, or their order, differ from those of the base."""
    while uop.op is Ops.RESHAPE or uop.op is Ops.DETACH:
        uop = uop.src[0]
    return uop.op in GroupOp.Movement


def whole_buffer(uop: UOp) -> UOp | None:
    """The BUFFER whose elements `uop` shows, all and in order (if its size is symbolic, at its
    largest); None for anything else."""
    size = uop.size
    while uop.op is Ops.RESHAPE or uop.op is Ops.DETACH:
        uop = uop.src[0]
    if uop.op is Ops.SHRINK and len(uop.shape) == 1 and isinstance(uop.shape[0], UOp):
        (begin, _), *_ = uop.arg
        uop = uop.src[0] if begin == 0 else uop
    return uop if uop.op is Ops.BUFFER and uop.arg == size else None


def is_stored(uop: UOp) -> bool:
    """Whether `uop` has, or gets from realize(), memory with its elements in order."""
    return uop.op is Ops.CONTIGUOUS or whole_buffer(uop) is not None
