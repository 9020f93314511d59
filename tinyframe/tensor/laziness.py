"""Laziness: what there is to compute, in whose memory, and what Tensors become then.

A Tensor means a graph, and graphs do not change (`storage.py`). An ASSIGN in a graph says: the new
value may take the place of the old one in memory. Whether it can is decided here, when it is
computed. It can if nobody needs the old value any more, which is so for every step of an optimizer.
Who may still need it:

- a Tensor that *is* the old value, such as the other of two that were computed alike (`b1 = x * 2;
  b2 = x * 2` are one node and get one BUFFER). Then what is assigned gets memory of its own.
- a Tensor that is not computed yet and reads it: `b = a + 1; a.assign(0)`. It is computed in the
  same go, before the change; unless its result would take more memory than the old value does: then
  it stays lazy, and what is assigned gets memory of its own.

So nobody ever sees a change in something that was written down before it, and the price is paid
only where it is owed. A BUFFER node stands for one value, for good: after a change in place the
memory goes on to a new node, and the old one is told that it has been overwritten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tinyframe.device import buffer_of, compute_at_need, is_overwritten, lose, take_over
from tinyframe.dtype import dtypes
from tinyframe.rewrite.matcher import substituted
from tinyframe.run.capture import capture_now, needs_value
from tinyframe.run.realize import run_schedule, running, unrecorded
from tinyframe.tensor.base import TensorBase
from tinyframe.tensor.history import Origin, origin_of, remember
from tinyframe.tensor.storage import Storage, follow, holders_of, path_between
from tinyframe.uop.movement import base_of, in_new_memory, is_result, stored_state
from tinyframe.uop.node import GroupOp, Ops, UOp, collector_paused, drop_dead, sources_first

if TYPE_CHECKING:
    from tinyframe.schedule.kernels import ScheduleItem

# what the scheduler stores wherever it stands
STORED = (Ops.ASSIGN, Ops.COPY, Ops.CONTIGUOUS)


def is_computed(uop: UOp) -> bool:
    """Whether nothing has to run for this value: memory, a constant, or a view of these."""
    return base_of(uop).op in (Ops.BUFFER, Ops.CONST, Ops.IOTA)


def unrealized(*tensors: TensorBase) -> list[UOp]:
    """The graphs of these that there is something to compute for, each once."""
    roots = dict.fromkeys(tensor._storage.uop for tensor in tensors)
    return [root for root in roots if not is_computed(root)]


def compute(storages: Iterable[Storage], what: str | None = None) -> None:
    """Runs what these need, and tells everybody who means a part of it.

    what: for an error where values must not be needed (inside a TinyJit).
    """
    if what is not None:
        needs_value(what)
    storages = list(storages)
    with running:
        if (capture := capture_now()) is not None:
            for storage in storages:
                capture.note(storage)
        if roots := _uncomputed(storages):
            with collector_paused():
                schedule = Scheduled(roots)
            begun: list[ScheduleItem] = []
            try:
                run_schedule(schedule.items, schedule.var_vals, begun)
            except BaseException:
                schedule.give_up(begun)
                raise
            # After running: where that failed or was interrupted, the Tensors stay lazy.
            with collector_paused():
                schedule.finish()


def _uncomputed(storages: Iterable[Storage]) -> list[UOp]:
    graphs = dict.fromkeys(storage.uop for storage in storages)
    return [graph for graph in graphs if not is_computed(graph)]


def above(nodes: Iterable[UOp], gate: Callable[[UOp], bool] | None = None) -> list[UOp]:
    """These nodes and all live ones that are made of them; not those that `gate` refuses, nor what
    is above those."""
    found = list(nodes)
    seen = set(found)
    for u in found:  # grows meanwhile
        for user in u.users():
            if user not in seen:
                seen.add(user)
                if gate is None or gate(user):
                    found.append(user)
    return found


class Scheduled:
    """The kernels for some graphs, and what becomes of nodes when they have run."""

    items: list[ScheduleItem]

    def __init__(self, roots: Sequence[UOp]) -> None:
        from tinyframe.schedule import create_schedule

        self.placed = placed = Placed(roots)
        self.items, becomes, self.var_vals = create_schedule(UOp.sink(*placed.roots), _is_held)
        self.becomes = placed.becomes(becomes)

    def give_up(self, begun: list[ScheduleItem]) -> None:
        """After an error: what was being changed in place is neither old nor new any more."""
        written = {buffer for item in begun for buffer in item.written}
        for u in self.placed.graph:
            if u.op is Ops.BUFFER and not is_overwritten(u) and buffer_of(u) in written:
                take_over(u)

    def finish(self) -> None:
        """Points everybody at the results."""
        becomes = self.placed.moved_on(self.becomes)
        if (capture := capture_now()) is not None:
            capture.nodes.update((base_of(new), None) for new in becomes.values())
        update_holders(becomes, self.placed.graph)

    def finish_unrun(self) -> None:
        """The same before anything has run: the items still to be run are, as soon as somebody
        needs one of the results."""
        becomes = self.placed.moved_on(self.becomes)
        update_holders(becomes, self.placed.graph)
        items, var_vals = list(self.items), self.var_vals

        written = {buffer for item in items for buffer in item.written}
        in_place = {buffer for buffer in written if buffer.is_allocated()}
        bases = {base: None for new in becomes.values() if (base := base_of(new)).op is Ops.BUFFER}
        awaited = {base: buffer for base in bases if (buffer := buffer_of(base)) in written}

        def compute_rest() -> None:
            begun: list[ScheduleItem] = []
            with running:
                try:
                    if left := [item for item in items if not item.has_run]:
                        run_schedule(left, var_vals, begun)
                except BaseException:
                    half = {b for item in begun if not item.has_run for b in item.written}
                    for result, buffer in awaited.items():
                        if buffer in half & in_place:
                            lose(result)
                    raise

        for result in awaited:
            compute_at_need(result, compute_rest)


def _is_held(u: UOp) -> bool:
    """Whether a Tensor is this value, or a view of it."""
    views = [user for user in u.users() if user.op in GroupOp.Movement or user.op is Ops.DETACH]
    return any(isinstance(h, Storage) for h in holders_of(u)) or any(map(_is_held, views))


class Placed:
    """Graphs with every ASSIGN in the memory that it may write to; see the module text.

    roots: the graphs to schedule.
    """

    def __init__(self, roots: Sequence[UOp]) -> None:
        self.roots = list(roots)
        self.graph: dict[UOp, None] = {}  # all below the roots, sources first
        self.states: dict[UOp, list[UOp]] = {}  # what is overwritten -> by which ASSIGNs
        self.apart: set[UOp] = set()  # the ASSIGNs that write to new memory
        self.changed: dict[UOp, UOp] = {}  # nodes of the graph -> as they are scheduled
        self._look_below(self.roots)
        needed: set[UOp] = set()
        while self.states:
            known = len(self.states)
            first, needed = self._readers()
            # A change that is kept for others is made now, or they would make it later, of values
            # that may be gone by then.
            changes = [u for u in needed if u.op is Ops.ASSIGN and not is_result(u)]
            first += [u for u in changes if u not in self.roots]
            self._look_below(first)
            # Those that stay lazy may be above one that is computed now, and read that instead.
            if not first or (not needed and len(self.states) == known):
                break
        # of several changes of one value, one can take its place
        self.apart = {assign for _, *others in self.states.values() for assign in others}
        self.apart |= {assign for state in needed for assign in self.states[state]}
        if self.apart:
            self.changed = in_new_memory(UOp.sink(*self.roots), self.apart, UOp.new_buffer)
            self.roots = [self.changed[root] for root in self.roots]

    def _look_below(self, roots: Iterable[UOp]) -> None:
        """Adds these to what is computed."""
        self.roots = list(dict.fromkeys((*self.roots, *roots)))
        found = sources_first(roots, known=self.graph)
        self.graph.update(found)
        for u in found:
            if u.op is Ops.ASSIGN and u.src[1].op is not Ops.KERNEL:
                self.states.setdefault(stored_state(u), []).append(u)

    def _readers(self) -> tuple[list[UOp], set[UOp]]:
        """The values not computed yet that read what is overwritten, and are to be computed in the
        same go; and the states that have to be kept for others."""
        stored = {u for u in self.graph if u.op in STORED}
        stored.update(*[(root, root.base) for root in self.roots])
        readers = above(self.states, lambda u: u not in stored and u.op is not Ops.SINK)
        # what somebody means that is made of old values
        meant = [u for u in readers if any(isinstance(h, Storage) for h in holders_of(u))]
        first: list[UOp] = []
        needed = {base for root in self.roots if (base := base_of(root)) in self.states}
        for u, (states, changes_them) in self._states_below(meant).items():
            kept = sum(state.size * state.dtype.itemsize for state in states)
            if (
                is_computed(u)
                or base_of(u) in self.states  # the old value itself, or a view of it
                or changes_them
                or u.size * u.dtype.itemsize > kept
            ):
                needed.update(states)
            else:
                first.append(u)
        return first, needed

    def _states_below(self, nodes: list[UOp]) -> dict[UOp, tuple[list[UOp], bool]]:
        """For each node the old values that it is made of, and whether computing it would itself
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
        """What nodes of the graphs given become, from what those that were scheduled do."""
        if not self.changed:
            return scheduled
        return {old: scheduled[new] for old, new in self.changed.items() if new in scheduled}

    def moved_on(self, becomes: dict[UOp, UOp]) -> dict[UOp, UOp]:
        """The same with new nodes for what was changed in place: they take over the memory."""
        passed: set[UOp] = set()  # a state between two changes is nobody's any more
        fresh: dict[UOp, UOp] = {}
        for state, assigns in self.states.items():
            for assign in assigns:
                # one that nothing scheduled needs waits on, for whoever does
                if assign not in self.apart and assign in becomes:
                    passed.add(state)
                    base = becomes[assign].base
                    if base in self.graph and base not in fresh:
                        fresh[base] = take_over(base)

        def now(new: UOp) -> UOp:
            base = new.base
            return follow(path_between(base, new), fresh[base]) if base in fresh else new

        return {old: now(new) for old, new in becomes.items() if old not in passed}


