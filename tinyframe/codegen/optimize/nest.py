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
are arithmetic (`left`), so a plan can reason about them without applying anything. `opts_of` then
finds the axes, which are positions, and writes the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tinyframe.algebra.access import Access
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps, apply_opt, axes
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
    applied = _OptList(sink, target)
    cores = [tile for tile in nest.tiles if tile[0] is OptOps.TENSOR_CORE]
    for op, r, n in nest.tiles:
        if op is not OptOps.TENSOR_CORE:
            applied.tile(op, r, n)
        elif r is cores[0][1]:
            applied.tensor_core(cores)
    applied.outermost(nest.order)
    for r in nest.grid:
        if (axis := applied.axis(r)) is not None:
            applied.apply(Opt(OptOps.GLOBAL, axis))
    for read, loop in nest.panels:
        axis = -1 if loop is None else applied.axis(loop)
        if axis is not None:
            applied.apply(Opt(OptOps.STAGE, axis, read.slot))
    if nest.thread is not None:
        applied.outermost((nest.thread,))
        applied.apply(Opt(OptOps.THREAD, 0))
    return applied.opts, applied.sink


class _OptList:
    """A list of Opts being built, and for each axis the original RANGE that it is left of; None for
    an axis of threads, or of their partial results."""

    def __init__(self, sink: UOp, target: Target | None) -> None:
        self.sink, self.target = sink, target
        self.opts: list[Opt] = []
        self.loops: list[UOp | None] = list(axes(sink))

    def apply(self, opt: Opt) -> bool:
        try:
            self.sink = apply_opt(self.sink, opt, self.target)
        except KernelOptError:
            return False
        self.opts.append(opt)
        return True

    def innermost(self, r: UOp) -> int | None:
        """The position of a loop to be tiled: after a SPLIT that of the inner one, which comes
        second."""
        return None if r not in self.loops else self.loops.index(r) + (self.loops.count(r) > 1)

    def tensor_core(self, tiles: Sequence[Tile]) -> None:
        """Applies the tiles of rows, columns and sum. The threads of the warp are a new axis."""
        before = dict(zip(axes(self.sink), self.loops, strict=True))
        at = tuple(n for _, r, _ in tiles if (n := self.innermost(r)) is not None)
        if not self.apply(Opt(OptOps.TENSOR_CORE, at)):
            return
        sizes = dict(zip(at, [n for _, _, n in tiles], strict=True))
        tiled = [(r, length(loop), sizes.get(n)) for n, (loop, r) in enumerate(before.items())]
        left = (r for r, loop, size in tiled if size and loop > size)
        self.loops = [
            before[loop] if loop in before else None if kind(loop) is AxisType.WARP else next(left)
            for loop in axes(self.sink)
        ]

    def tile(self, op: OptOps, r: UOp, n: int) -> None:
        if (axis := self.innermost(r)) is None:
            return
        if not self.apply(Opt(op, axis, n)):
            return
        is_left = len(axes(self.sink)) > len(self.loops)
        if op is OptOps.SPLIT:
            self.loops.insert(axis, r)
        elif op in (OptOps.LOCAL, OptOps.GROUP):
            self.loops[axis : axis + 1] = [r, None] if is_left else [None]
        elif len(axes(self.sink)) < len(self.loops):
            self.loops.pop(axis)  # nothing is left of it

    def axis(self, loop: Loop) -> int | None:
        """The position of a loop; None if nothing is left of it."""
        r = loop.range if isinstance(loop, Inner) else loop
        places = [n for n, x in enumerate(self.loops) if x is r]
        which = 1 if isinstance(loop, Inner) else 0
        return places[which] if which < len(places) else None

    def outermost(self, first: Iterable[Loop]) -> None:
        """Makes these loops the outermost ones, in this order."""
        front = [n for loop in first if (n := self.axis(loop)) is not None]
        order = tuple(front + [n for n in range(len(self.loops)) if n not in front])
        if order != tuple(range(len(order))) and self.apply(Opt(OptOps.REORDER, order)):
            self.loops = [self.loops[n] for n in order]
