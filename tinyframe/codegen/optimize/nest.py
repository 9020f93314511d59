"""A loop nest as a value: a plan's decision, which `opts_of` writes as Opts.

    Nest(tiles=((VECTOR, j, 16), (UPCAST, j, 4), (UPCAST, i, 6)),   inner parts of i and j
         order=(j, i),                                               j outermost
         panels=((b, j),),                                           the part of b that j reads
         thread=j)                                                   j is divided among cores

    Nest(tiles=((VECTOR, j, 4), (LOCAL, j, 16), (UPCAST, i, 4), (LOCAL, i, 16)),
         grid=(j, i),                                                blocks: what is left of both
         panels=((a, k), (b, k)))                                    shared by the threads

    SPLIT r, 64     r becomes a loop over blocks of 64, and a loop inside of a block
    VECTOR r, 16    16 neighbours along r are the lanes of one vector
    UPCAST r, 6     6 iterations of r are done side by side, in registers
    LOCAL r, 16     16 iterations of r are done by threads of a block
    GROUP r, 32     32 threads of a block share r, the loop of a reduce
    TENSOR_CORE     of three loops in a row: 16 rows, 8 columns and 16 terms of the sum, which a
                    warp computes at once
    order           the outermost loops; all others follow inside, in their original order
    panels          (operand, loop): before each iteration of the loop, the part of the operand that
                    it reads is copied; None: all of the operand, before any loop. The Opt is STAGE
    thread          the loop that is divided among the cores
    grid            the loops that become the axes of a grid of blocks, its axis 0 first

If a tile does not divide its loop, the last one is moved back and overlaps the one before; a sum
skips elements that are counted already (`loops.divide`). A loop of a Variable's size can only be
tiled by threads.

A Nest is in terms of the kernel's RANGEs before any Opt. The iterations left of one after tiling
are arithmetic (`left`), so a plan can reason about them without applying anything. `opts_of`
applies it, and notes each step as an Opt.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from tinyframe.algebra.access import Access
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opt, axes
from tinyframe.codegen.thread_blocks import THREADS
from tinyframe.renderer import Target
from tinyframe.uop.node import AxisType, UOp, is_symbolic, kind, length
from tinyframe.uop.show import render

Tile = tuple[OptOps, UOp, int]
"""SPLIT, UPCAST, VECTOR, UNROLL, LOCAL, GROUP or TENSOR_CORE of what is left of a RANGE. After a
SPLIT that is the inner one of the two loops, until nothing is left of it."""


@dataclass(frozen=True)
class Inner:
    """The inner one of the two loops that a SPLIT makes of a RANGE; the RANGE itself stands for the
    outer one."""

    range: UOp


Loop = UOp | Inner


@dataclass(frozen=True)
class Nest:
    """A loop nest.

    tiles: inner parts of RANGEs. order: the outermost loops, from the outside in; the others keep
    their order. panels: the operands copied first, and the loop inside of which they are (None:
    before all loops). thread: the loop that is divided among cores; it becomes the outermost one.
    grid: the loops that become blocks; axis 0, the innermost of them, comes first.
    """

    tiles: tuple[Tile, ...] = ()
    order: tuple[Loop, ...] = ()
    panels: tuple[tuple[Access, Loop | None], ...] = ()
    thread: UOp | None = None
    grid: tuple[UOp, ...] = ()

    def left(self, r: UOp) -> int:
        """Iterations of the loop that is left of `r` after its tiles; after a SPLIT, of the outer
        loop."""
        n = length(r)
        for op, tiled, size in self.tiles:
            if tiled is r:
                n = -(-n // size)
                if op is OptOps.SPLIT:
                    break
        return n

    def loops(self, ranges: Iterable[UOp]) -> list[UOp]:
        """The loops around a kernel's stores that are still loops, in their new order."""
        around = [r for r in ranges if kind(r) is AxisType.LOOP]
        first = [r for r in self.order if not isinstance(r, Inner)]
        ordered = dict.fromkeys((*first, *around))
        return [r for r in ordered if is_symbolic(r) or self.left(r) > 1]

    @property
    def words(self) -> str:
        """The nest in a line: `16 lanes along ridx1; ridx1 outermost; cores share ridx1`."""
        said = [_TILES_IN_WORDS[op].format(n, render(r)) for op, r, n in self.tiles]
        if self.order:
            said.append(f"{', then '.join(map(_loop_words, self.order))} outermost")
        for read, loop in self.panels:
            when = "before all loops" if loop is None else f"in {_loop_words(loop)}"
            said.append(f"data{read.slot} copied {when}")
        if self.thread is not None:
            said.append(f"cores share {render(self.thread)}")
        if self.grid:
            said.append(f"blocks along {', '.join(map(render, self.grid))}")
        return "; ".join(said)