def update_holders(becomes: dict[UOp, UOp], below: Iterable[UOp] | None = None) -> None:
    """Replaces what was computed in the graph of everybody who means a part of it.

    The way there is up from the nodes, so it takes as long as what contains them is large. below:
    the graph in which these nodes are, sources first, if that is known already.
    """
    below = sources_first(becomes) if below is None else below
    becomes = {old: new for old, new in remember(becomes, below).items() if old is not new}
    users = dict.fromkeys(above(becomes))
    former = [u for u in users if "_former" in u.__dict__]
    affected = dict.fromkeys([holder for u in users for holder in holders_of(u)])
    storages = [holder for holder in affected if isinstance(holder, Storage)]
    origins = [
        holder
        for holder in affected
        if isinstance(holder, Origin) and any(s in users for s in holder.uop.src)
    ]
    # of a history only what is below it: on top is the very node that has become the value
    graphs = [storage.uop for storage in storages]
    pasts = [UOp(Ops.SINK, dtypes.void, origin.uop.src) for origin in origins]
    after = substituted(UOp(Ops.SINK, dtypes.void, (*graphs, *pasts)), becomes)
    for u in former:
        if (new := after.get(u, u)) is not u:
            new.__dict__.setdefault("_former", []).extend(u.__dict__.pop("_former"))
    for storage, graph in zip(storages, graphs, strict=True):
        storage.point_to(after[graph])
    results = Counter([u for new in becomes.values() for u in _memory_and_views(new)])
    for origin, graph in zip(origins, pasts, strict=True):
        value = origin.value()
        # It must not become its own history, as it would where it is a view of another result.
        is_twice = value is not None and results[value] > 1
        if not (is_twice and value in after[graph].toposort(lambda u: origin_of(u) is None)):
            origin.replace_inside(after[graph])


