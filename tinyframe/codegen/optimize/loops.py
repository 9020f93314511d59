"""Loop primitives: a kernel's schedule is a list of `Opt`s, each a small checked rewrite of RANGEs.

    Opt(OptOps.VECTOR, 1, 16)      axis 1 in vectors of 16 lanes
    Opt(OptOps.UPCAST, 0, 8)       8 rows of axis 0 at a time, in registers
    Opt(OptOps.REORDER, (1, 0, 2)) axis 1 outermost
    Opt(OptOps.THREAD, 0)          the outermost loop divided among cores
    Opt(OptOps.STAGE, 0, 2)        the part of argument 2 read inside axis 0 is copied first
    Opt(OptOps.GLOBAL, 0)          the loop becomes an axis of the grid of blocks (GPU)
    Opt(OptOps.LOCAL, 0, 16)       16 iterations at once, by the threads of a block (GPU)
    Opt(OptOps.GROUP, 2, 32)       32 threads of a block share a reduce (GPU)
    Opt(OptOps.TENSOR_CORE, (0, 1, 2))  rows 0, columns 1 and sum 2 in tiles for tensor cores (GPU)
    Opt(OptOps.PIPELINE, 2, 2)     the loop keeps 2 of its panels: one is filled, one used (GPU)

An axis is a position in `axes(kernel)`: the loops around the stores, outermost first, then the
loops of reduces. The inner loop that a SPLIT makes comes right after its outer one; the copies and
lanes of UPCAST, VECTOR and UNROLL are not loops any more and have no position.

An illegal Opt raises a KernelOptError that says why. Nothing but Opts changes a loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from tinyframe import thresholds
from tinyframe.algebra.symbolic import terms
from tinyframe.codegen.linearize import repeated_reduces
from tinyframe.codegen.optimize.opt import (
    KernelOptError,
    Opt,
    OptOps,
    all_ranges,
    axes,
    axis_of,
    has_kind,
    not_inside_a_copy,
    replace_ranges,
    split_range,
)
from tinyframe.codegen.optimize.stage import stage
from tinyframe.device import load
from tinyframe.dtype import dtypes
from tinyframe.renderer import Target
from tinyframe.uop.node import BLOCKS, LOOPS, AxisType, Ops, UOp, axis_type, extent, is_symbolic


def apply_opts(sink: UOp, opts: Iterable[Opt], target: Target | None = None) -> UOp:
    """The kernel with each Opt applied in turn. Raises KernelOptError if one is illegal."""
    for opt in opts:
        sink = apply_opt(sink, opt, target)
    return sink


def apply_opt(sink: UOp, opt: Opt, target: Target | None = None) -> UOp:
    """The kernel with one Opt applied. With a target, it is illegal if the device lacks what the
    kernel then needs."""
    try:
        out = load(_primitives[opt.op])(sink, opt)
        again = repeated_reduces(out)
        if again and not repeated_reduces(sink):
            times = math.prod(map(extent, next(iter(again.values()))))
            raise KernelOptError(f"a reduce would run {times} times for each of its results")
        if target is not None:
            check_target(out, target)
        return out
    except KernelOptError as error:
        raise KernelOptError(f"{opt}: {error}") from None


# ---- checks ------------------------------------------------------------------------------------


def check_target(sink: UOp, target: Target) -> None:
    """KernelOptError if a kernel needs more than its device has: lanes, blocks, threads, memory."""
    lanes = [extent(r) for r in all_ranges(sink) if axis_type(r) is AxisType.VECTOR]
    if (most := target.most_lanes) and max(lanes, default=0) > most:
        raise KernelOptError(f"vectors of {max(lanes)} lanes: this device has at most {most}")
    if target.block_threads:
        load("tinyframe.gpu.blocks:check")(sink, target)
    elif has_kind(sink, *BLOCKS):
        raise KernelOptError("this device has no blocks of threads: use THREAD for its cores")


def loop_at(sink: UOp, opt: Opt, *kinds: AxisType, advice: str = "") -> UOp:
    """The RANGE of an Opt's axis, which must be of one of these kinds. advice: for the error if it
    is a reduce's, or if it would have to be."""
    r = axis_of(sink, opt.axis, AxisType.SERIAL in kinds)
    if axis_type(r) in kinds:
        return r
    if kinds == (AxisType.REDUCE,):
        raise KernelOptError(f"axis {opt.axis} is not a reduce's: {advice}")
    if axis_type(r) is AxisType.REDUCE:
        raise KernelOptError(f"axis {opt.axis} is a reduce's: {advice}")
    raise KernelOptError(f"axis {opt.axis} is a {axis_type(r).name} axis already")


def _size(r: UOp, arg: Any, of_threads: bool = False) -> int:
    """The requested size of the inner part; 0 means the whole loop. A loop of a Variable's size can
    only be divided into threads, which may be idle; lanes and copies always run."""
    if is_symbolic(r) and not of_threads:
        raise KernelOptError("this loop's size is a Variable: only threads can divide it")
    if not isinstance(arg, int) or arg < 0:
        raise KernelOptError(f"the size must be a whole number, not {arg!r}")
    return arg or extent(r)


COPIES = (AxisType.UPCAST, AxisType.UNROLL)


# ---- a loop is divided ---------------------------------------------------------------------------


def _split(sink: UOp, opt: Opt) -> UOp:
    r = axis_of(sink, opt.axis)
    n = _size(r, opt.arg)
    if not 1 < n < extent(r):
        raise KernelOptError(f"cannot split {extent(r)} iterations into groups of {n}")
    if axis_type(r) in (AxisType.THREAD, AxisType.GLOBAL, AxisType.LOCAL):
        raise KernelOptError(
            f"axis {opt.axis} is a {axis_type(r).name} axis already: SPLIT it before that"
        )
    return split_range(sink, r, n, axis_type(r))


