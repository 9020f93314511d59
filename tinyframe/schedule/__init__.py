"""Scheduling: from a tensor graph to the list of kernels that compute it.

    prepare   what need not be computed is taken out                       prepare.py
    fuse      which values are stored, and which of them share a kernel    fuse.py
    lower     movement becomes index arithmetic on RANGEs                  ranges.py
    partial   long reduces become two kernels                              partial.py
    kernels   KERNEL nodes, linked by the buffers between them             kernels.py
    memory    temporary buffers share memory by lifetime                   memory.py

A schedule is kept for the next graph of the same structure (other buffers, other values of its
Variables): `create_schedule` then only fills in the buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tinyframe.device import buffer_of
from tinyframe.dtype import DType
from tinyframe.observe import tell
from tinyframe.rewrite.matcher import substituted
from tinyframe.schedule.blocks import target_of
from tinyframe.schedule.item import Kernel, ScheduleItem
from tinyframe.schedule.kernels import buffer_of_state
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

__all__ = ["Kernel", "MemoryUse", "ScheduleItem", "create_schedule", "kernelize", "memory_use"]

# schedules kept; each holds its kernels' graphs
CACHE_SIZE = 512
_PLACES = (Ops.BUFFER, Ops.DEVICE)


@dataclass
class _Plan:
    """A schedule with numbered slots in place of buffers; first those of the graph itself."""

    slots: list[UOp]
    kernelized: UOp  # a SINK of what nodes become when they are cut out: ASSIGN(BUFFER, KERNEL)
    realized: UOp  # and of what these, and the roots, are once all kernels have run: BUFFER
    places: list[tuple[int, int]]  # where a node stands in the graph, and what it becomes in these
    between: list[tuple[int, UOp]]  # and where one that is stored on the way, and what that becomes
    asts: list[UOp]  # the kernels
    uses: list[list[UOp]]  # the arguments of each, as if no two values shared memory
    temporary: set[UOp]  # the slots that are free again after the last of these
    # where the arguments are, in slots, if some of the temporary ones are kept
    arguments: dict[frozenset[UOp], list[list[int]]] = field(default_factory=dict)

    def keeping(self, kept: frozenset[UOp]) -> list[list[int]]:
        """The slots of each kernel's arguments, of which only the others share memory."""
        if kept not in self.arguments:
            place = share_memory(self.uses, self.temporary - kept)
            number = {slot: n for n, slot in enumerate(self.slots)}
            self.arguments[kept] = [[number[place.get(b, b)] for b in bufs] for bufs in self.uses]
        return self.arguments[kept]


_plans: dict[tuple, _Plan] = {}


def _slot(number: int, device: str, size: int, dtype: DType) -> UOp:
    """A BUFFER of the plan: numbered below zero, where real ones are not."""
    return UOp(
        Ops.BUFFER, dtype, (UOp(Ops.UNIQUE, arg=-1 - number), UOp(Ops.DEVICE, arg=device)), size
    )


class _Graph:
    """What is below a SINK, sources first; its buffers; the BIND of each of its Variables.

    structure: all that a schedule of it depends on beside the devices, with the places of nodes for
    the nodes: equal for graphs that differ in which buffers they have and in the values of
    Variables only. targets: of its devices, those that run blocks of threads.
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
        targets = {name: target_of(name) for name in sorted(devices)}
        self.targets = tuple([(name, t) for name, t in targets.items() if t.block_threads])

    def with_slots(self, slots: list[UOp]) -> list[UOp]:
        """Every node of the graph with these in place of its buffers, and Variables unbound."""
        replacements = dict(zip(self.buffers, slots, strict=True)) | self.unbound
        known = substituted(self.order[-1], replacements)
        return [known.get(u, u) for u in self.order]


def _without_values(u: UOp) -> tuple[UOp, ...]:
    return () if u.op is Ops.BUFFER else u.src[:1] if u.op is Ops.BIND else u.src


def bindings(unknowns: Iterable[UOp]) -> dict[UOp, UOp]:
    """The BIND of each Variable among the unknowns of graphs.

    ValueError where one has two values, or two have one name: kernels know them by name.
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
                f"{max(u.val, found[var].val)} in what is realized together: realize what has one "
                "of these values first, or use a second Variable"
            )
    return found


def _interval(variable: UOp) -> str:
    return f"{variable.vmin} to {variable.vmax}"