def _memory_and_views(u: UOp) -> Iterator[UOp]:
    """A view, what it is a view of, and so on."""
    while u.op in GroupOp.Movement:
        yield u
        u = u.src[0]
    yield u


# ---- memory that somebody else changes -----------------------------------------------------------


def is_alone(storage: Storage) -> bool:
    """Whether nothing but this storage knows the BUFFER that it lies in."""
    above, u = None, storage.uop
    while True:
        if any(holder is not storage for holder in holders_of(u)):
            return False
        if any(user is not above for user in u.users()):
            return False
        if u.op is Ops.BUFFER:
            return True
        above, u = u, u.src[0]


def watched(storage: Storage) -> list[Any]:
    """The users and holders of the nodes that a storage means. As long as their numbers stay the
    same (`map(len, …)`), nobody has come to know the memory of one that is alone."""
    lists: list[Any] = []
    u = storage.uop
    while True:
        for name in ("_users", "_holders"):
            # without those that have gone, or one more could make the same number
            lists.append(u.__dict__.setdefault(name, []))
            drop_dead(lists[-1])
        if u.op is Ops.BUFFER:
            return lists
        u = u.src[0]


def make_alone(storage: Storage) -> None:
    """Sees to it that the memory of a storage can be changed, and nobody notices but its views.
    Nothing is done where it can be already.

    Who reads it and is not computed yet is computed, if that is not too large; else, and where
    others are the same value, the storage gets memory of its own.
    """
    if is_alone(storage):
        return
    size = storage.uop.size * storage.uop.dtype.itemsize
    with unrecorded():
        waiting = _others_above(storage)
        compute(h for h in waiting if h.uop.size * h.uop.dtype.itemsize <= size)
        if _others_above(storage):
            move_to_new_memory(storage)
    if not is_alone(storage):  # histories, and graphs that somebody looks at
        _lie_in(storage, take_over(base_of(storage.uop)))


