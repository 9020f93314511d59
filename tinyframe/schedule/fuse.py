"""Fusion: which values are stored, and which of them share a kernel.

A value that is not stored is recomputed wherever it is used, inside the kernel that uses it. That
is what fusion means, and it is nearly always right: memory is slow, arithmetic is fast. The
exceptions are the *cost rule*, `reason_to_store` below. To apply it, one walk from the outputs to
the inputs finds out where each value is used: by which kernel, at which indices, inside which
loops. A second step moves a stored value into the kernel that uses it, if that needs each element
once, so that (say) an optimizer's three outputs are one kernel.

    x.softmax()                    1 kernel: the row's maximum and sum are needed once per row
    x / x.sum()                    2 kernels: all of `x` must be summed before the first division
    gelu(x @ w + b) @ w2           2 kernels: gelu is fused into the first product
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tinyframe import thresholds
from tinyframe.algebra.access import covers_once
from tinyframe.algebra.symbolic import all_of, conjuncts
from tinyframe.device import Device, load
from tinyframe.dtype import can_lossless_cast, dtypes
from tinyframe.uop.movement import (
    MAY_BE_OUTSIDE,
    Indices,
    condition,
    constant,
    is_inside,
    is_result,
    memory_state,
    source_indices,
    stored_state,
    stored_view,
    taken_view,
)
from tinyframe.uop.node import (
    AxisType,
    GroupOp,
    Ops,
    UOp,
    iterations,
    recursive_property,
    sources_first,
)

if TYPE_CHECKING:
    from tinyframe.gpu.occupancy import Occupancy

# ---- one step from a value to its sources: which are needed, and at which indices ----------------
#
# Fusion takes these steps from the outputs to the inputs, to find where each value is used;
# lowering takes them in reverse, to compute the value at those indices. So index arithmetic is done
# once.
#
# Under a PAD, an UNWINDOW or a TAKE an index may be out of range. Their source gets a fresh
# in-range RANGE in place of that index, a *placeholder*; `ranges.py` substitutes the real index.

Conditions = dict[UOp, tuple[UOp, UOp]]
"""placeholder -> (the real index, the condition that it is in range)"""


@dataclass
class Demand:
    """A step from a value at some indices to its sources.

    sources: the ones needed. indices: those of the sources. unguarded_indices: the same
    without placeholders, over a kernel's loops alone. ranges: of a reduce. conditions: of the
    placeholders of a PAD. places: the index of a TAKE, needed where the value itself is.
    """

    sources: tuple[UOp, ...]
    indices: Indices
    unguarded_indices: Indices
    ranges: tuple[UOp, ...] = ()
    conditions: Conditions | None = None
    places: UOp | None = None

    def needs(self, ix: Indices, unguarded: Indices) -> list[tuple[UOp, Indices, Indices]]:
        """All that the value at `ix` is computed from, and the indices at which it is needed."""
        found = [(s, self.indices, self.unguarded_indices) for s in self.sources]
        return found if self.places is None else [*found, (self.places, ix, unguarded)]


Steps = dict[UOp, dict[Indices, Demand]]
"""Everything computed in a kernel -> the indices it is computed at -> the step from there."""


def needed_by(u: UOp, steps: Steps) -> tuple[UOp, ...]:
    """All that a value is computed from, wherever it is; nothing for what is read."""
    needed = [s for ix, step in steps.get(u, {}).items() for s, *_ in step.needs(ix, ix)]
    return tuple(dict.fromkeys(needed))


def reindexed(indices: Indices, mapping: dict[UOp, UOp]) -> Indices:
    """Indices in terms of other ranges."""
    if all(i.op in (Ops.RANGE, Ops.CONST) for i in indices):
        return tuple([mapping.get(i, i) for i in indices])
    return tuple([i.substitute(mapping).simplify() for i in indices])


def depends_on(indices: Indices) -> frozenset[UOp]:
    """The RANGEs that the indices depend on."""
    return frozenset[UOp]().union(*[i.ranges for i in indices])


def step_from(u: UOp, ix: Indices, unguarded: Indices, numbers: Iterator[int]) -> Demand:
    """The step from a value at these indices. `unguarded`: the same without placeholders; `numbers`
    gives fresh range numbers."""
    if u.op is Ops.REDUCE_AXIS:
        ranges = {a: UOp.range(u.src[0].shape[a], next(numbers), AxisType.REDUCE) for a in u.arg[1]}
        inner, outer = (
            tuple([ranges.get(d, i) for d, i in enumerate(indices)]) for indices in (ix, unguarded)
        )
        return Demand(u.src, inner, outer, tuple(ranges.values()))
    inner = source_indices(u, ix)
    outer = inner if unguarded == ix else source_indices(u, unguarded)
    sources = sources_needed(u, ix, inner)
    if u.op not in MAY_BE_OUTSIDE or not sources:
        return Demand(sources, inner, outer)
    valid = conjuncts(condition(u, ix, inner))
    conditions, out = {}, list(inner)
    for d, (i, size) in enumerate(zip(inner, u.src[0].shape, strict=True)):
        if u.op is not Ops.PAD:  # one axis; k of an UNWINDOW is always in range
            about_i = valid if d == (u.arg if u.op is Ops.TAKE else u.arg[0]) else []
        else:
            about_i = [c for c in valid if c.op is Ops.CONST or _about(c, i)]
        if about_i:
            placeholder = UOp.range(size, next(numbers))
            conditions[placeholder] = i.cast(placeholder.dtype), all_of(about_i)
            out[d] = placeholder
    places = u.src[1] if u.op is Ops.TAKE else None
    return Demand(sources, tuple(out), outer, conditions=conditions, places=places)


def _about(c: UOp, index: UOp) -> bool:
    """Whether a condition is about an index: both depend on a RANGE, or on a Variable alone."""
    return bool(c.ranges & index.ranges if c.ranges else c.unknowns & index.unknowns)


def sources_needed(u: UOp, ix: Indices, source_ix: Indices) -> tuple[UOp, ...]:
    """The sources that the value at `ix` (`source_ix` in the sources) depends on: one branch of a
    WHERE whose condition the bounds decide, none of a PAD in its padding. So a slice of a cat()
    only needs the part that it is in."""
    if u.op is Ops.PAD and is_inside(u, source_ix) is False:
        return ()
    if u.op is Ops.WHERE and (chosen := _decided(u.src[0], ix)) is not None:
        return u.src[1:2] if chosen else u.src[2:]
    if (view := taken_view(u)) is not None:
        return u.src[1], view.src[1]
    if u.op is Ops.ASSIGN:
        return u.src[1:2]
    return u.src[:1] if u.op in (Ops.COPY, Ops.TAKE) else u.src


def _decided(condition: UOp, ix: Indices) -> bool | None:
    """The value of a padded constant condition at these indices; None if bounds don't decide it."""
    while condition.op is Ops.PAD:
        ix = source_indices(condition, ix)
        if (inside := is_inside(condition, ix)) is not True:
            return inside
        condition = condition.src[0]
    constant = condition.base
    return constant.arg if is_leaf(condition) and constant.op is Ops.CONST else None


