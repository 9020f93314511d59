"""Fusion: which values are stored, and which of them share a kernel.

A value that is not stored is computed anew wherever it is used, in the middle of the kernel that
uses it. That is what fusion means, and it is nearly always right: memory is slow, arithmetic is
quick. The exceptions are the *cost rule*, `reason_to_store` below. To apply it, one walk from the
outputs to the inputs tells every value where it is used: by which kernel, at which indices, inside
which loops. A second step puts stored values into the kernel that uses them, where each is needed
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
from typing import NamedTuple

from tinyframe import thresholds
from tinyframe.algebra.access import covers_once
from tinyframe.schedule.blocks import leaves_blocks_idle, target_of
from tinyframe.schedule.step import (
    LEAVES,
    Step,
    Steps,
    depends_on,
    is_leaf,
    is_memory,
    moved,
    step_from,
)
from tinyframe.uop.movement import Indices, constant, memory_state, source_indices, stored_state
from tinyframe.uop.node import AxisType, GroupOp, Ops, UOp, is_symbolic, iterations

# Arithmetic of an op, in additions; of all others one.
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
    Ops.CAST: 0,
    Ops.BITCAST: 0,
}
# Statements of ops that a CPU has no instruction for; of all others one. By how many a chain of 16
# is longer than a chain of 4, divided by 12: test_fuse.py does it again. A load below a PAD is done
# for each lane by itself, where its condition does not hold for a whole vector: half of 16 lanes.
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
}
ACCESS = 2  # the statements of a load or a store: the place, and what is done there


class Use(NamedTuple):
    """One place where a value is used."""

    kernel: UOp  # the stored value whose kernel it is used in
    indices: Indices  # over the kernel's loops, and over placeholders below a PAD; see step.py
    path: tuple[UOp, ...]  # the loops around that place, outermost first
    real: Indices  # over the kernel's loops alone: below a PAD they may lie outside


@dataclass
class Fusion:
    """What decide_fusion() found: the stored values, why each is stored, and who shares a kernel.

    steps: of what is computed in the kernel of each stored value.
    """

    kernels: list[list[Placed]]
    reasons: dict[UOp, str] = field(default_factory=dict)
    steps: dict[UOp, Steps] = field(default_factory=dict)


class Placed(NamedTuple):
    """A value stored by a kernel, and the indices, over the kernel's ranges, it is stored at.

    own: the same where the kernel is its own, as in its steps.
    """

    value: UOp
    indices: Indices
    own: Indices


def new_indices(shape: tuple, numbers: Iterator[int], kind: AxisType = AxisType.LOOP) -> Indices:
    """A RANGE for each dimension; 0 for those of size 1."""
    return tuple(constant(0) if s == 1 else UOp.range(s, next(numbers), kind) for s in shape)


def loops_around(indices: Indices, path: tuple[UOp, ...]) -> tuple[UOp, ...]:
    """The loops in which a value at `indices` really runs: those it depends on, and if one of them
    is a reduce's loop, all the loops around that."""
    depends = depends_on(indices)
    if not any(r.arg[1] is AxisType.REDUCE for r in depends):
        return tuple(r for r in path if r in depends)
    last = max((n for n, r in enumerate(path) if r in depends), default=-1)
    return path[: last + 1]