def _make_plan(graph: _Graph) -> _Plan:
    slots = [_slot(n, b.device, b.arg, b.dtype) for n, b in enumerate(graph.buffers)]
    order = graph.with_slots(slots)
    sink = order[-1]

    def new_buffer(device: str, size: int, dtype: DType) -> UOp:
        slots.append(_slot(len(slots), device, size, dtype))
        return slots[-1]

    # what an earlier kernelize() cut is run now, and must not be run again
    earlier = {u: u for u in sink.toposort() if is_result(u)}
    cut, between = _kernelize(sink, new_buffer)
    becomes = earlier | cut
    everything = UOp.sink(*sink.src, *becomes.values())
    kernels = [u for u in everything.toposort() if u.op is Ops.KERNEL]
    realized = _after_running(UOp.sink(*[becomes.get(u, u) for u in (*becomes, *sink.src)]))
    lasting = {u for u in realized.toposort() if u.op is Ops.BUFFER}
    arguments = [[buffer_of_state(s) for s in k.src[: k.arg.buffers]] for k in kernels]
    temporary = set(slots[len(graph.buffers) :]) - lasting
    number_of_result = {u: n for n, u in reversed(list(enumerate((*becomes, *sink.src))))}
    places = [(n, number_of_result[u]) for n, u in enumerate(order) if u in number_of_result]
    kernelized = UOp.sink(*becomes.values())
    stored = [(n, _after_running(between[u])) for n, u in enumerate(order) if u in between]
    stored = [(n, result) for n, result in stored if result.base in temporary]
    asts = [kernel.arg.ast for kernel in kernels]
    return _Plan(slots, kernelized, realized, places, stored, asts, arguments, temporary)


def _after_running(sink: UOp) -> UOp:
    """The graph once its kernels have run: a BUFFER in place of each ASSIGN(BUFFER, KERNEL)."""
    return sink.substitute({u: u.src[0] for u in sink.toposort() if is_result(u)})


@dataclass
class _Filled:
    """A plan for one graph."""

    plan: _Plan
    order: list[UOp]  # the nodes of the graph
    fill: dict[UOp, UOp]  # the buffers to put into its slots, the BINDs for its Variables
    values: dict[UOp, int]  # those of the Variables

    def becomes(self, results: UOp) -> dict[UOp, UOp]:
        """What nodes of the graph become, given the plan's results."""
        known = results.substitute(self.fill).src
        return {self.order[n]: known[m] for n, m in self.plan.places if m < len(known)}


@collector_paused()
def _plan_of(sink: UOp) -> _Filled:
    graph = _Graph(sink)
    key = graph.structure, graph.targets, bool(settings.NOOPT), bool(settings.RELAXED)
    # to show the way down, it has to be gone
    again = settings.DEBUG >= 4 or any(tell.wants(key))
    plan = None if again else _plans.pop(key, None)
    if plan is None:
        plan = _make_plan(graph)
    _plans[key] = plan  # the one used last stands last
    if len(_plans) > CACHE_SIZE:
        del _plans[next(iter(_plans))]
    fresh = [UOp.new_buffer(s.device, s.arg, s.dtype) for s in plan.slots[len(graph.buffers) :]]
    fill = dict(zip(plan.slots, [*graph.buffers, *fresh], strict=True)) | graph.binding
    return _Filled(plan, graph.order, fill, {v: bind.val for v, bind in graph.binding.items()})


def kernelize(sink: UOp) -> dict[UOp, UOp]:
    """Cuts the graph below a SINK into kernels: maps nodes to ASSIGN(BUFFER, KERNEL)."""
    filled = _plan_of(sink)
    return filled.becomes(filled.plan.kernelized)


@dataclass(frozen=True)
class MemoryUse:
    """What share_memory decides on. asts: of the kernels, in running order. uses: the BUFFERs that
    each of them touches, one for each value. made: those that are new, of which `temporary` ones
    are free again after their last use."""

    asts: list[UOp]
    uses: list[list[UOp]]
    made: list[UOp]
    temporary: set[UOp]


def memory_use(sink: UOp) -> MemoryUse:
    """The memory that computing a SINK needs. Its BUFFERs stand for those of a schedule."""
    filled = _plan_of(sink)
    plan = filled.plan
    made = plan.slots[sum(u.op is Ops.BUFFER for u in filled.order) :]
    return MemoryUse(plan.asts, plan.uses, made, plan.temporary)


def create_schedule(
    sink: UOp, is_held: Callable[[UOp], bool] = lambda u: False
) -> tuple[list[ScheduleItem], dict[UOp, UOp], dict[UOp, int]]:
    """What to run for the values of a SINK; what its nodes become then; Variables' values.

    is_held: asked of nodes that a kernel stores for another: whether they stay in memory.
    """
    tell.scheduling(sink)
    filled = _plan_of(sink)
    plan = filled.plan
    held = {filled.order[n]: result for n, result in plan.between if is_held(filled.order[n])}
    arguments = plan.keeping(frozenset([result.base for result in held.values()]))
    slots = [filled.fill[slot] for slot in plan.slots]
    items = [
        ScheduleItem(ast, tuple([buffer_of(slots[n]) for n in numbers]))
        for ast, numbers in zip(plan.asts, arguments, strict=True)
    ]
    becomes = filled.becomes(plan.realized)
    becomes |= {u: result.substitute(filled.fill) for u, result in held.items()}
    becomes = {u: v for u, v in becomes.items() if u is not v}
    tell.scheduled(sink, becomes, items)
    return items, becomes, filled.values


# ---- memory: intermediate buffers whose lifetimes do not overlap share it ------------------------


def share_memory(uses: Sequence[Sequence[UOp]], temporary: set[UOp]) -> dict[UOp, UOp]:
    """Maps temporary BUFFERs to earlier ones that are free again by then.

    `uses` lists the buffers that each kernel touches, in running order. A buffer is taken over by
    one of the same device and dtype that is not larger; the largest one left over is used first.
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