# ---- leaves: values that need no computation --------------------------------------------------


def is_memory(u: UOp) -> bool:
    """Whether a value is in memory already: a BUFFER or the result of a KERNEL, in any shape."""
    u = memory_state(u)
    return u.op is Ops.BUFFER or is_result(u)


@recursive_property
def _leaf(u: UOp) -> bool:
    """Whether a value needs no computation: memory, an IOTA, the same constant in every element."""
    one_value = u.op in _KEEPS_ONE_VALUE and is_leaf(u.src[0]) and u.base.op is Ops.CONST
    return one_value or u.op in LEAVES or is_memory(u)


is_leaf = _leaf.of
LEAVES = {Ops.CONST, Ops.IOTA, Ops.BIND, Ops.DEFINE_VAR}
_KEEPS_ONE_VALUE = GroupOp.Movement - MAY_BE_OUTSIDE


# The cost of an op, in additions; 1 for ops not listed.
COST = {
    Ops.EXP2: 10,
    Ops.LOG2: 10,
    Ops.SIN: 10,
    Ops.COS: 10,
    Ops.FMOD: 20,
    Ops.POW: 20,
    Ops.THREEFRY: 40,
    Ops.FDIV: 4,
    Ops.RECIP: 4,
    Ops.SQRT: 4,
    Ops.IDIV: 4,
    Ops.MOD: 4,
    Ops.TAKE: 4,
    Ops.CAST: 0,
    Ops.BITCAST: 0,
}
# Statements that an op without a CPU instruction becomes; 1 for ops not listed. Measured as the
# length of a chain of 16 minus that of one of 4, divided by 12 (test_fuse.py measures it again).
# Below a PAD, a load whose condition does not hold for a whole vector is done lane by lane: half
# of 16 lanes.
STATEMENTS = {
    Ops.SIN: 71,
    Ops.COS: 71,
    Ops.EXP2: 29,
    Ops.LOG2: 48,
    Ops.POW: 86,
    Ops.FMOD: 73,
    Ops.THREEFRY: 125,
    Ops.PAD: 8,
    Ops.UNWINDOW: 8,
    Ops.TAKE: 8,
}
ACCESS = 2  # statements of a load or a store: its index, and the access itself


