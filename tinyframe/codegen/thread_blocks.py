"""Blocks of threads: on a GPU, some loops become indices of threads that run in parallel.

A launch is a grid of blocks, and a block is a group of threads. The threads of a block share
memory, and synchronize at barriers (`linearize.py`); blocks are independent of each other. A GLOBAL
range is the block's index along an axis of the grid; LOCAL and GROUP ranges are the thread's index
along an axis of its block. So they are values, not loops:

    for i in 0…63 GLOBAL:                        i = gidx0
      for j in 0…31 LOCAL:                       j = lidx0
        out[i, j] = x[i, j] * 2                  out[i, j] = x[i, j] * 2

A panel (STAGE) belongs to a block, and its threads fill it together:

    for k in 0…99: panel[k] = x[k]               for c in 0…3: k = c*32 + lidx0
                                                               if k < 100: panel[k] = x[k]

Axis 0 varies fastest from thread to thread, as usual: it is the innermost range.
"""

from __future__ import annotations

from collections.abc import Sequence

from tinyframe.algebra.symbolic import all_of, terms
from tinyframe.codegen.expand import panel_bytes
from tinyframe.codegen.optimize.opt import KernelOptError, all_ranges, fresh_range, replace_ranges
from tinyframe.renderer import Target
from tinyframe.settings import settings
from tinyframe.uop.movement import flatten, unflatten
from tinyframe.uop.node import (
    FIRST_RANGE,
    AxisType,
    Ops,
    UOp,
    iterations,
    kind,
    length,
    plain,
    rebuild,
)

THREADS = (AxisType.LOCAL, AxisType.GROUP, AxisType.WARP)
MOST_AXES = 3  # of a grid and of a block: CUDA, OpenCL and Metal have x, y and z


def grid_axes(sink: UOp) -> list[UOp]:
    """The GLOBAL ranges, axis 0 first."""
    around = dict.fromkeys(r for s in sink.src for r in s.own_ranges)
    return [r for r in around if kind(r) is AxisType.GLOBAL][::-1]


def block_axes(sink: UOp) -> list[list[UOp]]:
    """The ranges that are threads along each axis of a block, axis 0 first: a WARP, whose threads
    have successive indices, or else the innermost one.

    Ranges of the same length share an axis if no node depends on both: the same threads at
    different times, which for example add up parts of a row and then write some of its columns.
    """
    together: dict[UOp, set[UOp]] = {}
    for u in sink.toposort():
        if u.op in FIRST_RANGE:
            threads = [r for r in (*u.own_ranges, *u.ranges) if kind(r) in THREADS]
            for r in threads:
                together.setdefault(r, set()).update(threads)
    around = [r for s in sink.src for r in s.own_ranges if r in together]
    axes: list[list[UOp]] = []
    for r in dict.fromkeys((*around, *sorted(together, key=lambda r: r.arg[0]))):
        for axis in axes:
            if length(axis[0]) == length(r) and not together[r].intersection(axis):
                axis.append(r)
                break
        else:
            axes.append([r])
    axes.reverse()
    axes.sort(key=lambda axis: kind(axis[0]) is not AxisType.WARP)
    return axes


def block_threads(sink: UOp) -> int:
    """The number of threads in a block."""
    return iterations(axis[0] for axis in block_axes(sink))


def runs_in_blocks(sink: UOp) -> bool:
    """Whether any loop of a kernel has become blocks or threads."""
    return any(kind(r) in (AxisType.GLOBAL, *THREADS) for r in all_ranges(sink))


def runs_on_cores(sink: UOp) -> bool:
    """Whether a loop of a kernel is divided among cores."""
    return any(kind(r) is AxisType.THREAD for r in all_ranges(sink))


def check_device(sink: UOp, target: Target) -> None:
    """KernelOptError if a kernel exceeds the device's lanes, blocks, threads or shared memory."""
    lanes = [length(r) for r in all_ranges(sink) if kind(r) is AxisType.VECTOR]
    if target.most_lanes and max(lanes, default=0) > target.most_lanes:
        raise KernelOptError(f"vectors of {max(lanes)} lanes; it has {target.most_lanes} at most")
    if not target.block_threads:
        if runs_in_blocks(sink):
            raise KernelOptError("this device has no blocks of threads: use THREAD for its cores")
        return
    if runs_on_cores(sink):
        raise KernelOptError("this device has no cores to divide a loop among: use GLOBAL")
    for form in {u.arg for u in sink.toposort() if u.op is Ops.MMA}:
        if (why := why_no_tensor_core(form, target)) is not None:
            raise KernelOptError(why)
    if (count := block_threads(sink)) > target.block_threads:
        raise KernelOptError(f"{count} threads in a block; it has {target.block_threads} at most")
    for n, (r, most) in enumerate(zip(grid_axes(sink), target.grid, strict=False)):
        if length(r) > most:
            raise KernelOptError(f"{length(r)} blocks along axis {n} of a grid of {most} at most")
    if (nbytes := panel_bytes(sink, target.least_bytes)) > target.shared_bytes:
        raise KernelOptError(
            f"panels of {nbytes} bytes; the threads of a block share {target.shared_bytes}"
        )


