"""Loop restructuring. Before a kernel is optimized, neighbouring loops are merged (collapsed),
loops whose index is divided are split, and equal reduce loops are fused. After it, loops end where
there is nothing left to add."""

from __future__ import annotations

import itertools
from collections import Counter

from tinyframe import thresholds
from tinyframe.algebra.access import access
from tinyframe.algebra.symbolic import from_terms, negated, terms, without_not
from tinyframe.codegen.linearize import repeated_reduces
from tinyframe.codegen.optimize.loops import replace_ranges, split_range
from tinyframe.dtype import dtypes
from tinyframe.schedule.ranges import order_ranges
from tinyframe.uop.evaluate import evaluate
from tinyframe.uop.node import (
    EXPANDED,
    THREADS,
    AxisType,
    Ops,
    UOp,
    axis_type,
    elements,
    extent,
    identity,
    index_dtype,
    is_symbolic,
    iterations,
    plain,
    rebuild,
    sources_first,
)


def merge_neighbours(sink: UOp) -> UOp:
    """Two loops that are contiguous everywhere become one: 28 x 28 pixels are 784.

    (y, x) becomes (p // 28, p % 28), and wherever these two are neighbouring dimensions of an
    INDEX, they become one dimension p. If a division is left anywhere, nothing is gained and the
    loops stay.
    """
    while True:
        pairs = (pair for u in sink.toposort() for pair in itertools.pairwise(u.own_ranges))
        merged = next((new for pair in pairs if (new := _merge(sink, *pair)) is not None), None)
        if merged is None:
            return sink
        sink = merged