class Use(NamedTuple):
    """One place where a value is used."""

    kernel: UOp  # the stored value whose kernel uses it
    indices: Indices  # over the kernel's loops, and over placeholders below a PAD
    path: tuple[UOp, ...]  # the loops around the use, outermost first
    # over the kernel's loops alone: below a PAD they may be out of range
    unguarded_indices: Indices


@dataclass
class Fusion:
    """The result of decide_fusion(): the stored values, grouped by kernel, and why each is stored.

    steps: for each stored value, the steps of everything its kernel computes.
    """

    kernels: list[list[KernelOutput]]
    reasons: dict[UOp, str] = field(default_factory=dict)
    steps: dict[UOp, Steps] = field(default_factory=dict)


class KernelOutput(NamedTuple):
    """A value that a kernel stores, and the indices at which it stores it, over the kernel's
    ranges.

    own: the indices in its own kernel, before it moved into another one; its steps use these.
    """

    value: UOp
    indices: Indices
    own: Indices


def new_indices(shape: tuple, numbers: Iterator[int]) -> Indices:
    """A RANGE for each dimension; 0 for those of size 1."""
    return tuple(constant(0) if s == 1 else UOp.range(s, next(numbers)) for s in shape)


def loops_around(indices: Indices, path: tuple[UOp, ...]) -> tuple[UOp, ...]:
    """The loops in which a value at `indices` is evaluated: those it depends on, and if one of them
    is a reduce's loop, all the loops around that one."""
    depends = depends_on(indices)
    if not any(r.arg[1] is AxisType.REDUCE for r in depends):
        return tuple(r for r in path if r in depends)
    last = max((n for n, r in enumerate(path) if r in depends), default=-1)
    return path[: last + 1]


def decide_fusion(outputs: list[UOp], copied: frozenset[UOp] = frozenset()) -> Fusion:
    """Decides what is stored in the graph that computes `outputs`.

    copied: the ASSIGNs whose value is first stored by a separate kernel, and then copied.
    """
    *order, _ = UOp.sink(*outputs).toposort(gate=lambda u: not is_leaf(u))  # without the SINK
    numbers = itertools.count()  # of ranges; one counter, or two ranges could be the same node
    graph = _CostModel(outputs, order)
    uses = graph.uses
    stored: list[UOp] = []
    own_indices: dict[UOp, Indices] = {}
    reads: Reads = {stored_state(u): {} for u in order if u.op is Ops.ASSIGN and not is_leaf(u)}
    statements: Counter[UOp] = Counter()  # of each kernel so far
    fusion = Fusion([])

    def store(u: UOp, shape: tuple, reason: str) -> Use:
        stored.append(u)
        fusion.reasons[u], fusion.steps[u] = reason, {}
        own_indices[u] = ix = new_indices(shape, numbers)
        return Use(u, ix, tuple(i for i in ix if i.op is Ops.RANGE), ix)

    for u in reversed(order):
        if is_leaf(u):
            continue
        if reason := graph.reason_to_store(u, list(uses[u]), statements, own_indices):
            statements.update(dict.fromkeys([u, *(use.kernel for use in uses[u])], ACCESS))
            places = [store(u, (u.src[1] if u.op is Ops.ASSIGN else u).shape, reason)]
            if (view := taken_view(u)) is not None:
                graph.scanned[u] = own_indices[u][view.arg]
        else:
            places = list(uses[u])
        computed = dict.fromkeys(places, u)
        if u in copied:  # its kernel copies what others store, and the steps below are theirs
            copies = _stored_first(u, places[0], fusion, uses)
            statements[u] += ACCESS
            computed = {store(copy, copy.shape, "contiguous"): copy for copy in copies}
        if own := STATEMENTS.get(u.op, u.op not in GroupOp.Movement):
            for kernel, _ in {(use.kernel, use.unguarded_indices) for use in computed}:
                statements[kernel] += own
        for use, value in computed.items():
            for s, needed in graph.needs(value, use, fusion, numbers):
                if is_memory(s):
                    if (state := memory_state(s)) in reads:
                        place = _place_in(state, s, needed.unguarded_indices)
                        reads[state].setdefault(use.kernel, {})[place] = None
                elif not is_leaf(s):
                    uses[s][needed] = None
    for state in reads:
        for use in uses.get(state, ()):
            reads[state].setdefault(use.kernel, {})[use.unguarded_indices] = None

    assigns = [u for u in stored if u.op is Ops.ASSIGN]
    writes = {u: _place_in(stored_state(u), stored_view(u), own_indices[u]) for u in assigns}
    if unsafe := _read_elsewhere(reads, writes):
        return decide_fusion(outputs, copied.union(unsafe))
    groups = _KernelGroups(graph, stored, uses, reads, writes, own_indices, statements)
    groups.share()
    fusion.kernels = [groups.outputs[k] for k in groups.by_number if k in groups.outputs]
    return fusion


