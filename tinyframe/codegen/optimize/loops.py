"""Loop primitives: a kernel's schedule is a list of `Opt`s, each a small checked rewrite of RANGEs.

    Opt(OptOps.VECTOR, 1, 16)      axis 1 in vectors of 16 lanes
    Opt(OptOps.UPCAST, 0, 8)       8 rows of axis 0 at a time, in registers
    Opt(OptOps.REORDER, (1, 0, 2)) axis 1 outermost
    Opt(OptOps.THREAD, 0)          the outermost loop divided among cores
    Opt(OptOps.STAGE, 0, 2)        what is read of argument 2 inside axis 0 is copied first

An axis is a position in `axes(kernel)`: the loops around the stores, outermost first, then the
loops of reduces. A new inner loop that is really a loop (SPLIT) stands right after its outer one;
the copies and lanes of UPCAST, VECTOR and UNROLL are no loops any more and have no position.

What is illegal raises KernelOptError and says why. Nothing else changes a loop.
"""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tinyframe.algebra.symbolic import all_of, conjuncts, from_terms, terms
from tinyframe.codegen.linearize import loop_tree, repeated_reduces
from tinyframe.dtype import AddrSpace, dtypes
from tinyframe.uop.node import FIRST_RANGE, AxisType, Ops, UOp
from tinyframe.uop.range import LOOPS, identity, is_symbolic, kind, length


class KernelOptError(Exception):
    """An Opt that cannot be applied to this kernel; the message says why."""


class OptOps(enum.Enum):
    SPLIT = enum.auto()
    REORDER = enum.auto()
    UPCAST = enum.auto()
    VECTOR = enum.auto()
    UNROLL = enum.auto()
    THREAD = enum.auto()
    STAGE = enum.auto()

    def __repr__(self) -> str:
        return f"OptOps.{self.name}"


@dataclass(frozen=True)
class Opt:
    """One loop primitive; `arg` is its size, or for STAGE the kernel's argument (slot) to copy."""

    op: OptOps
    axis: int | tuple[int, ...]
    arg: Any = None

    def __repr__(self) -> str:
        return f"Opt({self.op}, {self.axis}{'' if self.arg is None else f', {self.arg}'})"


# more copies of a statement than this only make the compiler slow
MOST_COPIES = 256


def axes(sink: UOp) -> list[UOp]:
    """The loops of a kernel in order: around the stores, then of reduces, not those of copies."""
    around = [r for s in sink.src for r in s.own_ranges]
    inside = [r for u in sink.toposort() if u.op is Ops.REDUCE for r in u.own_ranges]
    return list(dict.fromkeys(r for r in (*around, *inside) if kind(r) in LOOPS))


def all_ranges(sink: UOp) -> list[UOp]:
    return [u for u in sink.toposort() if u.op is Ops.RANGE]


def fresh_range(sink: UOp, size: int, axis_type: AxisType, offset: int = 0) -> UOp:
    """A RANGE whose number no other range of the kernel has."""
    return UOp.range(
        size, 1 + offset + max((r.arg[0] for r in all_ranges(sink)), default=-1), axis_type
    )


def replace_ranges(
    root: UOp,
    mapping: dict[UOp, UOp],
    also: Callable[[UOp], UOp | None] = lambda u: None,
    owned_instead: dict[UOp, tuple[UOp, ...]] | None = None,
) -> UOp:
    """Puts an expression in place of each RANGE of `mapping`. Who owned the range owns the ranges
    in that expression, in the order of `owned_instead` where it has one. `also` may change a
    rebuilt node further."""
    order = owned_instead or {}
    done = dict(mapping)
    for u in root.toposort():
        if u in mapping:
            continue
        src = tuple([done[s] for s in u.src])
        if src == u.src:
            done[u] = u if (out := also(u)) is None else out
            continue
        if u.op in FIRST_RANGE:
            first = FIRST_RANGE[u.op]
            owned = []
            for s in u.src[first:]:
                below = order.get(s) or (done[s].toposort() if s in mapping else (done[s],))
                owned += [r for r in below if r.op is Ops.RANGE]
            src = src[:first] + tuple(dict.fromkeys(owned))
        elif u.op is Ops.INDEX:
            src = src[:1] + tuple(s.simplify() for s in src[1:])
        new = UOp(u.op, u.dtype, src, u.arg, u.tag)
        done[u] = new if (out := also(new)) is None else out
    return done[root]