def _merge(sink: UOp, outer: UOp, inner: UOp) -> UOp | None:
    if axis_type(outer) is not axis_type(inner) or is_symbolic(outer) or is_symbolic(inner):
        return None
    nodes = sink.toposort()
    if not all(_both_or_neither(u, outer, inner) for u in nodes if u.own_ranges):
        return None
    if not all(_contiguous(u, outer, inner) for u in nodes if u.op is Ops.INDEX):
        return None
    n = extent(inner)
    if index_dtype(extent(outer) * n) is not inner.dtype or outer.dtype is not inner.dtype:
        return None  # two short loops rather than a long one, whose index has 64 bits
    merged_range = UOp.range(extent(outer) * n, outer.arg[0], axis_type(outer))
    divisions = _divisions(sink)
    merged = replace_ranges(
        sink, {outer: merged_range // n, inner: merged_range % n}, _merge_dimensions
    )
    are_loops = all(r.op is Ops.RANGE for u in merged.toposort() for r in u.own_ranges)
    return merged if _divisions(merged) <= divisions and are_loops else None


def _both_or_neither(u: UOp, outer: UOp, inner: UOp) -> bool:
    """Whether a node closes both loops, one directly inside the other; or closes neither, and its
    value depends on both or on neither."""
    own = u.own_ranges
    if outer in own or inner in own:
        return (outer, inner) in itertools.pairwise(own)
    return (outer in u.ranges) == (inner in u.ranges)


def _contiguous(index: UOp, outer: UOp, inner: UOp) -> bool:
    """Whether the two loops are contiguous in memory: the stride of `outer` is that of `inner`
    times its length. True if a stride is unknown. (A quick check before the real attempt.)"""
    if index.ranges.isdisjoint((outer, inner)):
        return True
    found = access(index)
    far, near = found.step(outer), found.step(inner)
    return far is None or near is None or far == near * extent(inner)


def _divisions(root: UOp) -> int:
    """The number of divisions below a node."""
    return sum(u.op in (Ops.IDIV, Ops.MOD) for u in root.toposort())


def _merge_dimensions(u: UOp) -> UOp | None:
    """An INDEX with neighbouring dimensions merged if they are the quotient and the remainder
    of one expression."""
    if u.op is not Ops.INDEX or u.arg is None:
        return None
    ix, shape = list(u.src[2:]), list(u.arg)
    d = 0
    while d + 1 < len(ix):
        long = index_dtype(elements(shape[d : d + 2])) is dtypes.long
        divisions_apart = 0 if long else _divisions(ix[d]) + _divisions(ix[d + 1])
        merged_index = (ix[d] * shape[d + 1] + ix[d + 1]).simplify() if divisions_apart else ix[d]
        if divisions_apart > _divisions(merged_index):
            ix[d : d + 2], shape[d : d + 2] = [merged_index], [plain(shape[d] * shape[d + 1])]
        else:
            d += 1
    return None if len(ix) == len(u.src) - 2 else u.replace(src=(*u.src[:2], *ix), arg=tuple(shape))


def split_at_divisions(sink: UOp) -> UOp:
    """A loop whose index is divided becomes two: x.T.reshape(4, 24) of 12 columns reads at
    (p % 12, p // 12), and with p = outer*12 + inner there is no division left in its inner loop.

    Only if the size is a multiple of the divisor, and no other division replaces it.
    """
    tried: set[tuple[UOp, int]] = set()
    while found := next((place for place in _divided_loops(sink) if place not in tried), None):
        tried.add(found)
        split = split_range(sink, *found, axis_type(found[0])).simplify()
        if _divisions(split) < _divisions(sink):
            ordered = order_ranges(split)  # a reduce may depend on one of the two only
            if not repeated_reduces(ordered):
                sink = ordered
    return sink


def _divided_loops(sink: UOp) -> list[tuple[UOp, int]]:
    """Pairs of a loop whose index is divided, and a divisor that its length is a multiple of."""
    return [
        (r, n)
        for u in sink.toposort()
        if u.op in (Ops.IDIV, Ops.MOD)
        for r, n in [(u.src[0], u.src[1].arg)]
        if r.op is Ops.RANGE
        and u.src[1].op is Ops.CONST
        and not is_symbolic(r)
        and axis_type(r) is not AxisType.SERIAL
        and 1 < n < extent(r)
        and extent(r) % n == 0
    ]


def fuse_reduce_loops(sink: UOp) -> UOp:
    """Reduces of equal size inside the same loops run in one loop: they get the same RANGEs.

    That is legal unless one of the loops depends on a result of the other.
    """
    below: dict[UOp, frozenset[UOp]] = {}  # the reduces that a node is computed from
    nests: dict[tuple[UOp, ...], list[UOp]] = {}  # ranges -> the reduces over them
    for u in sink.toposort():
        below[u] = frozenset().union(
            *[below[s] for s in u.src], *[{s} for s in u.src if s.op is Ops.REDUCE]
        )
        if u.op is Ops.REDUCE:
            nests.setdefault(u.own_ranges, []).append(u)
    needs = {
        nest: {x.own_ranges for u in reduces for x in below[u]} for nest, reduces in nests.items()
    }
    fusable: dict[tuple, list[tuple[UOp, ...]]] = {}
    shared: dict[tuple[UOp, ...], tuple[UOp, ...]] = {}  # nest -> the one that it is fused into

    def needed_nests(nest: tuple[UOp, ...]) -> tuple[tuple[UOp, ...], ...]:
        """The loop nests that a nest needs; for a fused one, the nest that it is fused into."""
        return tuple({shared.get(n, n) for n in needs[nest]})

    for nest, reduces in nests.items():
        around = {u.ranges for u in reduces}
        holds_another = any(x.ranges & set(nest) for u in reduces for x in below[u])
        if len(around) > 1 or holds_another:
            continue
        others = fusable.setdefault((*around, tuple(r.src[0] for r in nest)), [])
        for other in others:
            needed = sources_first((*needed_nests(nest), *needed_nests(other)), needed_nests)
            if nest not in needed and other not in needed:
                shared[nest] = other
                needs[other] |= needs[nest]
                break
        else:
            others.append(nest)
    mapping = {r: s for nest, other in shared.items() for r, s in zip(nest, other, strict=True)}
    return replace_ranges(sink, mapping)


def shorten_reduces(sink: UOp, has_tiles: bool = False) -> UOp:
    """A sum over k of (2*k + phase < 3 ? x : 0), as in the gradient of windows that lie apart,
    becomes one of x over fewer k, if that saves many iterations.

    If x is itself a sum, each of the two loops has accumulators of its own, for all results of a
    thread. With the tiles of a GPU (`has_tiles`) those don't fit registers, so the sums become one.
    """
    owners = Counter(r for u in sink.toposort() for r in u.own_ranges)

    def shortened(old: UOp, u: UOp) -> UOp:
        if u.op is not Ops.REDUCE or u.src[0].op is not Ops.WHERE:
            return u
        condition, value, rest = u.src[0].src
        nothing = UOp.const(u.dtype, identity(u.arg, u.dtype))
        if value is nothing:
            condition, value, rest = negated(condition), rest, value
        if rest is nothing:
            for r in old.own_ranges:
                if owners[r] == 1 and (length := _length_under(condition, r)) is not None:
                    shorter = r.replace(src=(length,))
                    loops = u.own_ranges
                    if has_tiles and value.op is Ops.REDUCE and value.arg is u.arg:
                        loops, value = (*loops, *value.own_ranges), value.src[0]
                    return value.reduce(u.arg, *loops).substitute({r: shorter})
        return u

    return rebuild(sink, shortened)


_COUNTED = 4096  # iterations around a loop, whose lengths there are added up in a few milliseconds


def _length_under(condition: UOp, r: UOp) -> UOp | None:
    """How many iterations of a loop are left by a comparison of it with loops around it. None if
    the condition is another one, or saves too little."""
    comparison, holds = without_not(condition)
    if comparison.op is not Ops.CMPLT or comparison.src[0].dtype is not r.dtype:
        return None
    less, more = comparison.src if holds else comparison.src[::-1]
    parts = Counter(terms(less))
    parts.subtract(terms(more))
    step, least = parts.pop(r, 0), parts.pop(None, 0) - (not holds)
    kinds = (*EXPANDED, *THREADS)  # of which each copy, or thread, would have a length of its own
    loops = [u for u in (r, *parts) if u.op is Ops.RANGE and axis_type(u) not in kinds]
    count, cases = extent(r), iterations(loops[1:])
    if step <= 0 or len(loops) <= len(parts) or any(map(is_symbolic, loops)) or cases > _COUNTED:
        return None
    most = max(sum(abs(f) * (u.vmax if u is not None else 1) for u, f in terms(s).items())
               for s in (less, more))  # fmt: skip
    if most > r.dtype.max:  # the sum may wrap around
        return None
    room = from_terms({u: -f for u, f in parts.items()} | {None: step - 1 - least}, r.dtype)
    length = (room // step).maximum(0).minimum(count).simplify()
    every = itertools.product(*[range(extent(u)) for u in loops[1:]])
    left = sum(evaluate(length, dict(zip(loops[1:], case, strict=True))) for case in every)
    return length if left <= (1 - thresholds.SHORTER_BY) * count * cases else None