def _stored_first(
    u: UOp, whole: Use, fusion: Fusion, uses: dict[UOp, dict[Use, None]]
) -> tuple[UOp, ...]:
    """Copies of all that an ASSIGN stores, and of where; noted as what its kernel reads."""
    ix = whole.indices
    copies = tuple([s.contiguous().rtag("before assign") for s in sources_needed(u, ix, ix)])
    fusion.steps[u][u] = {ix: Demand(copies, ix, ix)}
    uses.update({copy: {whole: None} for copy in copies})
    return copies


Reads = dict[UOp, dict[UOp, dict[Indices, None]]]
"""A state of memory that an ASSIGN overwrites -> the kernels that read it -> the indices, in the
shape of that state, at which they do. A kernel may only overwrite what it reads at the same
indices."""


def _read_elsewhere(reads: Reads, writes: dict[UOp, Indices]) -> list[UOp]:
    """The ASSIGNs whose kernel reads what they overwrite at indices other than those they write. At
    places that are data, one that is read now may have been written to before."""
    return [
        u for u, place in writes.items()
        if (read := reads[stored_state(u)].get(u, {}).keys())
        and (taken_view(u) is not None or read - {place})
    ]  # fmt: skip


def _place_in(state: UOp, view: UOp, ix: Indices) -> Indices:
    """The indices, in a state of memory, of the element that a view of it has at `ix`."""
    while view is not state:
        view, ix = view.src[0], source_indices(view, ix)
    return ix