def why_no_tensor_core(form: str, target: Target) -> str | None:
    """Why a device's tensor cores cannot, or may not, take operands of this form; None if they
    may."""
    if form not in target.tensor_cores:
        return f"this device has no tensor cores for {form}"
    if form == "tf32" and not settings.TF32:
        return "a tensor core reads only ten of float32's 23 mantissa bits: TF32=1 allows that"
    return None


# ---- ranges that are values ----------------------------------------------------------------------


def ranges_to_values(sink: UOp) -> UOp:
    """A kernel with flat indices, with SPECIALs in place of the ranges that are blocks and threads:
    the code of one thread."""
    if not runs_in_blocks(sink):
        return sink
    grid, block = grid_axes(sink), block_axes(sink)
    sizes = [length(axis[0]) for axis in block]
    lanes = [UOp.special(f"lidx{n}", size) for n, size in enumerate(sizes)]
    values = {r: UOp.special(f"gidx{n}", plain(r.src[0])) for n, r in enumerate(grid)}
    values |= {r: lane for axis, lane in zip(block, lanes, strict=True) for r in axis}
    thread = flatten(lanes[::-1], sizes[::-1])
    count = iterations(axis[0] for axis in block)

    def also(u: UOp) -> UOp | None:
        if count > 1 and u.op is Ops.STAGE and not any(kind(r) in THREADS for r in u.own_ranges):
            return filled_by_all_threads(sink, u, thread, count)
        if u.op is Ops.SINK:
            written = {s.src[0].src[0] for s in u.src}
            stores = [stored_by_first_thread(s, written, block, lanes) for s in u.src]
            return u.replace(src=tuple(stores))
        return None

    return replace_ranges(replace_ranges(sink, {}, also), values)


def filled_by_all_threads(sink: UOp, stage: UOp, thread: UOp, count: int) -> UOp:
    """A STAGE whose copy is divided among the threads of a block, in the memory order of the
    argument: neighbouring threads read neighbouring elements."""
    place, value = stage.src[0].src
    inside = frozenset(stage.own_ranges)
    load = next(u for u in value.toposort() if u.op is Ops.LOAD and u.ranges & inside)
    step = terms(load.src[0].src[2])
    loops = [r for r in stage.own_ranges if kind(r) is AxisType.LOOP]
    loops.sort(key=lambda r: -abs(step.get(r, 0)))
    total = iterations(loops)
    rounds = -(-total // count)
    round_ = fresh_range(sink, rounds, AxisType.LOOP, stage.src[0].src[0].src[0].arg)
    element = round_ * count + thread if rounds > 1 else thread
    at = dict(zip(loops, unflatten(element, [length(r) for r in loops]), strict=True))

    def moved(index: UOp) -> UOp:
        memory, valid, flat = (s.substitute(at) for s in index.src)
        return index.replace(src=(memory, all_of([valid, element < total]), flat.simplify()))

    lanes = [r for r in stage.own_ranges if r not in loops]
    store = moved(place).store(value.substitute({load: moved(load.src[0]).load()}))
    return stage.replace(src=(store, *([round_] if rounds > 1 else []), *lanes))


def stored_by_first_thread(
    store: UOp, written: set[UOp], block: Sequence[Sequence[UOp]], lanes: Sequence[UOp]
) -> UOp:
    """A result that all threads along some axes of the block compute is stored by the first one.
    The others must not read memory that the kernel overwrites (`written`), since the store may or
    may not have happened; except into panels, which are filled before anything is stored."""
    own = set(store.own_ranges)
    first = [
        lane < 1 for axis, lane in zip(block, lanes, strict=True) if not own.intersection(axis)
    ]

    def by_first(index: UOp) -> UOp:
        return index.replace(src=(index.src[0], all_of([index.src[1], *first]), *index.src[2:]))

    def changed(old: UOp, u: UOp) -> UOp:
        is_overwritten = u.op is Ops.LOAD and u.src[0].src[0] in written
        return u.replace(src=(by_first(u.src[0]),)) if is_overwritten else u

    index, value, *loops = store.src
    if first:
        value = rebuild(value, changed, below=lambda u: u.op not in (Ops.STAGE, Ops.INDEX))
    return store.replace(src=(by_first(index), value, *loops))
