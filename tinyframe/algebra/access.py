"""Memory access analysis: a table of a kernel's reads and writes, derived from its INDEXes.

    table = AccessTable(kernel)
    table.reads, table.writes      an Access for each INDEX that is read, and for each STORE
    access.step(r)                 stride along RANGE r, in elements; 0 if r is not used, None if
                                   neighbours are not evenly spaced
    access.volume(ranges)          bytes read while these ranges run once; an element that is read
                                   twice counts twice
    access.windows                 dimensions that add up several ranges: y + ky in a convolution
    access.overlaps                whether neighbouring windows share elements
    access.is_computed             whether something is computed from each element alone
    access.guarded                 whether it has a condition, as from a padding
    table.reduces                  the REDUCEs; table.around(node): all ranges that a node runs in
    table.work                     iterations of the innermost loop
    table.contraction              the reduce with operand reuse that dominates the kernel's time

In `for i: for j: for k: s += a[i, k] * b[k, j]`, with an `a` of shape (8, 4), step(i) of `a` is 4,
step(j) is 0 and step(k) is 1. All decisions about a kernel's loops use this table; nothing else
analyses an index.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tinyframe.algebra.symbolic import terms
from tinyframe.uop.node import (
    AxisType,
    GroupOp,
    Ops,
    UOp,
    axis_type,
    extent,
    is_symbolic,
    iterations,
    upper,
)

Factors = dict[UOp, int | None]
"""The linear form of a dimension's index: RANGE -> its factor, or None if not linear in that."""

# ops that close ranges inside a kernel
CLOSED_INSIDE = (Ops.REDUCE, Ops.STAGE, Ops.MMA)
_WORK = {*GroupOp.ALU, Ops.REDUCE, Ops.SCAN, Ops.LOAD, Ops.STORE}


@dataclass(frozen=True, eq=False)
class Access:
    """One read or write of an array.

    dims: the Factors of each dimension's index. strides: one for each dimension; None if it
    depends on a Variable. index: the INDEX. value: for a read, what is computed from the element
    alone, and then used (see `used_values`); None for a write.
    """

    dims: tuple[Factors, ...]
    strides: tuple[int | None, ...]
    index: UOp
    value: UOp | None = None

    @property
    def slot(self) -> int:
        """The kernel's argument."""
        return self.index.src[0].arg

    @property
    def itemsize(self) -> int:
        """Bytes of an element in the form that is used, and that a panel would hold."""
        used = self.index if self.value is None else self.value
        return used.dtype.base.itemsize

    @property
    def is_computed(self) -> bool:
        """Whether something is computed from each element alone, as in A @ (B + 1)."""
        return self.value is not None and self.value.op is not Ops.LOAD

    @property
    def ranges(self) -> frozenset[UOp]:
        """All ranges that it depends on."""
        return self.index.ranges

    @property
    def guarded(self) -> bool:
        return self.index.src[1].op is not Ops.CONST

    @property
    def elements(self) -> int:
        """How often it is read or written."""
        return iterations(self.ranges)

    @property
    def windows(self) -> list[dict[UOp, int]]:
        """The Factors of dimensions that add up several ranges."""
        return [d for d in self.dims if len(d) > 1 and None not in d.values()]  # type: ignore[misc]

    @property
    def overlaps(self) -> list[dict[UOp, int]]:
        """The windows whose neighbours share elements."""
        return [
            window
            for window in self.windows
            if 1 + sum(abs(factor) * (extent(r) - 1) for r, factor in window.items())
            < iterations(window)
        ]

    def step(self, r: UOp) -> int | None:
        return _stride(self.dims, self.strides, r)

    def volume(self, ranges: Iterable[UOp]) -> int:
        return iterations(self.ranges.intersection(ranges)) * self.itemsize


def factors(indices: Sequence[UOp]) -> tuple[Factors, ...]:
    """The linear form of each dimension's index."""
    dims = []
    for i in indices:
        found: Factors = {}
        for term, factor in terms(i).items():
            if term is not None and term.op is Ops.RANGE:
                found[term] = None if term in found else factor
            elif term is not None:
                found |= dict.fromkeys(term.ranges)
        dims.append(found)
    return tuple(dims)


def strides_of(shape: Sequence) -> tuple[int | None, ...]:
    """The strides of a row-major array; None if one depends on a Variable."""
    sizes = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    return tuple(size if isinstance(size, int) else None for size in sizes)


def _stride(dims: tuple[Factors, ...], strides: tuple[int | None, ...], r: UOp) -> int | None:
    total = 0
    for d, stride in zip(dims, strides, strict=True):
        if r in d:
            factor = d[r]
            if factor is None or stride is None:
                return None
            total += factor * stride
    return total


def access(index: UOp, value: UOp | None = None) -> Access:
    """The Access of one INDEX."""
    return Access(factors(index.src[2:]), strides_of(index.arg), index, value)