def tile(
    sink: UOp,
    opt: Opt,
    *kinds: AxisType,
    advice: str = "",
    check: Callable[[UOp, UOp], None] | None = None,
) -> UOp:
    """The inner part of a loop becomes copies (UPCAST, UNROLL), lanes (VECTOR) or threads (LOCAL,
    GROUP, with a `check` that the loop may have threads). Nodes that don't depend on the loop are
    shared by its copies: a register tile."""
    inner_kind = AxisType[opt.op.name]
    r = loop_at(sink, opt, *kinds, advice=advice)
    n = _size(r, opt.arg, of_threads=check is not None)
    if inner_kind in COPIES:
        # more copies of a statement only slow down the compiler
        count = n * math.prod(extent(x) for x in all_ranges(sink) if axis_type(x) in COPIES)
        if count > thresholds.MOST_COPIES:
            raise KernelOptError(f"{count} copies; at most {thresholds.MOST_COPIES} are allowed")
    if inner_kind is AxisType.VECTOR and (n & (n - 1) or not 2 <= n <= 64):
        raise KernelOptError(f"vectors have 2, 4, 8, 16, 32 or 64 lanes, not {n}")
    if check is not None:
        check(sink, r)
    not_inside_a_copy(sink, r)
    return split_range(sink, r, n, inner_kind)


def _vector(sink: UOp, opt: Opt) -> UOp:
    """The inner part becomes the lanes of a vector; no value may have lanes along two axes. Of a
    scan's loop, each lane's running value is made from the one before it."""
    out = tile(sink, opt, AxisType.LOOP, AxisType.REDUCE, AxisType.SERIAL)
    r = axis_of(sink, opt.axis, True)
    if axis_type(r) is AxisType.SERIAL:
        if opt.arg == 0 or extent(r) <= opt.arg or extent(r) % opt.arg:
            raise KernelOptError(f"a scan's loop of {extent(r)} is not several whole vectors")
        if not all(_has_own_places(s.src[0], r) for s in sink.src if r in s.own_ranges):
            raise KernelOptError("what one iteration stores the next one may overwrite")
    for u in out.toposort():
        # including its own ranges: a REDUCE accumulates in lanes, and a STORE stores them
        along = {*u.ranges, *u.own_ranges}
        if sum(axis_type(x) is AxisType.VECTOR for x in along) > 1:
            raise KernelOptError("a value would have lanes along two axes")
    return out


def _has_own_places(index: UOp, r: UOp) -> bool:
    """Whether no two iterations of a loop store at the same place: in some dimension the index is a
    multiple of the loop, and something that does not depend on it."""
    found = (terms(i) for i in index.src[2:])
    return any([t for t in ts if t is not None and r in t.ranges] == [r] for ts in found)


# ---- a loop as it is: its place, cores -----------------------------------------------------------


def _thread(sink: UOp, opt: Opt) -> UOp:
    """The range is divided among cores."""
    r = axis_of(sink, opt.axis)
    if axis_type(r) is not AxisType.LOOP:
        raise KernelOptError(
            f"axis {opt.axis} is a {axis_type(r).name} axis: only a loop around all stores can be "
            "divided among cores"
        )
    if r.dtype is not dtypes.int:
        raise KernelOptError(
            f"a loop of {extent(r)} is longer than a launch can count: SPLIT axis {opt.axis} first"
        )
    if has_kind(sink, AxisType.THREAD):
        raise KernelOptError("the kernel has a THREAD axis already")
    if has_kind(sink, *BLOCKS):
        raise KernelOptError("the kernel is divided among blocks of threads already")
    # copies and lanes that were loops around it don't count
    outermost = [next(x for x in s.own_ranges if axis_type(x) in LOOPS) for s in sink.src]
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
    for r in [r for s in sink.src for r in s.own_ranges if axis_type(r) is AxisType.SERIAL]:
        if any(place.get(x, -1) > place[r] for s in sink.src for x in s.own_ranges):
            raise KernelOptError("a scan's loop has to stay inside the other loops of the results")

    def then(u: UOp) -> UOp | None:
        if u.op in (Ops.REDUCE, Ops.STORE):
            return u.with_ranges(*sorted(u.own_ranges, key=lambda r: place.get(r, last)))
        return None

    return replace_ranges(sink, {}, then)


# the primitives for blocks and threads are imported on first use, like a device
_primitives: dict[OptOps, Callable[[UOp, Opt], UOp] | str] = {
    OptOps.SPLIT: _split,
    OptOps.REORDER: _reorder,
    OptOps.UPCAST: lambda sink, opt: tile(
        sink, opt, AxisType.LOOP, advice="UNROLL it, or give it VECTOR lanes"
    ),
    OptOps.VECTOR: _vector,
    OptOps.UNROLL: lambda sink, opt: tile(sink, opt, AxisType.REDUCE, advice="UPCAST it"),
    OptOps.THREAD: _thread,
    OptOps.STAGE: stage,
    OptOps.GLOBAL: "tinyframe.gpu.blocks:to_blocks",
    OptOps.LOCAL: "tinyframe.gpu.blocks:to_threads",
    OptOps.GROUP: "tinyframe.gpu.blocks:to_group",
    OptOps.TENSOR_CORE: "tinyframe.gpu.tensor_core:tensor_core",
    OptOps.PIPELINE: "tinyframe.gpu.pipeline:pipeline",
}