class _CostModel:
    """The cost rule, and what it needs to know about the graph."""

    def __init__(self, outputs: list[UOp], order: list[UOp]):
        self.outputs = set(outputs)
        self.uses: dict[UOp, dict[Use, None]] = {u: {} for u in order}
        self.users: dict[UOp, list[UOp]] = {}
        # whether a reduce's result flows into it element by element
        self.after_reduce: dict[UOp, bool] = {}
        self.cost: dict[UOp, int] = {}  # of computing it from stored values, in additions
        self.reads_memory: dict[UOp, bool] = {}
        self.scanned: dict[UOp, UOp] = {}  # kernel -> the loop that its scans run along
        self.reduced: dict[UOp, set[UOp]] = {}  # kernel -> the loops that its reduces depend on
        for u in order:
            for s in dict.fromkeys(u.src):
                self.users.setdefault(s, []).append(u)
            self.after_reduce[u] = u.op in (Ops.REDUCE_AXIS, Ops.SCAN_AXIS) or (
                not is_leaf(u)
                and u.op not in _NOT_ELEMENT_BY_ELEMENT
                and any(self.after_reduce.get(s, False) and s.size == u.size for s in u.src)
            )
            self.reads_memory[u] = is_memory(u) or any(
                self.reads_memory.get(s, False) for s in u.src
            )
            own = 0 if u.op in GroupOp.Movement else COST.get(u.op, 1)
            cost = min(own + sum(self.cost.get(s, 0) for s in u.src), 1000)
            # the value to store would be the one before the EXPAND
            repeats = u.op is Ops.EXPAND and u.size > u.src[0].size
            stored = is_leaf(u) or u.op in _FORCED or u.op is Ops.REDUCE_AXIS
            self.cost[u] = 0 if stored or repeats else cost
        self.below_fuse: set[UOp] = set()  # below a FUSE: stored only if forced
        for u in reversed(order):
            if u.op is Ops.FUSE or u in self.below_fuse:
                self.below_fuse.update(s for s in u.src if s.op not in _FORCED)
        # the end of reduces -> the path from that end down to each of them
        self.reduce_ends: dict[UOp, list[list[UOp]]] = {}
        for u in order:
            if u.op is Ops.REDUCE_AXIS:
                path = self._path_to_end(u)
                self.reduce_ends.setdefault(path[0], []).append(path)

    def needs(
        self, u: UOp, use: Use, fusion: Fusion, numbers: Iterator[int]
    ) -> Iterator[tuple[UOp, Use]]:
        """The values that this one is computed from where it is used, and their uses there. The
        step to them is noted."""
        kernel, ix, path, unguarded = use
        steps = fusion.steps[kernel].setdefault(u, {})
        if (step := steps.get(ix)) is None:
            step = steps[ix] = step_from(u, ix, unguarded, numbers)
        if step.ranges:
            self.reduced.setdefault(kernel, set()).update(depends_on(ix))
            path = loops_around(unguarded, path) + step.ranges
        if u.op is Ops.SCAN_AXIS:
            self.scanned[kernel] = ix[u.arg[1]]
        elif u.op is Ops.FETCH:
            yield u.src[0].src[0], use  # the memory
        for s, at, plain in step.needs(ix, unguarded):
            yield s, Use(kernel, at, path, plain)

    def _path_to_end(self, reduce: UOp) -> list[UOp]:
        """The epilogue of a reduce: elementwise work of the same size on its result alone (a
        bias, an activation). Storing the end of it costs the same and saves a kernel."""
        u, path, end = reduce, [reduce], 1
        while u not in self.outputs and len(users := self.users.get(u, [])) == 1:
            u = users[0]
            if u.op in _ENDS_ELEMENTWISE_PATH or u.size != reduce.size:
                break
            path.append(u)
            if u.op not in GroupOp.Movement:
                end = len(path)
        return path[end - 1 :: -1]

    def reason_to_store(
        self, u: UOp, uses: list[Use], statements: Counter[UOp], own_indices: dict[UOp, Indices]
    ) -> str | None:
        """The cost rule: why this value is stored; None if it is computed where it is used.

        statements: in each kernel so far, without this value. own_indices: those of each kernel."""
        if u in self.outputs:
            return "output"
        of_a_scan = None
        if u.op is Ops.SCAN_AXIS and uses:
            of_a_scan = self._reason_to_store_scan(u, own_indices, *uses)
        if u in self.below_fuse:
            return of_a_scan
        if u.op in _FORCED:
            return u.op.name.lower()
        if not uses or u.op in GroupOp.Movement:
            return None
        places = {use[::3] for use in uses}
        if u.device is not None and any(
            (now := statements[k]) >= thresholds.LARGEST_KERNEL
            and (now >= 3 * thresholds.LARGEST_KERNEL or not self._is_at_hand(u, k, ix))
            for k, ix in places
        ):
            return "a kernel that would be too large"
        distinct = {
            (use.kernel, ix := use.unguarded_indices, loops_around(ix, use.path)) for use in uses
        }
        evaluations = [iterations(loops) for _, _, loops in distinct]
        if u in self.reduce_ends:
            return self._reason_to_store_reduce(u, uses, evaluations)
        if self._is_narrower_before(u):
            return of_a_scan
        cheap = thresholds.CHEAP if self.reads_memory[u] else thresholds.CHEAP_WITHOUT_MEMORY
        if (
            max(evaluations) >= thresholds.RECOMPUTE_LIMIT * u.size
            or sum(evaluations) >= thresholds.RECOMPUTE_LIMIT_IN_ALL * u.size
        ) and (self.after_reduce[u] or self.cost[u] >= cheap):
            return f"needed {sum(evaluations) // max(u.size, 1)} times"
        again = (sum(evaluations) - u.size) * self.cost[u]
        if (
            u.size >= thresholds.PARALLEL_WORK
            and again >= thresholds.RECOMPUTE_COST * u.size
            and not all(self._is_at_hand(u, k, ix) for k, ix in places)
        ):
            return f"costly, and needed {sum(evaluations) // u.size} times"
        return of_a_scan

    def _is_narrower_before(self, u: UOp) -> bool:
        """Whether u only widens what can be stored instead, with fewer bytes, for the tensor cores
        of a device with blocks of threads."""
        if u.op is not Ops.CAST or u.device is None or not dtypes.is_float(u.src[0].dtype):
            return False
        is_wider = can_lossless_cast(u.src[0].dtype, u.dtype)
        return is_wider and Device[u.device].block_target is not None

    def _is_at_hand(self, u: UOp, k: UOp, ix: Indices) -> bool:
        """Whether a kernel needs everything at these indices anyway from which a few operations
        compute this value. Stored, it would be one more value to read."""

        def needed(v: UOp) -> bool:
            uses = self.uses[v]
            return any(use.kernel is k and use.unguarded_indices == ix for use in uses)

        front, seen = [u], {u}
        for _ in range(thresholds.AT_HAND):
            if not front:
                return True
            if (x := front.pop()).op not in GroupOp.Elementwise:
                return False
            for s in x.src:
                if s not in seen and not is_leaf(s) and not needed(s):
                    others = [v for v in self.users[s][-thresholds.AT_HAND :] if v is not u]
                    front += [] if any(map(needed, others)) else [s]
                seen.add(s)
        return False

    def _reason_to_store_reduce(
        self, u: UOp, uses: list[Use], evaluations: list[int]
    ) -> str | None:
        """The cost rule for the end of a reduce. evaluations: how often each distinct use needs
        it."""
        if len({use.kernel for use in uses}) > 1:
            return "a reduce used by several kernels"
        # UNWINDOW leaves empty places, which count as evaluations although nothing is read.
        allowed = thresholds.EMPTY_PLACES if self._is_summed_from_windows(u) else 1
        if sum(evaluations) > allowed * u.size:
            return f"a reduce needed {sum(evaluations) / max(u.size, 1):.0f} times"
        if any(
            iterations(loops_around(ix := use.unguarded_indices, use.path))
            > iterations(depends_on(ix))
            for use in uses
        ):
            return "a reduce inside a loop that it does not depend on"
        if u.size < thresholds.PARALLEL_WORK and uses[0].kernel.size > u.size:
            return "a reduce with too little parallel work"
        if any(self.scanned.get(use.kernel) in depends_on(use.unguarded_indices) for use in uses):
            return "a reduce inside a scan"
        if any(self._loses_its_tile(u, use.unguarded_indices) for use in uses):
            return "a reduce whose operands a tile would share, reduced further"
        occupancy = self.occupancy(u)
        return None if occupancy is None else occupancy.reason_to_store(uses)

    def _reason_to_store_scan(
        self, u: UOp, own_indices: dict[UOp, Indices], use: Use, *others: Use
    ) -> str | None:
        """Why a scan is stored; None if it runs along a loop of the kernel that uses it, inside all
        its other loops, and nothing is reduced inside that one."""
        kernel, ix, axis = use.kernel, use.indices, u.arg[1]
        loop, beside = ix[axis], depends_on((*ix[:axis], *ix[axis + 1 :]))
        if others:
            return f"a scan used in {1 + len(others)} places"
        if loop in beside or {loop, *beside} != depends_on(own_indices[kernel]):
            return "a scan used in a different order"
        if self.scanned.get(kernel, loop) is not loop:
            return "two scans along different loops"
        return "a scan with a reduce inside" if loop in self.reduced.get(kernel, ()) else None

    def _is_summed_from_windows(self, u: UOp) -> bool:
        """Whether this sum is only unwindowed and then summed again, as in a convolution's
        gradient, which is then one convolution. If stored, it would hold every element once for
        each window."""
        while len(users := self.users.get(u, [])) == 1 and users[0].op in _TO_WINDOWS:
            u = users[0]
            if u.op is Ops.UNWINDOW:
                users = self.users.get(u, [])
                only = users[0] if len(users) == 1 else None
                return only is not None and only.op is Ops.REDUCE_AXIS and only.arg[0] is Ops.ADD
        return False

    def _loses_its_tile(self, end: UOp, ix: Indices) -> bool:
        """Whether fusing a long contraction into a reduce of its results would lose its register
        tile, because a loop along which one operand is reused would be inside that reduce. A
        separate kernel reads each operand into registers once for a whole tile of results, which
        saves far more than writing and reading the results costs."""
        *path, reduce = self.reduce_ends[end][-1]
        if reduce.src[0].size < thresholds.TILED_FROM * reduce.size:
            return False
        for u in path:
            ix = source_indices(u, ix) if u.op in GroupOp.Movement else ix
        if all(r.arg[1] is not AxisType.REDUCE for r in depends_on(ix)):
            return False
        alone = new_indices(reduce.shape, itertools.count())
        return _shares_operands(reduce, alone) and not _shares_operands(reduce, ix)

    def occupancy(self, u: UOp) -> Occupancy | None:
        """How busy the end of a reduce would keep a device with blocks of threads; None for any
        other value, and on a CPU."""
        if u not in self.reduce_ends or (target := Device[u.device].block_target) is None:
            return None
        occupancy: type[Occupancy] = load("tinyframe.gpu.occupancy:Occupancy")
        *_, reduce = reduces = [path[-1] for path in self.reduce_ends[u]]
        return occupancy(target, reduce, any(map(self._is_long_contraction, reduces)))

    def _is_long_contraction(self, reduce: UOp) -> bool:
        """Whether a sum, or the one inside it, is a contraction of so many products that a register
        tile pays."""
        inner = reduce.src[0]
        while inner.op in _TO_WINDOWS:
            inner = inner.src[0]
        if inner.op is Ops.REDUCE_AXIS and inner.arg[0] is reduce.arg[0]:
            return self._is_long_contraction(inner)
        is_long = reduce.src[0].size >= thresholds.TILED_FROM * reduce.size
        return is_long and self.is_contraction(reduce)

    def is_contraction(self, u: UOp) -> bool:
        """Whether it sums products of two operands that are each reused: matmul, convolution."""
        if u.op is not Ops.REDUCE_AXIS or u.arg[0] is not Ops.ADD:
            return False
        product = u.src[0]
        while product.op is Ops.CAST or product.op in _TO_WINDOWS:
            product = product.src[0]
        return product.op is Ops.MUL and all(_is_expanded(s) for s in product.src)