# ---- the primitives ---------------------------------------------------------------------------


def apply_opts(sink: UOp, opts: Iterable[Opt]) -> UOp:
    """The kernel with each Opt applied in turn. Raises KernelOptError where one is illegal."""
    for opt in opts:
        sink = apply_opt(sink, opt)
    return sink


def apply_opt(sink: UOp, opt: Opt) -> UOp:
    try:
        out = _primitives[opt.op](sink, opt)
        check_reduces_run_once(sink, out)
        return out
    except KernelOptError as error:
        raise KernelOptError(f"{opt}: {error}") from None


def check_reduces_run_once(before: UOp, after: UOp) -> None:
    """Raises KernelOptError if a change makes a reduce run more often than it has results."""
    for again in repeated_reduces(after, loop_tree(after)).values():
        if not repeated_reduces(before, loop_tree(before)):
            times = math.prod(map(length, again))
            raise KernelOptError(f"a reduce would run {times} times for each of its results")


def _axis(sink: UOp, axis: int | tuple[int, ...]) -> UOp:
    loops = axes(sink)
    if not isinstance(axis, int) or not 0 <= axis < len(loops):
        raise KernelOptError(
            f"there is no axis {axis}; the kernel has {len(loops)}: "
            + ", ".join(f"{n}: {kind(r).name} {length(r)}" for n, r in enumerate(loops))
        )
    return loops[axis]


def _size(r: UOp, arg: Any) -> int:
    """The wanted size of the inner part; 0 stands for all of it."""
    if is_symbolic(r):
        raise KernelOptError("its size is a Variable")
    if not isinstance(arg, int) or arg < 0:
        raise KernelOptError(f"the size must be a whole number, not {arg!r}")
    return arg or length(r)


