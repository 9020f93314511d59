"""Blocks of threads: on a GPU, loops become the indices of blocks and threads that run in parallel.

A launch is a grid of blocks, and a block is a group of threads. The threads of a block share
memory, and synchronize at barriers (`linearize.py`); blocks are independent of each other. A GLOBAL
range is the block's index along an axis of the grid; LOCAL and GROUP ranges are the thread's index
along an axis of its block. So these ranges are values, not loops:

    for i in 0…63 GLOBAL:                        i = gidx0
      for j in 0…31 LOCAL:                       j = lidx0
        out[i, j] = x[i, j] * 2                  out[i, j] = x[i, j] * 2

A panel (STAGE) belongs to a block, and its threads fill it together:

    for k in 0…99: panel[k] = x[k]               for c in 0…3: k = c*32 + lidx0
                                                               if k < 100: panel[k] = x[k]

As usual, axis 0 varies fastest from thread to thread: it is the innermost range.
"""

from __future__ import annotations

from tinyframe import thresholds
from tinyframe.codegen.optimize.loops import COPIES, loop_at, tile
from tinyframe.codegen.optimize.opt import (
    KernelOptError,
    Opt,
    all_ranges,
    fresh_range,
    has_kind,
    replace_ranges,
)
from tinyframe.codegen.program import MOST_AXES
from tinyframe.dtype import AddrSpace, dtypes
from tinyframe.gpu.banks import panel_bytes
from tinyframe.gpu.tensor_core import why_no_tensor_core
from tinyframe.renderer import Target
from tinyframe.uop.node import (
    FIRST_RANGE,
    THREADS,
    AxisType,
    Ops,
    UOp,
    axis_type,
    extent,
    iterations,
)

OF_A_REDUCE = "GROUP shares it among threads"
# axis types whose iterations all exist at once: threads, copies, lanes
NOT_LOOPS = (*THREADS, *COPIES, AxisType.VECTOR)


def grid_axes(sink: UOp) -> list[UOp]:
    """The GLOBAL ranges, axis 0 first."""
    around = dict.fromkeys(r for s in sink.src for r in s.own_ranges)
    return [r for r in around if axis_type(r) is AxisType.GLOBAL][::-1]


def block_axes(sink: UOp) -> list[list[UOp]]:
    """The ranges that are threads, by axis of the block. Axis 0 comes first: it is a WARP, whose
    threads have consecutive indices, or else the innermost range.

    Ranges of the same length share an axis if no node depends on both. They use the same threads
    one after the other: to add up parts of a row, say, and then to write some of its columns.
    """
    together: dict[UOp, set[UOp]] = {}
    for u in sink.toposort():
        if u.op in FIRST_RANGE:
            threads = [r for r in (*u.own_ranges, *u.ranges) if axis_type(r) in THREADS]
            for r in threads:
                together.setdefault(r, set()).update(threads)
    around = [r for s in sink.src for r in s.own_ranges if r in together]
    axes: list[list[UOp]] = []
    for r in dict.fromkeys((*around, *sorted(together, key=lambda r: r.arg[0]))):
        for axis in axes:
            if extent(axis[0]) == extent(r) and not together[r].intersection(axis):
                axis.append(r)
                break
        else:
            axes.append([r])
    axes.reverse()
    axes.sort(key=lambda axis: axis_type(axis[0]) is not AxisType.WARP)
    return axes


def block_threads(sink: UOp) -> int:
    """The number of threads in a block."""
    return iterations(axis[0] for axis in block_axes(sink))


def check(sink: UOp, target: Target) -> None:
    """KernelOptError if a kernel exceeds the device's blocks, threads or shared memory."""
    if has_kind(sink, AxisType.THREAD):
        raise KernelOptError("this device has no cores to divide a loop among: use GLOBAL")
    for form in {u.arg for u in sink.toposort() if u.op is Ops.MMA}:
        if (why := why_no_tensor_core(form, target)) is not None:
            raise KernelOptError(why)
    if (count := block_threads(sink)) > (limit := target.block_threads):
        raise KernelOptError(f"{count} threads in a block: this device has at most {limit}")
    for n, (r, most) in enumerate(zip(grid_axes(sink), target.grid, strict=False)):
        if extent(r) > most:
            raise KernelOptError(f"{extent(r)} blocks along axis {n} of a grid of {most} at most")
    if (nbytes := panel_bytes(sink, target)) > target.shared_bytes:
        raise KernelOptError(
            f"panels of {nbytes} bytes; the threads of a block share {target.shared_bytes}"
        )


# ---- loops that become blocks and threads --------------------------------------------------------


def check_parallel(sink: UOp, r: UOp) -> None:
    """KernelOptError if a range cannot be turned into blocks or threads."""
    if has_kind(sink, AxisType.THREAD):
        raise KernelOptError("the kernel is divided among cores already (THREAD)")
    if r.dtype is not dtypes.int:
        raise KernelOptError(f"a loop of {extent(r)} is longer than a launch can count: SPLIT it")