def decide_fusion(
    outputs: list[UOp],
    order: list[UOp],
    numbers: Iterator[int],
    copied: frozenset[UOp] = frozenset(),
) -> Fusion:
    """Decides for the graph `order` (sources first) that computes `outputs`; see the module text.

    numbers: gives fresh range numbers. copied: the ASSIGNs whose value is stored by a kernel of its
    own, and copied from there.
    """
    graph = _Graph(outputs, order)
    uses: dict[UOp, dict[Use, None]] = {u: {} for u in order}
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
        made = u  # what the steps from here are of: the value, or that which is copied to it
        reason = graph.reason_to_store(u, list(uses[u]), statements)
        if reason:
            statements.update(dict.fromkeys([u, *(use.kernel for use in uses[u])], ACCESS))
            mine = [store(u, (u.src[1] if u.op is Ops.ASSIGN else u).shape, reason)]
            if u in copied:
                (whole,), made = mine, u.src[1].contiguous().rtag("before assign")
                fusion.steps[u][u] = {whole.indices: Step((made,), whole.indices, whole.real)}
                uses[made] = {whole: None}
                statements[u] += ACCESS
                mine = [store(made, made.shape, "contiguous")]
        else:
            mine = list(uses[u])
        if own := STATEMENTS.get(u.op, u.op not in GroupOp.Movement):
            for kernel, _ in {(use.kernel, use.real) for use in mine}:
                statements[kernel] += own
        for kernel, ix, path, real in mine:
            steps = fusion.steps[kernel].setdefault(made, {})
            if (step := steps.get(ix)) is None:
                step = steps[ix] = step_from(u, ix, real, numbers)
            if step.ranges:
                path = loops_around(real, path) + step.ranges
            for s in step.sources:
                if is_memory(s):
                    if (state := memory_state(s)) in reads:
                        place = _place_in(state, s, step.real)
                        reads[state].setdefault(kernel, {})[place] = None
                elif not is_leaf(s):
                    uses[s][Use(kernel, step.indices, path, step.real)] = None
    for state in reads:
        for use in uses.get(state, ()):
            reads[state].setdefault(use.kernel, {})[use.real] = None

    writes = {u: _place_written(u, own_indices[u]) for u in stored if u.op is Ops.ASSIGN}
    if unsafe := _read_elsewhere(reads, writes):
        return decide_fusion(outputs, order, numbers, copied.union(unsafe))
    groups = _Groups(graph, stored, uses, reads, writes, own_indices, statements)
    groups.share()
    fusion.kernels = [groups.placed[k] for k in groups.by_number if k in groups.placed]
    return fusion


Reads = dict[UOp, dict[UOp, dict[Indices, None]]]
"""State of memory that an ASSIGN overwrites -> kernels that read it -> the places, in the shape of
that state, where they do. A kernel may overwrite what it reads at the same place only."""


def _read_elsewhere(reads: Reads, writes: dict[UOp, Indices]) -> list[UOp]:
    """The ASSIGNs whose own kernel reads what they overwrite at other places than they write."""
    return [u for u, place in writes.items() if reads[stored_state(u)].get(u, {}).keys() - {place}]


def _place_in(state: UOp, view: UOp, ix: Indices) -> Indices:
    """The place that a view of a state shows at some indices."""
    while view is not state:
        view, ix = view.src[0], source_indices(view, ix)
    return ix


def _place_written(assign: UOp, ix: Indices) -> Indices:
    """Where an ASSIGN writes, in the shape of the state that it overwrites."""
    view = assign.src[2] if len(assign.src) == 3 else assign.src[0]
    return _place_in(stored_state(assign), view, ix)