def divide(sink: UOp, r: UOp, n: int, inner_kind: AxisType) -> UOp:
    """r -> outer*n + inner, the inner part of another kind: SPLIT, UPCAST, VECTOR, UNROLL.

    Where n does not divide the size, the last tile is moved back so that it ends with the axis
    (`min(outer*n, size-n) + inner`): some results are computed twice, and nothing needs a guard. In
    a reduce, elements that were counted already become its identity. A kernel that reads what it
    writes must not compute twice, and a size below n leaves no room: there the excess is guarded.
    """
    size = length(r)
    inner = fresh_range(sink, n, inner_kind)
    if size == n:
        return replace_ranges(sink, {r: inner})
    outer = fresh_range(sink, -(-size // n), kind(r), 1)
    owned: dict[UOp, tuple[UOp, ...]] = {r: (outer, inner) if size > n else (inner,)}
    lane = inner.cast(r.dtype)
    start = outer.cast(r.dtype) * n if size > n else lane.const_like(0)
    index = start + lane
    if size % n == 0:
        return replace_ranges(sink, {r: index}, owned_instead=owned)
    if size > n and not _in_place(sink):
        index = lane - (-start).maximum(n - size)  # the smaller of start and size - n
        counted = index < start
        guards: list[UOp] = []
    else:
        counted = (index < size).logical_not()
        guards = [index < size]
    counted, index = counted.simplify(), index.simplify()

    def also(u: UOp) -> UOp | None:
        if u.op is Ops.REDUCE and inner in u.own_ranges:
            nothing = u.src[0].const_like(identity(u.arg, u.dtype))
            return u.replace(src=(counted.where(nothing, u.src[0]), *u.src[1:]))
        if u.op is Ops.INDEX and guards and inner in u.ranges:
            return u.replace(src=(u.src[0], all_of([u.src[1], *guards]), *u.src[2:]))
        return None

    return replace_ranges(sink, {r: index}, also, owned)


def _in_place(sink: UOp) -> bool:
    written = {s.src[0].src[0] for s in sink.src}
    return any(u.op is Ops.LOAD and u.src[0].src[0] in written for u in sink.toposort())


def _split(sink: UOp, opt: Opt) -> UOp:
    r = _axis(sink, opt.axis)
    n = _size(r, opt.arg)
    if not 1 < n < length(r):
        raise KernelOptError(f"cannot split {length(r)} iterations into groups of {n}")
    if kind(r) is AxisType.THREAD:
        raise KernelOptError(
            f"axis {opt.axis} is divided among cores already: SPLIT it before THREAD"
        )
    return divide(sink, r, n, kind(r))


def _no_copy_inside(sink: UOp, r: UOp) -> None:
    """Lanes and register copies of a loop would write to the one panel that is filled inside it."""
    if any(u.op is Ops.STAGE and r in u.ranges for u in sink.toposort()):
        raise KernelOptError("an argument is copied inside this loop: STAGE comes after")


def _count_copies(sink: UOp) -> int:
    return math.prod(
        length(r) for r in all_ranges(sink) if kind(r) in (AxisType.UPCAST, AxisType.UNROLL)
    )


def _upcast(sink: UOp, opt: Opt) -> UOp:
    """Copies in registers; what does not depend on the range stays shared: a register tile."""
    r = _axis(sink, opt.axis)
    n = _size(r, opt.arg)
    if kind(r) is AxisType.REDUCE:
        raise KernelOptError(f"axis {opt.axis} is a reduce's: UNROLL it, or give it VECTOR lanes")
    if kind(r) is not AxisType.LOOP:
        raise KernelOptError(f"axis {opt.axis} is a {kind(r).name} axis already")
    if _count_copies(sink) * n > MOST_COPIES:
        raise KernelOptError(f"{_count_copies(sink) * n} copies; at most {MOST_COPIES} are allowed")
    _no_copy_inside(sink, r)
    return divide(sink, r, n, AxisType.UPCAST)


def _unroll(sink: UOp, opt: Opt) -> UOp:
    """The inner part of a reduce becomes straight-line code."""
    r = _axis(sink, opt.axis)
    n = _size(r, opt.arg)
    if kind(r) is not AxisType.REDUCE:
        raise KernelOptError(f"axis {opt.axis} is no reduce: UPCAST it")
    if _count_copies(sink) * n > MOST_COPIES:
        raise KernelOptError(f"{_count_copies(sink) * n} copies; at most {MOST_COPIES} are allowed")
    return divide(sink, r, n, AxisType.UNROLL)


def _vector(sink: UOp, opt: Opt) -> UOp:
    """The inner part becomes the lanes of a vector."""
    r = _axis(sink, opt.axis)
    n = _size(r, opt.arg)
    if n & (n - 1) or not 2 <= n <= 64:
        raise KernelOptError(f"vectors have 2, 4, 8, 16, 32 or 64 lanes, not {n}")
    if kind(r) not in (AxisType.LOOP, AxisType.REDUCE):
        raise KernelOptError(f"axis {opt.axis} is a {kind(r).name} axis already")
    _no_copy_inside(sink, r)
    out = divide(sink, r, n, AxisType.VECTOR)
    for u in out.toposort():
        lanes = [x for x in u.ranges if kind(x) is AxisType.VECTOR]
        owned = (
            [x for x in u.own_ranges if kind(x) is AxisType.VECTOR] if u.op in FIRST_RANGE else []
        )
        if len(lanes) > 1 or len(owned) > 1 or (u.op is Ops.REDUCE and lanes and owned):
            raise KernelOptError("a value would have lanes along two axes")
    return out


def _thread(sink: UOp, opt: Opt) -> UOp:
    """The range is divided among cores."""
    r = _axis(sink, opt.axis)
    if kind(r) is not AxisType.LOOP:
        raise KernelOptError(
            f"axis {opt.axis} is a {kind(r).name} axis: only a loop around all stores can be "
            "divided among cores"
        )
    if r.dtype is not dtypes.int:
        raise KernelOptError(
            f"a loop of {length(r)} is longer than a launch can count: SPLIT axis {opt.axis} first"
        )
    if any(kind(x) is AxisType.THREAD for x in all_ranges(sink)):
        raise KernelOptError("the kernel has a THREAD axis already")
    # copies and lanes of what was a loop around it are in its way no more
    outermost = [next(x for x in s.own_ranges if kind(x) in LOOPS) for s in sink.src]
    if any(first is not r for first in outermost):
        raise KernelOptError(
            f"axis {opt.axis} is not the outermost loop of every store (REORDER it there)"
        )
    return replace_ranges(sink, {r: r.replace(arg=(r.arg[0], AxisType.THREAD))})


def _reorder(sink: UOp, opt: Opt) -> UOp:
    """The loops in another order: `axis` is a permutation of them."""
    loops = axes(sink)
    order = opt.axis
    if not isinstance(order, tuple) or sorted(order) != list(range(len(loops))):
        raise KernelOptError(f"the order must name each of the axes 0...{len(loops) - 1} once")
    place = {loops[n]: position for position, n in enumerate(order)}
    last = len(loops)

    def also(u: UOp) -> UOp | None:
        if u.op in (Ops.REDUCE, Ops.STORE):
            first = FIRST_RANGE[u.op]
            owned = tuple(sorted(u.own_ranges, key=lambda r: place.get(r, last)))
            return u.replace(src=u.src[:first] + owned) if owned != u.own_ranges else None
        return None

    return replace_ranges(sink, {}, also)


# ---- STAGE: the box of what is read inside ------------------------------------------------------


def _stage(sink: UOp, opt: Opt) -> UOp:
    """What the loops inside `axis` read of argument `arg` is first copied, in reading order.

    Axis -1 is outside of all loops. The copy is the box of the indices: per dimension, the part of
    the index that changes inside, by its bounds. Ranges that a dimension adds up (y + ky in a
    convolution) become one axis of the box, and the condition of a padding is paid once, in the
    copy.
    """
    loops = axes(sink)
    if opt.axis != -1 and kind(_axis(sink, opt.axis)) is AxisType.REDUCE:
        raise KernelOptError("only what is inside a loop around the stores can be copied")
    assert isinstance(opt.axis, int)
    outside = set(loops[: opt.axis + 1])
    loads = [
        u
        for u in sink.toposort()
        if u.op is Ops.LOAD
        and u.src[0].src[0].op is Ops.DEFINE_GLOBAL
        and u.src[0].src[0].arg == opt.arg
    ]
    if not loads:
        raise KernelOptError(f"argument {opt.arg} is not read")
    if any(s.src[0].src[0].arg == opt.arg for s in sink.src):
        raise KernelOptError(f"argument {opt.arg} is written by the kernel")
    if len(loads) > 1:
        raise KernelOptError(f"argument {opt.arg} is read in {len(loads)} different ways")
    if any(u.op is Ops.STAGE and loads[0] in u.src[0].toposort() for u in sink.toposort()):
        raise KernelOptError(f"argument {opt.arg} is copied already")
    (load,), (index,) = loads, [u.src[0] for u in loads]
    buffer, valid, *ix = index.src
    if any(u.op is Ops.LOAD for i in ix for u in i.toposort()):
        raise KernelOptError(f"argument {opt.arg} is read at places that are themselves read")
    inside = [r for r in _reading_order(sink) if r in index.ranges and r not in outside]
    moving = [
        from_terms(
            {
                t: f
                for t, f in terms(i).items()
                if t is not None and t.ranges and not t.ranges & outside
            },
            i.dtype,
        )
        for i in ix
    ]
    if any(
        (t.ranges & outside) and (t.ranges - outside) for i in ix for t in terms(i) if t is not None
    ):
        raise KernelOptError("an index mixes loops inside and outside in one term")
    position = {r: n for n, r in enumerate(inside)}
    box = sorted(
        (d for d, m in enumerate(moving) if m.ranges),
        key=lambda d: min(position[r] for r in moving[d].ranges),
    )
    if any(map(is_symbolic, inside)):
        raise KernelOptError(f"how much is read of argument {opt.arg} is a Variable")
    if not box:
        raise KernelOptError(
            f"what is read of argument {opt.arg} does not change inside axis {opt.axis}"
        )
    counter = iter(range(len(ix) * 2))
    own: list[UOp] = []
    copied: dict[int, UOp] = {}
    sizes: dict[int, int] = {}
    for d in box:
        low, high = moving[d].bounds
        sizes[d] = n = high - low + 1
        lanes = [
            t
            for t in terms(moving[d])
            if t is not None and t.op is Ops.RANGE and kind(t) is AxisType.VECTOR
        ]
        width = length(lanes[0]) if lanes else 1
        if width > 1 and n % width == 0 and d == box[-1]:
            lane = fresh_range(sink, width, AxisType.VECTOR, next(counter))
            loop = fresh_range(sink, n // width, AxisType.LOOP, next(counter))
            own += [loop, lane] if n > width else [lane]
            copied[d] = (loop * width if n > width else lane.const_like(0)) + lane + low
        else:
            own.append(loop := fresh_range(sink, n, AxisType.LOOP, next(counter)))
            copied[d] = loop + low
    there = {d: (ix[d] - moving[d] + copied[d]).simplify() for d in box}
    conditions: list[UOp] = []
    kept: list[UOp] = []
    for c in conjuncts(valid):
        if not (c.ranges - outside):
            conditions.append(c)
        else:
            moved = _moved_condition(c, moving, copied, outside)
            (conditions if moved is not None else kept).append(c if moved is None else moved)
    # the box may be larger than what is read of it, and reach out of the argument
    conditions += [(i >= 0) & (i < index.arg[d]) for d, i in there.items()]
    copy = buffer.index(
        *[there.get(d, i) for d, i in enumerate(ix)], valid=all_of(conditions), shape=index.arg
    )
    panel = copy.load().stage(AddrSpace.LOCAL, *own)
    place = panel.index(
        *[(moving[d] - moving[d].vmin).simplify() for d in box],
        valid=all_of(kept),
        shape=tuple(sizes[d] for d in box),
    )
    return replace_ranges(sink, {load: place.load()})


def _reading_order(sink: UOp) -> list[UOp]:
    """All ranges in the order in which a reader runs through them: loops, copies, lanes."""
    rank = {AxisType.UPCAST: 1, AxisType.UNROLL: 1, AxisType.VECTOR: 2}
    around = [r for s in sink.src for r in s.own_ranges]
    inside = [r for u in sink.toposort() if u.op is Ops.REDUCE for r in u.own_ranges]
    return sorted(dict.fromkeys((*inside, *around)), key=lambda r: rank.get(kind(r), 0))


def _moved_condition(
    c: UOp, moving: list[UOp], copied: dict[int, UOp], outside: set[UOp]
) -> UOp | None:
    """A condition on indices, said of the copy's own; None where it is about another index."""
    said: dict[UOp, UOp] = {}
    for comparison in [u for u in c.toposort() if u.op is Ops.CMPLT]:
        left, right = comparison.src
        for d, sign in itertools.product(copied, (1, -1)):
            rest = (left - right - moving[d] * sign).simplify()
            if not rest.ranges - outside:
                said[comparison] = (rest + copied[d] * sign).simplify() < 0
    moved = c.substitute(said).simplify()
    allowed = outside.union(*[new.ranges for new in copied.values()])
    return None if moved.ranges - allowed else moved


_primitives: dict[OptOps, Callable[[UOp, Opt], UOp]] = {
    OptOps.SPLIT: _split,
    OptOps.REORDER: _reorder,
    OptOps.UPCAST: _upcast,
    OptOps.VECTOR: _vector,
    OptOps.UNROLL: _unroll,
    OptOps.THREAD: _thread,
    OptOps.STAGE: _stage,
}