_TILES_IN_WORDS = {
    OptOps.SPLIT: "blocks of {} of {}",
    OptOps.VECTOR: "{} lanes along {}",
    OptOps.UPCAST: "{} at once of {}",
    OptOps.UNROLL: "{} at once of {}",
    OptOps.LOCAL: "{} threads along {}",
    OptOps.GROUP: "{} threads share {}",
    OptOps.TENSOR_CORE: "{} of {} in tensor cores",
}


def _loop_words(loop: Loop) -> str:
    return f"a block of {render(loop.range)}" if isinstance(loop, Inner) else render(loop)


def opts_of(sink: UOp, nest: Nest, target: Target | None = None) -> tuple[list[Opt], UOp]:
    """The Opts that make this nest, and the kernel after them. Those that are illegal for the
    kernel or the target are left out."""
    kernel, opts = sink, list[Opt]()
    left = {r: [r] for r in axes(sink)}  # RANGE -> the loops that are left of it: two after a SPLIT

    def loop_of(named: Loop) -> list[UOp]:
        return left[named.range][1:2] if isinstance(named, Inner) else left.get(named, [])[:1]

    def apply(opt: Opt, divided: Iterable[tuple[UOp, UOp, int]] = ()) -> None:
        """Applies an Opt, if it is legal. divided: RANGEs, their loops that it divides, and by
        which sizes."""
        nonlocal kernel
        try:
            after = apply_opt(kernel, opt, target)
        except KernelOptError:
            return
        opts.append(opt)
        before, kernel = axes(kernel), after
        new = iter([x for x in axes(after) if x not in before and kind(x) not in THREADS])
        for r, loop, n in sorted(divided, key=lambda row: before.index(row[1])):
            place = left[r].index(loop)
            outer = itertools.islice(new, 2 if opt.op is OptOps.SPLIT else length(loop) > n)
            left[r][place : place + 1] = outer

    def make_outermost(named: Iterable[Loop]) -> None:
        loops = axes(kernel)
        front = [loops.index(loop) for name in named for loop in loop_of(name)]
        order = tuple(front + [n for n in range(len(loops)) if n not in front])
        if order != tuple(range(len(loops))):
            apply(Opt(OptOps.REORDER, order))

    cores = [tile for tile in nest.tiles if tile[0] is OptOps.TENSOR_CORE]
    for op, r, n in nest.tiles:
        if op is OptOps.TENSOR_CORE and r is not cores[0][1]:
            continue  # it is tiled together with the first
        tiles = cores if op is OptOps.TENSOR_CORE else [(op, r, n)]
        # after a SPLIT the inner loop is tiled, until nothing is left of it
        divided = [(x, left[x][:2][-1], size) for _, x, size in tiles if left.get(x)]
        at = tuple(axes(kernel).index(loop) for _, loop, _ in divided)
        if at:
            apply(Opt(op, at) if op is OptOps.TENSOR_CORE else Opt(op, at[0], n), divided)
    make_outermost(nest.order)
    for r in nest.grid:
        for loop in loop_of(r):
            apply(Opt(OptOps.GLOBAL, axes(kernel).index(loop)), [(r, loop, 1)])
    for read, around in nest.panels:
        for axis in [-1] if around is None else map(axes(kernel).index, loop_of(around)):
            apply(Opt(OptOps.STAGE, axis, read.slot))
    if nest.thread is not None:
        make_outermost((nest.thread,))
        apply(Opt(OptOps.THREAD, 0))
    return opts, kernel