_NOT_ELEMENT_BY_ELEMENT = {Ops.EXPAND, Ops.PAD, Ops.SHRINK, Ops.WINDOW, Ops.UNWINDOW, Ops.TAKE}
# between a sum of products and its operands
_BETWEEN = LEAVES | GroupOp.Movement | GroupOp.Elementwise
_TO_WINDOWS = {Ops.RESHAPE, Ops.PERMUTE, Ops.PAD, Ops.SHRINK, Ops.UNWINDOW}
# stored at any cost, because the user asked for it
_FORCED = {Ops.CONTIGUOUS, Ops.ASSIGN, Ops.FETCH, Ops.COPY}
_ENDS_ELEMENTWISE_PATH = {Ops.REDUCE_AXIS, Ops.SCAN_AXIS, *_NOT_ELEMENT_BY_ELEMENT, *_FORCED}


def _is_expanded(u: UOp) -> bool:
    while u.op in GroupOp.Movement or u.op is Ops.CAST:
        if u.op is Ops.EXPAND and u.size > u.src[0].size:
            return True
        u = u.src[0]
    return False


def _shares_operands(reduce: UOp, ix: Indices) -> bool:
    """Whether a reduce at these indices reads two operands, each constant along a loop that the
    other one varies along. `AccessTable.contraction_of` decides the same for kernels."""
    ix = tuple(constant(0) if d in reduce.arg[1] else i for d, i in enumerate(ix))
    loops = {
        frozenset(r for r in depends_on(at) if r.arg[1] is not AxisType.REDUCE)
        for u, at in sources_first([(reduce.src[0], ix)], _sources_at)
        if u.op not in _BETWEEN
    }
    return any(not a <= b and not b <= a for a, b in itertools.combinations(loops, 2))