def used_values(nodes: Iterable[UOp], outside: frozenset[UOp] = frozenset()) -> dict[UOp, UOp]:
    """LOAD -> the largest expression computed from it alone and from values that are invariant in
    all loops except `outside`: in A @ (B + 1) with float16 for A, a cast of A and B + 1. The LOAD
    itself if two different expressions of it are used, or none.

    nodes: of a kernel, sources first.
    """
    invariant: set[UOp] = set()  # in all loops except `outside`
    load_of: dict[UOp, UOp] = {}  # computed from one LOAD alone -> that LOAD
    ends: dict[UOp, set[UOp]] = {}  # LOAD -> the largest of these expressions
    for u in nodes:
        loads = {load_of[s] for s in u.src if s in load_of}
        if u.op not in CLOSED_INSIDE and not u.ranges - outside and invariant.issuperset(u.src):
            invariant.add(u)
        elif u.op is Ops.LOAD:
            load_of[u] = u
        elif u.op in GroupOp.Elementwise and len(loads) == 1:
            if all(s in load_of or s in invariant for s in u.src):
                (load_of[u],) = loads
        for s in u.src:
            if s in load_of and load_of[s] is not load_of.get(u):
                ends.setdefault(load_of[s], set()).add(s)
    return {load: next(iter(end)) if len(end) == 1 else load for load, end in ends.items()}


def covers_once(indices: Sequence[UOp], shape: Sequence) -> bool:
    """Whether these indices, over their ranges, cover each element of an array exactly once."""
    # with a Variable's size only one form is recognized: a RANGE of that very size
    for i, s in zip(indices, shape, strict=True):
        symbolic = any(map(is_symbolic, i.ranges)) or isinstance(s, UOp)
        if symbolic and not (i.op is Ops.RANGE and i.src[0] is s):
            return False
    largest = tuple(map(upper, shape))
    if any(t is None or t.op is not Ops.RANGE for i in indices for t in terms(i)):
        return False
    dims, strides = factors(indices), strides_of(largest)
    ranges = {r for d in dims for r in d}
    if any(axis_type(r) is AxisType.REDUCE for r in ranges):
        return False
    expected = 1
    for stride, count in sorted((_stride(dims, strides, r) or 0, extent(r)) for r in ranges):
        if stride != expected:
            return False
        expected *= count
    return expected == math.prod(largest)


@dataclass(frozen=True)
class Contraction:
    """A REDUCE and its two largest operands, each constant along a loop of results that the other
    varies along: so it is reused, read again in every iteration of that loop.

    How the two are combined does not matter. A matrix product is a contraction, and so are the L1
    distances between points, and shortest paths (a max of sums).
    """

    reduce: UOp
    a: Access
    b: Access

    @property
    def summed(self) -> tuple[UOp, ...]:
        """The ranges that are reduced."""
        return self.reduce.own_ranges

    @property
    def has_windows(self) -> bool:
        """Whether it is reduced over several loops, like a convolution, whose rows overlap."""
        return len(self.summed) > 1

    @property
    def work(self) -> int:
        """The number of values that are reduced in all."""
        return iterations((*self.reduce.ranges, *self.summed))


class AccessTable:
    """All reads and writes of a kernel (a SINK of STOREs)."""

    def __init__(self, sink: UOp) -> None:
        self.sink = sink
        self.nodes = sink.toposort()
        self.writes = [access(store.src[0]) for store in sink.src]
        written = {store.src[0] for store in sink.src}
        indices = [u for u in self.nodes if u.op is Ops.INDEX and u.src[0].op is Ops.DEFINE_GLOBAL]
        used = {load.src[0]: value for load, value in used_values(self.nodes).items()}
        self.reads = [access(u, used.get(u)) for u in indices if u not in written]
        self.reduces = [u for u in self.nodes if u.op is Ops.REDUCE]
        self._read_by: dict[UOp, list[Access]] = {}

    @functools.cached_property
    def contraction(self) -> Contraction | None:
        """The largest contraction of the kernel, which dominates its time."""
        found = filter(None, map(self.contraction_of, self.reduces))
        return max(found, key=lambda c: c.work, default=None)

    def contraction_of(self, reduce: UOp) -> Contraction | None:
        """This REDUCE as a contraction, if it is one."""
        # loops of results -> the largest operand along them; `reduce.ranges` are the loops around
        largest: dict[frozenset[UOp], Access] = {}
        for x in self.read_by(reduce.src[0]):
            around = x.ranges & reduce.ranges
            if around not in largest or x.elements > largest[around].elements:
                largest[around] = x
        pairs = [
            (largest[a], largest[b])
            for a, b in itertools.combinations(largest, 2)
            if not a <= b and not b <= a
        ]
        if not pairs:
            return None
        return Contraction(reduce, *max(pairs, key=lambda pair: sum(x.elements for x in pair)))

    def read_by(self, value: UOp) -> list[Access]:
        """The reads that a value is computed from directly, not those of a REDUCE inside it."""
        if value not in self._read_by:
            below = value.toposort(gate=lambda u: u.op not in (Ops.LOAD, Ops.REDUCE))
            loaded = {u.src[0] for u in below if u.op is Ops.LOAD}
            self._read_by[value] = [x for x in self.reads if x.index in loaded]
        return self._read_by[value]

    @functools.cached_property
    def work(self) -> int:
        """How often the most frequent operation runs, that is, one in the innermost loop."""
        counted = (u for u in self.nodes if u.op in _WORK)
        return max((iterations(self.around(u)) for u in counted), default=0)

    def around(self, u: UOp) -> frozenset[UOp]:
        """The ranges that a node runs in, its own included."""
        return u.ranges.union(u.own_ranges)
