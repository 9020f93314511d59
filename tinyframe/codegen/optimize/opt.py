"""An Opt, why one is refused, and how the RANGEs of a kernel are found, replaced and divided."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tinyframe.algebra.symbolic import all_of
from tinyframe.dtype import dtypes
from tinyframe.uop.node import (
    LOOPS,
    AxisType,
    Ops,
    UOp,
    axis_type,
    extent,
    fresh_number,
    identity,
    is_symbolic,
    plain,
    rebuild,
    sint,
)


class KernelOptError(Exception):
    """An Opt that is not legal for this kernel; the message says why."""


class OptOps(enum.Enum):
    SPLIT = enum.auto()
    REORDER = enum.auto()
    UPCAST = enum.auto()
    VECTOR = enum.auto()
    UNROLL = enum.auto()
    THREAD = enum.auto()
    STAGE = enum.auto()
    GLOBAL = enum.auto()
    LOCAL = enum.auto()
    GROUP = enum.auto()
    TENSOR_CORE = enum.auto()
    PIPELINE = enum.auto()

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


def axes(sink: UOp) -> list[UOp]:
    """The loops of a kernel in order: first around the stores, then of reduces; none of panels."""
    owners = [*sink.src, *[u for u in sink.toposort() if u.op is Ops.REDUCE]]
    return list(dict.fromkeys(r for u in owners for r in u.own_ranges if axis_type(r) in LOOPS))


def all_ranges(sink: UOp) -> list[UOp]:
    return [u for u in sink.toposort() if u.op is Ops.RANGE]


def has_kind(sink: UOp, *kinds: AxisType) -> bool:
    """Whether any RANGE of a kernel is of one of these kinds."""
    return any(axis_type(r) in kinds for r in all_ranges(sink))


def fresh_range(sink: UOp, size: sint, axis_type: AxisType, offset: int = 0) -> UOp:
    """A RANGE with an unused number."""
    return UOp.range(size, fresh_number(sink) + offset, axis_type)


def replace_ranges(
    root: UOp,
    mapping: dict[UOp, UOp],
    then: Callable[[UOp], UOp | None] = lambda u: None,
    new_owners: dict[UOp, tuple[UOp, ...]] | None = None,
) -> UOp:
    """Replaces each RANGE in `mapping` with an expression. A node that owned the range then owns
    the ranges in that expression, in the order given by `new_owners` if it has one. `then` may
    change a rebuilt node further."""
    order = new_owners or {}

    def change(old: UOp, u: UOp) -> UOp:
        if u is not old and old.own_ranges:
            owned: list[UOp] = []
            for r, new in zip(old.own_ranges, u.own_ranges, strict=True):
                # the size of one that stays may have changed
                below = order.get(r) or (mapping[r].toposort() if r in mapping else (new,))
                owned += [x for x in below if x.op is Ops.RANGE]
            u = u.with_ranges(*dict.fromkeys(owned))
        elif u is not old and u.op is Ops.SCAN:  # a part of its loop has become lanes
            found = [r for r in u.src[-1].toposort() if r.op is Ops.RANGE]
            found.sort(key=lambda r: axis_type(r) is AxisType.VECTOR)
            u = u.replace(src=(*u.src[:-1], *found))
        elif u is not old and u.op is Ops.INDEX:
            u = u.replace(src=(u.src[0], *[s.simplify() for s in u.src[1:]]))
        return u if (out := then(u)) is None else out

    return rebuild(root, change, dict(mapping))


def axis_of(sink: UOp, axis: int | tuple[int, ...], can_be_scans: bool = False) -> UOp:
    loops = axes(sink)
    if not isinstance(axis, int) or not 0 <= axis < len(loops):
        raise KernelOptError(
            f"there is no axis {axis}; the kernel has {len(loops)}: "
            + ", ".join(f"{n}: {axis_type(r).name} {extent(r)}" for n, r in enumerate(loops))
        )
    if axis_type(loops[axis]) is AxisType.SERIAL and not can_be_scans:
        raise KernelOptError(f"axis {axis} is a scan's: its iterations follow one another")
    return loops[axis]


def not_inside_a_copy(sink: UOp, r: UOp) -> None:
    """KernelOptError if a panel is filled inside this loop: there is one panel, and the lanes,
    copies or threads that the loop becomes would all fill it at once."""
    if any(u.op is Ops.STAGE and r in u.ranges for u in sink.toposort()):
        raise KernelOptError("an argument is copied inside this loop: apply STAGE after this Opt")


def is_0_beyond(value: UOp, r: UOp) -> bool:
    """Whether a value is 0 where all that is loaded along a loop is 0: it is a product of that."""
    if value.op in (Ops.MUL, Ops.CAST):
        return all(is_0_beyond(s, r) for s in value.src)
    return value.op is Ops.LOAD and r in value.ranges


def split_range(sink: UOp, r: UOp, n: int, inner_kind: AxisType) -> UOp:
    """r -> outer*n + inner, where the inner part is of kind `inner_kind`: SPLIT, UPCAST, VECTOR,
    UNROLL, LOCAL, GROUP.

    If n does not divide the size, the last tile is moved back so that it ends with the axis
    (`min(outer*n, size-n) + inner`): some results are computed twice, and nothing needs a guard. In
    a reduce, elements that were counted already become its identity. The excess is guarded instead
    if the kernel reads what it writes, so that it must not compute twice, if the size is below n,
    as a Variable's may be, or if a SPLIT's loop sums products, which are 0 beyond its end anyway.
    """
    size, symbolic = extent(r), is_symbolic(r)
    inner = fresh_range(sink, n, inner_kind)
    if size == n and not symbolic:
        return replace_ranges(sink, {r: inner})
    tiles = (r.src[0] + (n - 1)) // n if symbolic else -(-size // n)
    # the outer loop keeps the number of `r`
    outer = UOp.range(plain(tiles), r.arg[0], axis_type(r))
    owned: dict[UOp, tuple[UOp, ...]] = {r: (outer, inner) if size > n else (inner,)}
    lane = inner.cast(r.dtype)
    start = outer.cast(r.dtype) * n if size > n else lane.const_like(0)
    index = start + lane
    if size % n == 0 and not symbolic:
        return replace_ranges(sink, {r: index}, new_owners=owned)
    written = {s.src[0].src[0] for s in sink.src}
    in_place = any(u.op is Ops.LOAD and u.src[0].src[0] in written for u in sink.toposort())
    if inner_kind is AxisType.LOCAL:  # nor may two threads store the values for a place in turn
        in_place |= any(u.op is Ops.LOAD for s in sink.src for u in s.src[0].toposort())
    reduces = [u for u in sink.toposort() if u.op is Ops.REDUCE and r in u.own_ranges]
    vanishes = inner_kind is AxisType.REDUCE and all(
        u.arg is Ops.ADD and is_0_beyond(u.src[0], r) for u in reduces
    )
    if size > n and not symbolic and not in_place and not vanishes:
        index = lane - (-start).maximum(n - size)  # the smaller of start and size - n
        counted, exists = index < start, UOp.const(dtypes.bool, True)
    else:
        exists = index < r.src[0]
        counted = exists.logical_not()
    counted, index = counted.simplify(), index.simplify()

    def then(u: UOp) -> UOp | None:
        if u.op is Ops.REDUCE and inner in u.own_ranges and not vanishes:
            neutral = u.src[0].const_like(identity(u.arg, u.dtype))
            return u.replace(src=(counted.where(neutral, u.src[0]), *u.src[1:]))
        if u.op is Ops.INDEX and inner in u.ranges:
            return u.replace(src=(u.src[0], all_of([u.src[1], exists]), *u.src[2:]))
        return None

    return replace_ranges(sink, {r: index}, then, owned)