def _sources_at(place: tuple[UOp, Indices]) -> tuple[tuple[UOp, Indices], ...]:
    """What a place (a value and its indices) is computed from; nothing for operands of the sum."""
    u, ix = place
    if u.op in GroupOp.Movement:
        return ((u.src[0], source_indices(u, ix)),)
    return tuple((s, ix) for s in u.src) if u.op in GroupOp.Elementwise else ()


@dataclass
class _KernelGroups:
    """Groups of stored values that share a kernel. A group's root is the value that the kernel was
    made for; the others are its guests."""

    graph: _CostModel
    stored: list[UOp]
    uses: dict[UOp, dict[Use, None]]
    reads: Reads
    writes: dict[UOp, Indices]
    own_indices: dict[UOp, Indices]
    statements: Counter[UOp]

    def __post_init__(self) -> None:
        stored, uses, own_indices = self.stored, self.uses, self.own_indices
        # producers have smaller numbers
        self.number = {u: n for n, u in enumerate(reversed(stored))}
        self.host: dict[UOp, UOp] = {}
        # a guest's own ranges -> indices in its host
        self.host_indices: dict[UOp, dict[UOp, UOp]] = {}
        self.outputs = {u: [KernelOutput(u, own_indices[u], own_indices[u])] for u in stored}
        self.users_of: dict[UOp, list[UOp]] = {
            u: list(dict.fromkeys(use.kernel for use in uses[u])) for u in stored
        }
        self.has_contraction = dict.fromkeys(stored, False)
        for u, places in uses.items():
            if self.graph.is_contraction(u):
                for k in [u] if u in self.has_contraction else {use.kernel for use in places}:
                    self.has_contraction[k] = True
        self.by_number = list(reversed(stored))
        # bit n of needs[k]: kernel number n has to run before kernel k, because k uses what n
        # stores, or because n reads what k overwrites; directly or indirectly
        self.needs = dict.fromkeys(stored, 0)
        for u in stored:
            for k in self.users_of[u]:
                self.needs[k] |= 1 << self.number[u]
        overwriters: dict[UOp, list[UOp]] = {}
        for k in self.writes:
            overwriters.setdefault(stored_state(k), []).append(k)
        for state, writers in overwriters.items():
            # an in-place update runs after the one before it, and after all readers of the old
            # value
            earlier = {state, *self.reads[state]} - {*writers}
            for r in earlier & self.number.keys():
                for k in writers:
                    self.needs[k] |= 1 << self.number[r]
        # the inverse: bit n of needed_by[k] is bit k of needs[n]
        self.needed_by = dict.fromkeys(stored, 0)
        for k, needs in self.needs.items():
            for n in _set_bits(needs):
                self.needed_by[self.by_number[n]] |= 1 << self.number[k]
        _transitive_closure(self.needs, self.by_number, self.by_number)
        _transitive_closure(self.needed_by, self.by_number, stored)
        # bit n of inside[k]: kernel number n has become part of k's
        self.inside = {k: 1 << n for k, n in self.number.items()}

    def root(self, u: UOp) -> UOp:
        return self.host.get(u, u)

    def share(self) -> None:
        """Moves a stored value into the first kernel that uses each of its elements exactly
        once."""
        for u in reversed(self.stored):
            # the user of an assignment to a part sees all of the memory, not only that part
            if u.op in _FORCED and (u.op is not Ops.ASSIGN or len(u.src) == 3):
                continue
            for k in dict.fromkeys(map(self.root, self.users_of[u])):
                if k is not u and self._can_host(k, u):
                    self._move(u, k)
                    break

    def _can_host(self, k: UOp, u: UOp) -> bool:
        if not self.graph.scanned.keys().isdisjoint((u, k)):
            return False
        if k.op is Ops.COPY or (self.has_contraction[u] and self.has_contraction[k]):
            return False
        if u.size < thresholds.PARALLEL_WORK and u.size != k.size:
            return False
        if (occupancy := self.graph.occupancy(u)) is not None:
            used = [use for use in self.uses[u] if self.root(use.kernel) is k]
            if occupancy.reason_to_store(used, of_its_size=u.size == k.size):
                return False
        if self.statements[u] + self.statements[k] > thresholds.LARGEST_KERNEL:
            return False
        stores = {p.value for p in self.outputs[u]}
        # two stores to the same memory: k overwrites what u, or a guest of u, stores
        if any(p.value.op is Ops.ASSIGN and p.value.src[0].base in stores for p in self.outputs[k]):
            return False
        indices, *others = self._indices_in(k, u)
        if others or not covers_once(indices, u.shape) or self._reads_overwritten(k, u):
            return False
        # no third kernel may need u and be needed by k: it would have to run between the two
        return not self.needs[k] & self.needed_by[u] & ~(self.inside[u] | self.inside[k])

    def _indices_in(self, k: UOp, u: UOp) -> set[Indices]:
        """The indices at which k and its guests use u, in terms of k's own ranges."""
        return {
            reindexed(use.unguarded_indices, self.host_indices.get(use.kernel, {}))
            for use in self.uses[u]
            if self.root(use.kernel) is k
        }

    def _ranges_in(self, k: UOp, u: UOp) -> dict[UOp, UOp]:
        """The ranges of u's kernel -> the indices that they would become in k's."""
        (indices,) = self._indices_in(k, u)
        pairs = zip(self.outputs[u][0].indices, indices, strict=True)
        return {own: i for own, i in pairs if own.op is Ops.RANGE}

    def _reads_overwritten(self, k: UOp, u: UOp) -> bool:
        """Whether, once u's kernel is part of k's, one output would read what another overwrites,
        at other indices."""
        ranges = {u: self._ranges_in(k, u), k: {}}

        def in_host(of: UOp, member: UOp, place: Indices) -> Indices:
            """A place of one output, in terms of the ranges of k's kernel."""
            return reindexed(reindexed(place, self.host_indices.get(member, {})), ranges[of])

        members = [(of, output.value) for of in (k, u) for output in self.outputs[of]]
        for of, writer in members:
            if writer.op is Ops.ASSIGN:
                written = in_host(of, writer, self.writes[writer])
                readers = self.reads[stored_state(writer)]
                for other, reader in members:
                    for place in readers.get(reader, ()):
                        if in_host(other, reader, place) != written:
                            return True
        return False

    def _move(self, u: UOp, k: UOp) -> None:
        """Moves u's kernel, with its guests, into k's."""
        mapping = self._ranges_in(k, u)
        for value, ix, own in self.outputs.pop(u):
            self.outputs[k].append(KernelOutput(value, reindexed(ix, mapping), own))
            pairs = zip(own, self.outputs[k][-1].indices, strict=True)
            self.host_indices[value] = {r: i for r, i in pairs if r.op is Ops.RANGE}
            self.host[value] = k
        self.statements[k] += self.statements[u]
        self.has_contraction[k] |= self.has_contraction[u]
        # Kernels that needed u, or a guest of it, now need all of k's kernel.
        both = self.inside[u] | self.inside[k]
        waits = self.needed_by[u] & ~self.needed_by[k] & ~both
        if waits:
            for n in _set_bits(waits):
                self.needs[self.by_number[n]] |= self.needs[k] | both
            for n in _set_bits(self.needs[k] & ~self.needs[u] | both):
                self.needed_by[self.by_number[n]] |= waits
        self.inside[k] = both
        self.needs[k] &= ~both


def _transitive_closure(direct: dict[UOp, int], by_number: list[UOp], order: list[UOp]) -> None:
    """Extends direct dependences, as bit masks, to indirect ones. Fastest if `order` has
    dependences before their dependents."""
    first = {k: [by_number[n] for n in _set_bits(mask)] for k, mask in direct.items()}
    changed = True
    while changed:  # twice, unless memory is overwritten: producers have smaller numbers
        changed = False
        for k in order:
            mask = direct[k]
            for other in first[k]:
                mask |= direct[other]
            changed |= mask != direct[k]
            direct[k] = mask


def _set_bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