class _Graph:
    """What the cost rule needs to know of a graph beforehand."""

    def __init__(self, outputs: list[UOp], order: list[UOp]):
        self.outputs = set(outputs)
        self.users: dict[UOp, list[UOp]] = {}
        # does a reduce's result flow into it element by element
        self.after_reduce: dict[UOp, bool] = {}
        self.cost: dict[UOp, int] = {}  # additions to compute it from what is stored
        self.reads_memory: dict[UOp, bool] = {}
        for u in order:
            for s in dict.fromkeys(u.src):
                self.users.setdefault(s, []).append(u)
            self.after_reduce[u] = u.op is Ops.REDUCE_AXIS or (
                not is_leaf(u)
                and u.op not in _NOT_ELEMENT_BY_ELEMENT
                and any(self.after_reduce.get(s, False) and s.size == u.size for s in u.src)
            )
            self.reads_memory[u] = is_memory(u) or any(
                self.reads_memory.get(s, False) for s in u.src
            )
            if (
                is_leaf(u)
                or u.op is Ops.REDUCE_AXIS
                or (u.op is Ops.EXPAND and u.size > u.src[0].size)
            ):
                self.cost[u] = 0  # of what is stretched, the short form is stored if any
            else:
                own = 0 if u.op in GroupOp.Movement else COST.get(u.op, 1)
                self.cost[u] = min(own + sum(self.cost.get(s, 0) for s in u.src), 1000)
        self.below_fuse: set[UOp] = set()  # below a FUSE: stored only if that cannot be helped
        for u in reversed(order):
            if u.op is Ops.FUSE or u in self.below_fuse:
                self.below_fuse.update(s for s in u.src if s.op not in _FORCED)
        # the end of a reduce -> what lies between, from the end down to the reduce itself
        self.reduce_ends: dict[UOp, list[UOp]] = {}
        for u in order:
            if u.op is Ops.REDUCE_AXIS:
                way = self._way_to_end(u)
                self.reduce_ends[way[0]] = way

    def _way_to_end(self, reduce: UOp) -> list[UOp]:
        """A reduce's result slides down through elementwise work of its own size that only it feeds
        (a bias, an activation): storing that instead costs the same and saves a kernel."""
        u, way, end = reduce, [reduce], 1
        while u not in self.outputs and len(users := self.users.get(u, [])) == 1:
            u = users[0]
            if u.op in _ENDS_ELEMENTWISE_WORK or u.size != reduce.size:
                break
            way.append(u)
            if u.op not in GroupOp.Movement:
                end = len(way)
        return way[end - 1 :: -1]

    def reason_to_store(self, u: UOp, uses: list[Use], statements: Counter[UOp]) -> str | None:
        """The cost rule: why this value is stored, or None: it is computed where it is used.

        statements: what the kernels have so far, without this value."""
        if u in self.outputs:
            return "output"
        if u in self.below_fuse:
            return None
        if u.op in _FORCED:
            return u.op.name.lower()
        if not uses or u.op in GroupOp.Movement:
            return None
        full = any(statements[use.kernel] >= thresholds.LARGEST_KERNEL for use in uses)
        if full and u.device is not None:
            return "a kernel that would be too large"
        distinct = {(use.kernel, ix := use.real, loops_around(ix, use.path)) for use in uses}
        evaluations = [iterations(loops) for _, _, loops in distinct]
        if u in self.reduce_ends:
            return self._reason_to_store_reduce(u, uses, evaluations)
        if (
            max(evaluations) >= thresholds.RECOMPUTE_LIMIT * u.size
            or sum(evaluations) >= thresholds.RECOMPUTE_LIMIT_IN_ALL * u.size
        ) and (self.after_reduce[u] or self._is_costly(u)):
            return f"needed {sum(evaluations) // max(u.size, 1)} times"
        return None

    def _reason_to_store_reduce(
        self, u: UOp, uses: list[Use], evaluations: list[int]
    ) -> str | None:
        """The same for the end of a reduce. evaluations: how often each distinct use needs it."""
        if len({use.kernel for use in uses}) > 1:
            return "a reduce used by several kernels"
        # The places beside what is unwindowed are empty, and count although nothing is read.
        allowed = thresholds.EMPTY_PLACES if self._is_summed_from_windows(u) else 1
        if sum(evaluations) > allowed * u.size:
            return f"a reduce needed {sum(evaluations) / max(u.size, 1):.0f} times"
        if any(
            iterations(loops_around(ix := use.real, use.path)) > iterations(depends_on(ix))
            for use in uses
        ):
            return "a reduce inside a loop that it does not depend on"
        if u.size < thresholds.PARALLEL_WORK and uses[0].kernel.size > u.size:
            return "a reduce with too little parallel work"
        if any(self._loses_its_tile(u, use.real) for use in uses):
            return "a reduce whose operands a tile would share, reduced further"
        if self.is_shared_by_blocks(u):
            return "a long reduce to few results, which blocks share"
        if any(self.is_used_by_blocks(u, use) for use in uses):
            return "a reduce used inside of one that blocks share"
        return None

    def _is_costly(self, u: UOp) -> bool:
        reads = self.reads_memory[u]
        return self.cost[u] >= (thresholds.CHEAP if reads else thresholds.CHEAP_WITHOUT_MEMORY)

    def _is_summed_from_windows(self, u: UOp) -> bool:
        """Is this sum only used to be unwindowed and summed up further: a convolution's gradient,
        which is then one convolution. Stored, it would have every element once for each window."""
        while len(users := self.users.get(u, [])) == 1 and users[0].op in _TO_WINDOWS:
            u = users[0]
            if u.op is Ops.UNWINDOW:
                users = self.users.get(u, [])
                only = users[0] if len(users) == 1 else None
                return only is not None and only.op is Ops.REDUCE_AXIS and only.arg[0] is Ops.ADD
        return False

    def _loses_its_tile(self, end: UOp, ix: Indices) -> bool:
        """Would a long contraction whose results are reduced further have no register tile at these
        indices, since a loop that one of its operands does not have is inside of that reduce? A
        kernel of its own reads each operand into registers once for a whole tile of results, which
        saves far more than writing and reading the results costs."""
        *way, reduce = self.reduce_ends[end]
        if reduce.src[0].size < thresholds.TILED_FROM * reduce.size:
            return False
        for u in way:
            ix = source_indices(u, ix) if u.op in GroupOp.Movement else ix
        if all(r.arg[1] is not AxisType.REDUCE for r in depends_on(ix)):
            return False
        alone = new_indices(reduce.shape, itertools.count())
        return _shares_operands(reduce, alone) and not _shares_operands(reduce, ix)

    def is_shared_by_blocks(self, u: UOp) -> bool:
        """Is this the end of a reduce that a GPU does in parts (`partial.py`)?"""
        if u not in self.reduce_ends:
            return False
        *_, reduce = self.reduce_ends[u]
        value = reduce.src[0]
        return _has_fixed_size(value) and leaves_blocks_idle(
            target_of(u.device), reduce.size, value.size // max(reduce.size, 1)
        )

    def is_used_by_blocks(self, end: UOp, use: Use) -> bool:
        """Is a reduce used inside of one that a GPU would do in parts? If it is the same for all
        parts, it has to be there before; if not, its results are the parts."""
        if end not in self.reduce_ends or any(map(is_symbolic, use.path)):
            return False
        *_, reduce = self.reduce_ends[end]
        value, results = reduce.src[0], use.kernel.size
        is_inside = any(r.arg[1] is AxisType.REDUCE for r in use.path)
        return is_inside and _has_fixed_size(value) and leaves_blocks_idle(
            target_of(end.device), results,
            max(iterations(use.path), value.size) // max(results, 1),
        )  # fmt: skip

    def is_contraction(self, u: UOp) -> bool:
        """A sum of products of two operands that are each reused: matmul, convolution."""
        if u.op is not Ops.REDUCE_AXIS or u.arg[0] is not Ops.ADD:
            return False
        product = u.src[0]
        while product.op is Ops.CAST or product.op in _TO_WINDOWS:
            product = product.src[0]
        return product.op is Ops.MUL and all(_is_expanded(s) for s in product.src)