def to_blocks(sink: UOp, opt: Opt) -> UOp:
    """A loop around the stores becomes an axis of the grid: each block runs one iteration.

        for i in 0…63: out[i] = x[i] * 2      ->      out[gidx0] = x[gidx0] * 2

    Blocks share nothing, so every reduce must depend on the loop, or each block would repeat it.
    """
    r = loop_at(sink, opt, AxisType.LOOP, advice=OF_A_REDUCE)
    check_parallel(sink, r)
    if any(r not in s.own_ranges for s in sink.src):
        raise KernelOptError(f"axis {opt.axis} is not around every store")
    if extent(r) == 1:  # its index would be the constant 0, and the launch a single block
        raise KernelOptError(f"axis {opt.axis} has at most one iteration: it stays a loop")
    if any(u.op is Ops.REDUCE and r not in u.ranges for u in sink.toposort()):
        raise KernelOptError(f"a reduce would run {extent(r)} times for each of its results")
    if len(grid_axes(sink)) == MOST_AXES:
        raise KernelOptError(f"a grid has {MOST_AXES} axes, and the kernel has as many already")
    return replace_ranges(sink, {r: r.replace(arg=(r.arg[0], AxisType.GLOBAL))})


def to_threads(sink: UOp, opt: Opt) -> UOp:
    """The inner part of a loop becomes threads along an axis of each block:

        for i in 0…63: out[i] = x[i] * 2      ->      for o in 0…7: i = o*8 + lidx0
        LOCAL(0, 8)                                                 out[i] = x[i] * 2

    It can also split a loop of the grid (GLOBAL): most kernels combine the two. If the size is a
    Variable, the last block may have threads that read and write nothing.
    """
    return with_block_axes(
        tile(sink, opt, AxisType.LOOP, AxisType.GLOBAL, advice=OF_A_REDUCE, check=check_parallel)
    )


def to_group(sink: UOp, opt: Opt) -> UOp:
    """The threads of a block share a reduce (a two-stage reduction): each of n threads adds up
    every nth element; then the n partial results in a panel are added up.

        for k in 0…255: acc += x[k]           ->      for o in 0…7: part += x[o*32 + lidx0]
        out = acc                                     panel[lidx0] = part
        GROUP(0, 32)                                  for g in 0…31: acc += panel[g]
                                                      out = acc

    Every thread adds up what is in the panel, one after the other. So if there are many of them,
    they share that too: of 256 partial results, a thread adds up every 16th, and then 16 sums.
    """
    out = tile(sink, opt, AxisType.REDUCE, advice="use LOCAL for it", check=check_parallel)
    before = set(all_ranges(sink))
    (thread,) = [x for x in all_ranges(out) if x not in before and axis_type(x) is AxisType.GROUP]
    few, times = steps_of_group(extent(thread))
    every = fresh_range(out, few, AxisType.REDUCE)
    others = fresh_range(out, times, AxisType.REDUCE, 1)

    def then(u: UOp) -> UOp | None:
        """A reduce of the threads' partial results: REDUCE of LOAD of STAGE of REDUCE. The panel
        has an axis for each range that is not a loop, since these have a value per iteration."""
        if u.op is not Ops.REDUCE or thread not in u.own_ranges:
            return None
        partial = u.src[0].reduce(u.arg, *[r for r in u.own_ranges if r is not thread])
        loops = [r for r in partial.ranges | {thread} if axis_type(r) in NOT_LOOPS]
        loops.sort(key=lambda r: (axis_type(r) is AxisType.VECTOR, r is thread, r.arg[0]))

        def reduced(value: UOp, place: UOp, r: UOp) -> UOp:
            """Each thread's value, in a panel, reduced along a range that is part of a place."""
            panel, shape = value.stage(AddrSpace.LOCAL, *loops), tuple(map(extent, loops))
            index = panel.index(*[place if r is thread else r for r in loops], shape=shape)
            return index.load().reduce(u.arg, r)

        if times > 1:
            partial = reduced(partial, others * few + thread % few, others)
        return reduced(partial, every, every)

    return with_block_axes(replace_ranges(out, {}, then))


def steps_of_group(count: int) -> tuple[int, int]:
    """How the partial results of `count` threads are added up: (n, m), each thread adds up n sums
    of m of them. If there are many, n is a power of two near the square root; otherwise m is 1."""
    few = 1 << count.bit_length() // 2
    is_shared = count >= thresholds.SHARED_PARTS and count % few == 0
    return (few, count // few) if is_shared else (count, 1)


def with_block_axes(sink: UOp) -> UOp:
    if (count := len(block_axes(sink))) > MOST_AXES:
        raise KernelOptError(f"a block has {MOST_AXES} axes at most, not {count}")
    return sink
