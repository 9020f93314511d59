"""STAGE: the part of an argument that some loops read is first copied to a panel, in reading order.

    for j:                                        for j:
      for i:                                        for k: panel[k] = b[k, j]
        for k: acc += a[i, k] * b[k, j]             for i:
        c[i, j] = acc                                 for k: acc += a[i, k] * panel[k]
                                                      c[i, j] = acc

The panel holds the *footprint* of the loops, a box of indices (Halide's bounds inference:
Ragan-Kelley et al., 2013, section 4.2): in each dimension of the argument, the bounds of the part
of the index that varies inside. Ranges that a dimension adds up (y + ky in a convolution) become
one axis of the box. The condition of a padding is evaluated once, in the copy, and so is anything
computed from one element alone: in A @ (B + 1) the panel holds B + 1, and for a float16 product it
holds float32.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from tinyframe.algebra.access import CLOSED_INSIDE, used_values
from tinyframe.algebra.symbolic import all_of, conjuncts, from_terms, terms
from tinyframe.codegen.optimize.opt import (
    KernelOptError,
    Opt,
    axes,
    axis_of,
    fresh_range,
    replace_ranges,
)
from tinyframe.dtype import AddrSpace
from tinyframe.uop.node import LOOPS, AxisType, Ops, UOp, axis_type, extent, is_symbolic


def stage(sink: UOp, opt: Opt) -> UOp:
    """Copies the part of argument `arg` that the loops inside `axis` read; -1 is outside of all.

    A panel belongs to one block of threads, so the threads of a block count as inside and the grid
    as outside, wherever they are in the order. The loop of a reduce may be outside too: a long sum
    then uses one panel for each part of it.
    """
    axis, slot = opt.axis, opt.arg
    if axis != -1:
        axis_of(sink, axis)
    assert isinstance(axis, int)
    loops = axes(sink)
    threads = {r for r in loops if axis_type(r) in (AxisType.LOCAL, AxisType.WARP)}
    outside = frozenset(
        {r for n, r in enumerate(loops) if n <= axis or axis_type(r) is AxisType.GLOBAL} - threads
    )
    load = only_load(sink, slot)
    memory, valid, *ix = load.src[0].src
    moving, panel = footprint(sink, load.src[0], outside)
    if not panel:
        raise KernelOptError(f"the index of argument {slot} does not vary inside axis {axis}")
    loops, copied = copy_loops(sink, panel)
    # the box may be larger than the part that is read, and extend beyond the argument
    shape = load.src[0].arg
    ends = {(i < size).simplify() for i, size in zip(ix, shape, strict=True)}
    # other conditions move into the copy; those about a different index stay with the reader
    found = (c for c in conjuncts(valid) if c not in ends)
    guards = {c: moved_condition(c, outside, moving, copied) for c in found}
    once = [moved for moved in guards.values() if moved is not None]
    kept = [c for c, moved in guards.items() if moved is None]
    places = [
        (i - moving[d] + copied[d]).simplify() if d in copied else i for d, i in enumerate(ix)
    ]
    once += [(i >= 0) & (i < size) for i, size in zip(places, shape, strict=True)]
    copy = memory.index(*places, valid=all_of(once), shape=shape)
    # if a reader's condition fails it gets 0, and values computed from that 0 still matter
    used = load if kept else used_values(sink.toposort(), outside)[load]
    place = (
        used.substitute({load: copy.load()})
        .stage(AddrSpace.LOCAL, *loops)
        .index(
            *[(axis.value - axis.value.vmin).simplify() for axis in panel],
            valid=all_of(kept),
            shape=tuple(axis.size for axis in panel),
        )
    )
    return replace_ranges(sink, {used: place.load()})


def only_load(sink: UOp, slot: int) -> UOp:
    """The only LOAD of an argument. KernelOptError if the argument cannot be copied."""
    nodes = sink.toposort()
    found = [u for u in nodes if u.op is Ops.LOAD and u.src[0].src[0].op is Ops.DEFINE_GLOBAL]
    loads = [u for u in found if u.src[0].src[0].arg == slot]
    if not loads:
        raise KernelOptError(f"argument {slot} is not read")
    if any(s.src[0].src[0].arg == slot for s in sink.src):
        raise KernelOptError(f"argument {slot} is written by the kernel")
    if len(loads) > 1:
        raise KernelOptError(f"argument {slot} is read in {len(loads)} different ways")
    copied = [u.src[0] for u in nodes if u.op is Ops.STAGE]
    if any(loads[0] in value.toposort(lambda u: u.op not in CLOSED_INSIDE) for value in copied):
        raise KernelOptError(f"argument {slot} is copied already")
    if any(u.op is Ops.LOAD for i in loads[0].src[0].src[2:] for u in i.toposort()):
        raise KernelOptError(f"argument {slot} is indexed with values read from memory")
    return loads[0]


# ---- footprint: the box that is read ------------------------------------------------------------


@dataclass(frozen=True)
class Axis:
    """An axis of a panel: `value * scale` is a part of the index in dimension `dim`.

    A dimension that is read in tiles, tile*6 + row, has two axes: the panel is [tile][k][row], not
    [k][tile*6 + row], so that what one tile reads is contiguous.
    """

    dim: int
    value: UOp
    scale: int = 1

    @property
    def size(self) -> int:
        low, high = self.value.bounds
        return high - low + 1


def footprint(sink: UOp, index: UOp, outside: frozenset[UOp]) -> tuple[list[UOp], list[Axis]]:
    """The box that is read inside some loops: for each dimension of the argument the part of its
    index that varies inside, and the axes of the panel in reading order.

    outside: the loops around the copy. KernelOptError if that is not a box, or its size is a
    Variable.
    """
    inside = [r for r in reading_order(sink) if r in index.ranges and r not in outside]
    ix = index.src[2:]
    if any(
        t.ranges & outside and t.ranges - outside for i in ix for t in terms(i) if t is not None
    ):
        raise KernelOptError("an index mixes loops inside and outside in one term")
    if any(map(is_symbolic, inside)):
        slot = index.src[0].arg
        raise KernelOptError(f"the size of the part that is read of argument {slot} is a Variable")
    moving = [
        from_terms(
            {t: f for t, f in terms(i).items() if t is not None and t.ranges - outside}, i.dtype
        )
        for i in ix
    ]
    position = {r: n for n, r in enumerate(inside)}
    tiles, others = [], []
    for d, m in enumerate(moving):
        *tile, rest = _axes_of(d, m)
        tiles += tile
        others += [rest] if m.ranges else []
    runs = {r for u in sink.toposort() if u.op is Ops.MMA for r in u.own_ranges
            if axis_type(r) is AxisType.VECTOR and r in index.ranges}  # fmt: skip
    is_narrow = bool(runs) and index.src[0].dtype.base.itemsize == 2
    if is_narrow:
        last = max(others, key=lambda axis: axis.dim).value.ranges
        kinds = set(map(axis_type, last))
        if AxisType.WARP in kinds and AxisType.REDUCE not in kinds:
            runs = set(last)

    def rank(axis: Axis) -> tuple[bool, int]:
        """By reading order. But for an MMA a run is contiguous: its axis comes last. Elements of 16
        bits are in the order of the argument instead, and what is contiguous there comes last, if
        that is whole rows (see FRAGMENT)."""
        ranges = axis.value.ranges
        place = axis.dim if is_narrow else min(position[r] for r in ranges)
        return not ranges.isdisjoint(runs), place

    others.sort(key=rank)
    return moving, [*tiles, *others]


def _axes_of(d: int, moving: UOp) -> list[Axis]:
    """The axes of one dimension: two if it is tile*n + (a copy or lane below n)."""
    ts = terms(moving)
    loops = [t for t in ts if t is not None and t.op is Ops.RANGE and axis_type(t) is AxisType.LOOP]
    if len(loops) == 1 and len(ts) > 1:
        (tile,) = loops
        rest = from_terms({t: f for t, f in ts.items() if t is not tile}, moving.dtype)
        no_loops = all(axis_type(r) not in LOOPS for r in rest.ranges)
        if no_loops and rest.ranges and rest.vmin == 0 and rest.vmax < ts[tile]:
            return [Axis(d, tile, ts[tile]), Axis(d, rest)]
    return [Axis(d, moving)]


def reading_order(sink: UOp) -> list[UOp]:
    """All ranges in the order in which they are iterated: loops, copies, lanes."""
    rank = {AxisType.UPCAST: 1, AxisType.UNROLL: 1, AxisType.VECTOR: 2}
    around = [r for s in sink.src for r in s.own_ranges]
    inside = [r for u in sink.toposort() if u.op in CLOSED_INSIDE for r in u.own_ranges]
    return sorted(dict.fromkeys((*inside, *around)), key=lambda r: rank.get(axis_type(r), 0))


# ---- the loops that copy ------------------------------------------------------------------------


def copy_loops(sink: UOp, panel: list[Axis]) -> tuple[list[UOp], dict[int, UOp]]:
    """Loops over the panel, in reading order; and for each dimension the index, in terms of these
    loops, that replaces the varying part. If the last axis is read as lanes, it is copied as
    lanes."""
    counter = itertools.count()
    loops: list[UOp] = []
    copied: dict[int, UOp] = {}
    for axis in panel:
        n, parts = axis.size, [t for t in terms(axis.value) if t is not None]
        lanes = (extent(t) for t in parts if t.op is Ops.RANGE and axis_type(t) is AxisType.VECTOR)
        width = next(lanes, 1)
        if width > 1 and n % width == 0 and axis is panel[-1]:
            lane = fresh_range(sink, width, AxisType.VECTOR, next(counter))
            loop = fresh_range(sink, n // width, AxisType.LOOP, next(counter))
            loops += [loop, lane] if n > width else [lane]
            place = (loop * width if n > width else lane.const_like(0)) + lane
        else:
            loops.append(place := fresh_range(sink, n, AxisType.LOOP, next(counter)))
        there = (place + axis.value.vmin) * axis.scale
        copied[axis.dim] = copied[axis.dim] + there if axis.dim in copied else there
    return loops, copied


# ---- conditions ---------------------------------------------------------------------------------


def moved_condition(
    c: UOp, outside: frozenset[UOp], moving: list[UOp], copied: dict[int, UOp]
) -> UOp | None:
    """A condition of the argument's INDEX in terms of the loops that copy; None if it is about a
    different index."""
    rewritten: dict[UOp, UOp] = {}
    for comparison in [u for u in c.toposort() if u.op is Ops.CMPLT]:
        left, right = comparison.src
        for d, sign in itertools.product(copied, (1, -1)):
            rest = (left - right - moving[d] * sign).simplify()
            if not rest.ranges - outside:
                rewritten[comparison] = (rest + copied[d] * sign).simplify() < 0
    moved = c.substitute(rewritten).simplify()
    available = outside.union(*[new.ranges for new in copied.values()])
    return None if moved.ranges - available else moved