_NOT_ELEMENT_BY_ELEMENT = {Ops.EXPAND, Ops.PAD, Ops.SHRINK, Ops.WINDOW, Ops.UNWINDOW}
_TO_WINDOWS = {Ops.RESHAPE, Ops.PERMUTE, Ops.PAD, Ops.SHRINK, Ops.UNWINDOW}
# stored whatever it costs, because the user said so
_FORCED = {Ops.CONTIGUOUS, Ops.ASSIGN, Ops.COPY}
_ENDS_ELEMENTWISE_WORK = {Ops.REDUCE_AXIS, *_NOT_ELEMENT_BY_ELEMENT, *_FORCED}


def _has_fixed_size(u: UOp) -> bool:
    return not any(isinstance(size, UOp) for size in u.shape)


def _is_expanded(u: UOp) -> bool:
    while u.op in GroupOp.Movement or u.op is Ops.CAST:
        if u.op is Ops.EXPAND and u.size > u.src[0].size:
            return True
        u = u.src[0]
    return False


def _shares_operands(reduce: UOp, ix: Indices) -> bool:
    """Does a reduce at these indices read two operands each of which is the same along a loop that
    only the other one has? On kernels `AccessTable.contraction_of` asks this."""
    ix = tuple(constant(0) if d in reduce.arg[1] else i for d, i in enumerate(ix))
    loops = {
        frozenset(r for r in depends_on(at) if r.arg[1] is not AxisType.REDUCE)
        for at in _where_read(reduce.src[0], ix)
    }
    return any(not a <= b and not b <= a for a, b in itertools.combinations(loops, 2))