def _others_above(storage: Storage) -> list[Storage]:
    """The other storages that are made of the BUFFER that this one lies in."""
    holders = [holder for u in above([base_of(storage.uop)]) for holder in holders_of(u)]
    return [h for h in holders if isinstance(h, Storage) and h is not storage]


def separate(storage: Storage) -> None:
    """Gives a storage memory that no other lies in."""
    if any(is_computed(other.uop) for other in _others_above(storage)):
        move_to_new_memory(storage)


def move_to_new_memory(storage: Storage) -> None:
    """The same values, in memory that nobody else knows."""
    base = base_of(storage.uop)
    new = UOp.new_buffer(base.device, base.arg, base.dtype)
    buffer_of(new).copyin(buffer_of(base).as_memoryview())
    _lie_in(storage, new)


def _lie_in(storage: Storage, base: UOp) -> None:
    """Sees a storage in another BUFFER, with the history that its value has."""
    before, after = storage.uop, storage.uop.substitute({base_of(storage.uop): base})
    storage.move_on(after)
    while before is not after:
        if (origin := origin_of(before)) is not None:
            after.__dict__["_origin"] = origin
        if before.op is Ops.BUFFER:
            break
        before, after = before.src[0], after.src[0]


# ---- what is in memory ---------------------------------------------------------------------------


def is_moved(uop: UOp) -> bool:
    """Whether the elements are others, or in another order, than those of the base."""
    while uop.op is Ops.RESHAPE or uop.op is Ops.DETACH:
        uop = uop.src[0]
    return uop.op in GroupOp.Movement


def whole_buffer(uop: UOp) -> UOp | None:
    """The BUFFER that `uop` is all of, in order (where its size is symbolic, when that is largest);
    None for anything else."""
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
