"""Scheduling: from a tensor graph to the list of kernels that compute it.

    prepare   remove values that need not be computed                      kernels.py
    fuse      which values are stored, and which of them share a kernel    fuse.py
    lower     movement becomes index arithmetic on RANGEs                  ranges.py
    partial   long reduces become two kernels                              partial.py
    kernels   KERNEL nodes, linked by the buffers between them             kernels.py
    memory    temporary buffers share memory by lifetime                   below

A schedule is cached by the structure of its graph. For another graph of that structure (different
buffers, different values of its Variables) `create_schedule` only fills in the buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tinyframe.device import Buffer, Device, buffer_of
from tinyframe.dtype import DType
from tinyframe.observe import tell
from tinyframe.rewrite.matcher import substituted
from tinyframe.schedule.kernels import Kernel, ScheduleItem, buffer_of_state
from tinyframe.schedule.kernels import kernelize as _kernelize
from tinyframe.settings import settings
from tinyframe.uop.movement import is_result
from tinyframe.uop.node import (
    Ops,
    UOp,
    arg_key,
    collector_paused,
    map_sizes,
    plain,
    sizes_in,
    sources_first,
)

__all__ = ["Kernel", "Kernels", "ScheduleItem", "create_schedule", "kernelize", "kernels_in_slots"]

# schedules kept; each holds its kernels' graphs
CACHE_SIZE = 512
_PLACES = (Ops.BUFFER, Ops.DEVICE)


@dataclass
class Kernels:
    """Kernels over slots: launches on memory that is only known at launch time.

    A graph's schedule is one of these, and so is a captured call. Its owner knows which memory each
    slot stands for, and who else may read it.

    slots: a BUFFER for each; the first `given` of them get their memory from outside. asts: the
    kernels in running order. uses: the slots of each kernel's arguments, before any of them share
    memory. temporary: the slots that are free after their last use. arguments: set of temporary
    slots to keep -> the slot numbers of each kernel's arguments.
    """

    slots: list[UOp]
    given: int
    asts: list[UOp]
    uses: list[list[UOp]]
    temporary: set[UOp]
    arguments: dict[frozenset[UOp], list[list[int]]] = field(default_factory=dict)

    def arguments_keeping(self, kept: frozenset[UOp] = frozenset()) -> list[list[int]]:
        """The slot numbers of each kernel's arguments, if the slots `kept` don't share memory."""
        if kept not in self.arguments:
            launches = zip(self.asts, self.uses, strict=True)
            copied = {slot for ast, use in launches if ast.op is Ops.COPY for slot in use}
            # a copy fills all of its target, so the target must not be in larger memory
            place = share_memory(self.uses, self.temporary - kept - copied)
            number = {slot: n for n, slot in enumerate(self.slots)}
            self.arguments[kept] = [[number[place.get(s, s)] for s in each] for each in self.uses]
        return self.arguments[kept]

    def items(
        self, memory: Callable[[int], Buffer], kept: frozenset[UOp] = frozenset()
    ) -> list[ScheduleItem]:
        """The kernels with their arguments, given the memory of each slot."""
        return [
            ScheduleItem(ast, tuple([memory(n) for n in numbers]))
            for ast, numbers in zip(self.asts, self.arguments_keeping(kept), strict=True)
        ]


@dataclass
class _CachedSchedule:
    """A graph's schedule, in slots: the graph's own buffers, then new ones.

    kernelized: a SINK of the nodes that kernels store, as ASSIGN(BUFFER, KERNEL). realized: a SINK
    of the BUFFERs that replace these nodes, and then the roots, once all kernels have run.
    positions: pairs of a node's position in the graph and its position in these SINKs.
    intermediate: for each node that one kernel stores for another, its position and its BUFFER.
    """

    kernels: Kernels
    kernelized: UOp
    realized: UOp
    positions: list[tuple[int, int]]
    intermediate: list[tuple[int, UOp]]

    def becomes(self, results: UOp, graph: _GraphKey, fill: dict[UOp, UOp]) -> dict[UOp, UOp]:
        """Maps nodes of a graph to the nodes that replace them, taken from `results`."""
        known = results.substitute(fill).src
        return {graph.order[n]: known[m] for n, m in self.positions if m < len(known)}


_schedules: dict[tuple, _CachedSchedule] = {}


def slot(number: int, device: str, size: int, dtype: DType) -> UOp:
    """A BUFFER that stands for a slot. Its number is negative; those of real BUFFERs are not."""
    return UOp(
        Ops.BUFFER, dtype, (UOp(Ops.UNIQUE, arg=-1 - number), UOp(Ops.DEVICE, arg=device)), size
    )


class _GraphKey:
    """A graph's nodes in topological order, its buffers, its Variables' BINDs, and its cache key.

    structure: everything a schedule depends on besides the devices, with positions in place of
    nodes. It is equal for graphs that differ only in their buffers and in the values of their
    Variables. targets: (name, Target) of its devices that run blocks of threads.
    """

    def __init__(self, sink: UOp) -> None:
        self.order = list(sources_first((sink,), _without_values))
        self.buffers = [u for u in self.order if u.op is Ops.BUFFER]
        symbolic = {u: s for u in self.order if u.arg is not None and (s := sizes_in(u.arg))}
        unknown = {u for sizes in symbolic.values() for size in sizes for u in size.unknowns}
        unknown.update([u for u in self.order if u.op in (Ops.BIND, Ops.DEFINE_VAR)])
        self.binding = bindings(unknown)
        self.unbound = {bind: var for var, bind in self.binding.items()}
        place = {u: n for n, u in enumerate(self.order)}
        rows: list[tuple] = []
        for u in self.order:
            if u.op is Ops.BUFFER:
                rows.append((u.device, u.arg, u.dtype))
            elif u.op is Ops.BIND:
                rows.append((place[u.src[0]],))
            else:
                arg = u.arg
                if u in symbolic:
                    arg = map_sizes(arg, lambda size: plain(size.substitute(self.unbound)))
                src = tuple([place[s] for s in u.src])
                tag = None if u.tag is None or u.op is Ops.DETACH else arg_key(u.tag)
                rows.append((u.op, u.dtype, src, None if arg is None else arg_key(arg), tag))
        self.structure = tuple(rows)
        devices = {u.arg if u.op is Ops.DEVICE else u.device for u in self.order if u.op in _PLACES}
        targets = [(name, Device[name].block_target) for name in sorted(devices)]
        self.targets = tuple([row for row in targets if row[1] is not None])


def _without_values(u: UOp) -> tuple[UOp, ...]:
    return () if u.op is Ops.BUFFER else u.src[:1] if u.op is Ops.BIND else u.src


def bindings(unknowns: Iterable[UOp]) -> dict[UOp, UOp]:
    """The BIND of each Variable among the unknowns of graphs.

    ValueError if a Variable has two values, or two Variables share a name: kernels know them by
    name.
    """
    found: dict[UOp, UOp] = {}
    named: dict[str, UOp] = {}
    for u in sorted(set(unknowns), key=lambda u: u.op):
        var = u.src[0] if u.op is Ops.BIND else u
        if named.setdefault(var.expr, var) is not var:
            raise ValueError(
                f"two Variables are named {var.expr!r}: one of {_interval(named[var.expr])}, one "
                f"of {_interval(var)}"
            )
        if u.op is Ops.BIND and found.setdefault(var, u) is not u:
            raise ValueError(
                f"Variable {var.expr!r} is bound to {min(u.val, found[var].val)} and to "
                f"{max(u.val, found[var].val)} in Tensors that are realized together: realize "
                "those with one of these values first, or use a second Variable"
            )
    return found


def _interval(variable: UOp) -> str:
    return f"{variable.vmin} to {variable.vmax}"


def _make_schedule(graph: _GraphKey) -> _CachedSchedule:
    slots = [slot(n, b.device, b.arg, b.dtype) for n, b in enumerate(graph.buffers)]
    in_slots = dict(zip(graph.buffers, slots, strict=True)) | graph.unbound
    known = substituted(graph.order[-1], in_slots)
    order = [known.get(u, u) for u in graph.order]
    sink = order[-1]

    def new_buffer(device: str, size: int, dtype: DType) -> UOp:
        slots.append(slot(len(slots), device, size, dtype))
        return slots[-1]

    # the kernels of an earlier kernelize() run with these, and must not run a second time
    earlier = {u: u for u in sink.toposort() if is_result(u)}
    cut, intermediate = _kernelize(sink, new_buffer)
    becomes = earlier | cut
    everything = UOp.sink(*sink.src, *becomes.values())
    kernels = [u for u in everything.toposort() if u.op is Ops.KERNEL]
    realized = _after_running(UOp.sink(*[becomes.get(u, u) for u in (*becomes, *sink.src)]))
    lasting = {u for u in realized.toposort() if u.op is Ops.BUFFER}
    arguments = [[buffer_of_state(s) for s in k.src[: k.arg.buffers]] for k in kernels]
    temporary = set(slots[len(graph.buffers) :]) - lasting
    number_of_result = {u: n for n, u in reversed(list(enumerate((*becomes, *sink.src))))}
    positions = [(n, number_of_result[u]) for n, u in enumerate(order) if u in number_of_result]
    kernelized = UOp.sink(*becomes.values())
    between = [n for n, u in enumerate(order) if u in intermediate]
    results = _after_running(UOp.sink(*[intermediate[order[n]] for n in between])).src
    stored = [(n, u) for n, u in zip(between, results, strict=True) if u.base in temporary]
    asts = [kernel.arg.ast for kernel in kernels]
    made = Kernels(slots, len(graph.buffers), asts, arguments, temporary)
    return _CachedSchedule(made, kernelized, realized, positions, stored)


def _after_running(sink: UOp) -> UOp:
    """The graph after its kernels have run: a BUFFER in place of each ASSIGN(BUFFER, KERNEL)."""
    return sink.substitute({u: u.src[0] for u in sink.toposort() if is_result(u)})


@collector_paused()
def _schedule_of(sink: UOp) -> tuple[_CachedSchedule, _GraphKey, dict[UOp, UOp]]:
    """The schedule of a graph, its key, and what to fill in: slot -> BUFFER, Variable -> BIND."""
    graph = _GraphKey(sink)
    switches = (bool(settings.NOOPT), bool(settings.RELAXED), bool(settings.SPEC))
    key = graph.structure, graph.targets, *switches
    # showing the stages requires running them
    again = settings.DEBUG >= 4 or any(tell.wants(key))
    cached = None if again else _schedules.pop(key, None)
    if cached is None:
        cached = _make_schedule(graph)
    _schedules[key] = cached  # most recently used last
    if len(_schedules) > CACHE_SIZE:
        del _schedules[next(iter(_schedules))]
    slots = cached.kernels.slots
    fresh = [UOp.new_buffer(s.device, s.arg, s.dtype) for s in slots[len(graph.buffers) :]]
    return cached, graph, dict(zip(slots, [*graph.buffers, *fresh], strict=True)) | graph.binding


def kernelize(sink: UOp) -> dict[UOp, UOp]:
    """Cuts the graph below a SINK into kernels: maps nodes to ASSIGN(BUFFER, KERNEL)."""
    cached, graph, fill = _schedule_of(sink)
    return cached.becomes(cached.kernelized, graph, fill)


def kernels_in_slots(sink: UOp) -> Kernels:
    """The kernels that compute a SINK, with slots in place of all memory."""
    return _schedule_of(sink)[0].kernels


def create_schedule(
    sink: UOp, is_held: Callable[[UOp], bool] = lambda u: False
) -> tuple[list[ScheduleItem], dict[UOp, UOp], dict[UOp, int]]:
    """The items to run for a SINK; the BUFFER that replaces each realized node; Variables' values.

    is_held: whether a node that one kernel stores for another has to stay in memory.
    """
    tell.scheduling(sink)
    cached, graph, fill = _schedule_of(sink)
    held = {graph.order[n]: u for n, u in cached.intermediate if is_held(graph.order[n])}
    kept = frozenset([result.base for result in held.values()])
    slots = cached.kernels.slots
    items = cached.kernels.items(lambda n: buffer_of(fill[slots[n]]), kept)
    becomes = cached.becomes(cached.realized, graph, fill)
    becomes |= {u: result.substitute(fill) for u, result in held.items()}
    becomes = {u: v for u, v in becomes.items() if u is not v}
    tell.scheduled(sink, becomes, items)
    return items, becomes, {v: bind.val for v, bind in graph.binding.items()}


# ---- memory: intermediate buffers whose lifetimes do not overlap share it ------------------------


def share_memory(uses: Sequence[Sequence[UOp]], temporary: set[UOp]) -> dict[UOp, UOp]:
    """Maps temporary BUFFERs to earlier ones whose memory they can reuse.

    `uses` lists the buffers that each kernel touches, in running order. A buffer reuses the
    smallest free one of its device and dtype that is at least as large.
    """
    last_use = {b: n for n, buffers in enumerate(uses) for b in buffers}
    place: dict[UOp, UOp] = {}
    free: dict[tuple, list[UOp]] = {}
    for n, buffers in enumerate(uses):
        for b in buffers:
            if b in temporary and b not in place:
                pool = free.setdefault((b.device, b.dtype), [])
                fitting = [f for f in pool if f.arg >= b.arg]
                place[b] = min(fitting, key=lambda f: f.arg, default=b)
                if fitting:
                    pool.remove(place[b])
        for b in dict.fromkeys(buffers):
            if b in temporary and last_use[b] == n:
                free.setdefault((b.device, b.dtype), []).append(place[b])
    return {b: other for b, other in place.items() if other is not b}