def _where_read(value: UOp, ix: Indices) -> Iterator[Indices]:
    """The indices at which each operand of a value is read, element by element."""
    left, seen = [(value, ix)], set()
    while left:
        u, ix = place = left.pop()
        if place in seen or u.op in LEAVES:
            continue
        seen.add(place)
        if u.op in GroupOp.Movement:
            left.append((u.src[0], source_indices(u, ix)))
        elif u.op in GroupOp.Elementwise:
            left += [(s, ix) for s in u.src]
        else:
            yield ix


class _Groups:
    """Stored values that share a kernel. Each group has a root: what the kernel was made for."""

    def __init__(
        self,
        graph: _Graph,
        stored: list[UOp],
        uses: dict[UOp, dict[Use, None]],
        reads: Reads,
        writes: dict[UOp, Indices],
        own_indices: dict[UOp, Indices],
        statements: Counter[UOp],
    ):
        self.graph, self.stored, self.uses, self.statements = graph, stored, uses, statements
        self.reads, self.writes = reads, writes
        self.number = {
            u: n for n, u in enumerate(reversed(stored))
        }  # producers have smaller numbers
        self.host: dict[UOp, UOp] = {}
        self.moved: dict[UOp, dict[UOp, UOp]] = {}  # a guest's own ranges -> indices in its host
        self.placed = {u: [Placed(u, own_indices[u], own_indices[u])] for u in stored}
        self.users_of: dict[UOp, list[UOp]] = {
            u: list(dict.fromkeys(use.kernel for use in uses[u])) for u in stored
        }
        self.contracts = dict.fromkeys(stored, False)
        for u, places in uses.items():
            if graph.is_contraction(u):
                for k in [u] if u in self.contracts else {use.kernel for use in places}:
                    self.contracts[k] = True
        self.by_number = list(reversed(stored))
        # bit n of needs[k]: kernel number n has to run before kernel k, since k uses what it
        # stores, or since it reads what k overwrites; directly or not
        self.needs = dict.fromkeys(stored, 0)
        for u in stored:
            for k in self.users_of[u]:
                self.needs[k] |= 1 << self.number[u]
        overwriters: dict[UOp, list[UOp]] = {}
        for k in writes:
            overwriters.setdefault(stored_state(k), []).append(k)
        for state, writers in overwriters.items():
            # before a change in place come the one before it, and who reads what is overwritten
            earlier = {state, *reads[state]} - {*writers}
            for r in earlier & self.number.keys():
                for k in writers:
                    self.needs[k] |= 1 << self.number[r]
        # the other way round: bit n of needed_by[k] is bit k of needs[n]
        self.needed_by = dict.fromkeys(stored, 0)
        for k, needs in self.needs.items():
            for n in _bits(needs):
                self.needed_by[self.by_number[n]] |= 1 << self.number[k]
        _close(self.needs, self.by_number, self.by_number)
        _close(self.needed_by, self.by_number, stored)
        # bit n of inside[k]: kernel number n has become part of k's
        self.inside = {k: 1 << n for k, n in self.number.items()}

    def root(self, u: UOp) -> UOp:
        return self.host.get(u, u)

    def share(self) -> None:
        """Puts a stored value into the first kernel that uses each of its elements exactly once."""
        for u in reversed(self.stored):
            # of what is assigned to a part of memory a user sees the whole
            if u.op in _FORCED and (u.op is not Ops.ASSIGN or len(u.src) == 3):
                continue
            for k in dict.fromkeys(map(self.root, self.users_of[u])):
                if k is not u and self._can_host(k, u):
                    self._move(u, k)
                    break

    def _can_host(self, k: UOp, u: UOp) -> bool:
        if k.op is Ops.COPY or (self.contracts[u] and self.contracts[k]):
            return False
        if u.size < thresholds.PARALLEL_WORK and u.size != k.size:
            return False
        if self.graph.is_shared_by_blocks(u) and u.size != k.size:
            return False
        used = [use for use in self.uses[u] if self.root(use.kernel) is k]
        if any(self.graph.is_used_by_blocks(u, use) for use in used):
            return False
        if self.statements[u] + self.statements[k] > thresholds.LARGEST_KERNEL:
            return False
        stores = {p.value for p in self.placed[u]}
        if any(p.value.op is Ops.ASSIGN and p.value.src[0].base in stores for p in self.placed[k]):
            return (
                False  # two stores to the same memory: k overwrites what u, or a guest of u, stores
            )
        if len(places := self._indices_in(k, u)) > 1 or not covers_once(
            next(iter(places)), u.shape
        ):
            return False
        if self._would_spoil(k, u):
            return False
        # no kernel may stand between the two: one that needs u and that k needs
        return not self.needs[k] & self.needed_by[u] & ~(self.inside[u] | self.inside[k])

    def _indices_in(self, k: UOp, u: UOp) -> set[Indices]:
        """Where k and its guests use u, in terms of k's own ranges."""
        return {
            moved(use.real, self.moved.get(use.kernel, {}))
            for use in self.uses[u]
            if self.root(use.kernel) is k
        }

    def _ranges_in(self, k: UOp, u: UOp) -> dict[UOp, UOp]:
        """What the ranges of u's kernel would be in k's."""
        (indices,) = self._indices_in(k, u)
        pairs = zip(self.placed[u][0].indices, indices, strict=True)
        return {own: i for own, i in pairs if own.op is Ops.RANGE}

    def _would_spoil(self, k: UOp, u: UOp) -> bool:
        """Whether one part of a shared kernel would read what another overwrites, at another place:
        of k's kernel, with u's in it."""
        ranges = {u: self._ranges_in(k, u), k: {}}

        def there(of: UOp, member: UOp, place: Indices) -> Indices:
            """A place that a member of one of the two speaks of, in ranges of k's kernel."""
            return moved(moved(place, self.moved.get(member, {})), ranges[of])

        members = [(of, placed.value) for of in (k, u) for placed in self.placed[of]]
        for of, writer in members:
            if writer.op is Ops.ASSIGN:
                written = there(of, writer, self.writes[writer])
                readers = self.reads[stored_state(writer)]
                for other, reader in members:
                    for place in readers.get(reader, ()):
                        if there(other, reader, place) != written:
                            return True
        return False

    def _move(self, u: UOp, k: UOp) -> None:
        """u's kernel, with what it already hosts, becomes part of k's."""
        mapping = self._ranges_in(k, u)
        for value, ix, own in self.placed.pop(u):
            self.placed[k].append(Placed(value, moved(ix, mapping), own))
            pairs = zip(own, self.placed[k][-1].indices, strict=True)
            self.moved[value] = {r: i for r, i in pairs if r.op is Ops.RANGE}
            self.host[value] = k
        self.statements[k] += self.statements[u]
        self.contracts[k] |= self.contracts[u]
        # Who needed u, or a guest of it, needs all of k's kernel now; k itself needed them already.
        both = self.inside[u] | self.inside[k]
        waits = self.needed_by[u] & ~self.needed_by[k] & ~both
        if waits:
            for n in _bits(waits):
                self.needs[self.by_number[n]] |= self.needs[k] | both
            for n in _bits(self.needs[k] & ~self.needs[u] | both):
                self.needed_by[self.by_number[n]] |= waits
        self.inside[k] = both
        self.needs[k] &= ~both


def _close(direct: dict[UOp, int], by_number: list[UOp], order: list[UOp]) -> None:
    """From the numbers that each leads to directly to all that it leads to; quickest in an order
    in which what others lead to comes first."""
    first = {k: [by_number[n] for n in _bits(mask)] for k, mask in direct.items()}
    changed = True
    while changed:  # twice, unless memory is overwritten: producers have smaller numbers
        changed = False
        for k in order:
            mask = direct[k]
            for other in first[k]:
                mask |= direct[other]
            changed |= mask != direct[k]
            direct[k] = mask


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
