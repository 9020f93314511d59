"""PIPELINE: a loop keeps several panels, so that the next ones are filled while one is in use.

    for k:                               panel 0 = part 0;  barrier
      barrier                            for k:
      panel = part k                       x = part k+1                   these reads are in flight
      barrier                              … what is computed from panel k%2 …
      … what is computed from panel …      panel (k+1)%2 = x;  barrier

Nothing waits for memory, and there is one barrier where there were two. Where a device can copy to
a panel without registers (ASYNC_COPY), n panels have n - 1 parts on their way:

    parts 0 … n-2 to panels 0 … n-2, each a group of copies
    for k:
      wait for all groups but the last n-2;  barrier
      part k+n-1 to panel (k+n-1)%n
      … what is computed from panel k%n …

Lam, "Software pipelining" (1988); NVIDIA, PTX ISA, "Data Movement and Conversion Instructions:
Asynchronous copy".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import cast

from tinyframe.algebra.symbolic import from_terms, terms
from tinyframe.codegen.optimize.loops import loop_at
from tinyframe.codegen.optimize.opt import KernelOptError, Opt, axes, has_kind
from tinyframe.dtype import AddrSpace, PtrDType, dtypes
from tinyframe.gpu.banks import whole_vectors
from tinyframe.renderer import Target
from tinyframe.uop.node import BLOCKS, AxisType, Ops, UOp, extent, rebuild

ACCESSES = (Ops.LOAD, Ops.FRAGMENT, Ops.STORE)
ALWAYS = UOp.const(dtypes.bool, True)
ASYNC_BYTES = 16  # of a copy without registers: the only size that bypasses the first-level cache


def pipeline(sink: UOp, opt: Opt) -> UOp:
    """Opt(PIPELINE, axis, n): n of each panel that is filled in this loop of a reduce."""
    loop = loop_at(sink, opt, AxisType.REDUCE, advice="only loops of reduces fill panels in turns")
    if not isinstance(opt.arg, int) or not 2 <= opt.arg <= extent(loop):
        raise KernelOptError(f"a loop of {extent(loop)} keeps 2 to as many panels, not {opt.arg!r}")
    if any(u.op is Ops.STAGE and isinstance(u.arg, tuple) for u in sink.toposort()):
        raise KernelOptError("another loop of the kernel keeps several panels already")
    if not has_kind(sink, *BLOCKS):
        raise KernelOptError("a single thread does not fill one panel while it uses another")
    loops = axes(sink)

    def kept(old: UOp, u: UOp) -> UOp:
        is_here = old.op is Ops.STAGE and [r for r in loops if r in old.ranges][-1:] == [loop]
        return u.replace(arg=(AddrSpace.LOCAL, opt.arg)) if is_here else u

    if (out := rebuild(sink, kept)) is sink:
        raise KernelOptError(f"no panel is filled in axis {opt.axis}: apply STAGE there first")
    return out


# ---- the program ---------------------------------------------------------------------------------


def pipelined(uops: list[UOp], target: Target) -> list[UOp]:
    """A program whose loop fills some panels while it uses others."""
    panels = [u for u in uops if u.op is Ops.DEFINE_LOCAL and isinstance(u.arg, tuple)]
    if not panels:
        return uops
    *around, loop = _loops_of(panels, uops)
    first = uops.index(around[-1]) + 1 if around else 0
    begin, end = uops.index(loop), uops.index(UOp(Ops.ENDRANGE, dtypes.void, (loop,)))
    fill, use = _fill_and_use(uops[begin + 1 : end], panels)
    turns = _Turns(loop, panels, itertools.count(len(uops)))
    copied = [u.src[1] for u in fill if u.op is Ops.STORE]
    plain = all(u.op is Ops.LOAD and u.dtype.itemsize == ASYNC_BYTES for u in copied)
    way = turns.asynchronous if plain and target.async_copies else turns.synchronous
    # in a loop around it, threads may still use the panels of the iteration before
    before = [*uops[:first], *[turns.barrier()] * bool(around), *uops[first:begin]]
    lines = [x for u in before for x in turns.for_all(u)] + way(fill, use) + uops[end:]
    lines = [u for u in lines if u.op is not Ops.INDEX or u.src[0] not in turns.panels]
    return _in_scope([turns.panels.get(u, u) for u in lines])


def _loops_of(panels: list[UOp], uops: list[UOp]) -> list[UOp]:
    """The loops that hold all reads of the panels and stores to them, the innermost last."""
    ends = {u.src[0]: n for n, u in enumerate(uops) if u.op is Ops.ENDRANGE}
    uses = [n for n, u in enumerate(uops) if u.op in ACCESSES and u.src[0].src[0] in panels]
    # what is the same in all iterations (the zeros of a padding) is stored outside of the loop
    reads = [n for n in uses if uops[n].op is not Ops.STORE]
    return [
        u for n, u in enumerate(uops) if u.op is Ops.RANGE and n < reads[0] and reads[-1] < ends[u]
        and any(n < m < ends[u] and m not in reads for m in uses)
    ]  # fmt: skip


def _fill_and_use(body: list[UOp], panels: list[UOp]) -> tuple[list[UOp], list[UOp]]:
    """The instructions of a loop's body that fill its panels, and the others; each with the values
    that it needs."""
    items: list[list[UOp]] = [[]]  # statements, and whole loops
    for u in body:
        items[-1].append(u)
        if sum((x.op is Ops.RANGE) - (x.op is Ops.ENDRANGE) for x in items[-1]) == 0:
            items.append([])

    def part(is_fill: bool) -> list[UOp]:
        live: set[UOp] = set()
        kept: list[list[UOp]] = []
        for item in reversed(items):
            effects = [u for u in item if u.op in (Ops.STORE, Ops.BARRIER)]
            fills = any(u.op is Ops.STORE and u.src[0].src[0] in panels for u in effects)
            if (effects and fills is is_fill) or not live.isdisjoint(item):
                live.update(s for u in item for s in u.src)
                kept.append(item)
        return [u for item in reversed(kept) for u in item]

    return part(True), part(False)


class _Turns:
    """The iterations of a loop that keeps several panels: iteration k uses those number k % n.

    panels: each one -> the memory for all n.
    """

    def __init__(self, loop: UOp, panels: list[UOp], numbers: Iterator[int]) -> None:
        self.loop, self.n, self.numbers = loop, panels[0].arg[1], numbers
        kinds = {u: cast(PtrDType, u.dtype) for u in panels}
        self.sizes = {u: whole_vectors(p.nbytes) // p.base.itemsize for u, p in kinds.items()}
        self.panels = {
            u: UOp(Ops.DEFINE_LOCAL, u.dtype.base.ptr(self.n * size, AddrSpace.LOCAL), (), u.arg[0])
            for u, size in self.sizes.items()
        }

    def barrier(self) -> UOp:
        return UOp(Ops.BARRIER, dtypes.void, (), next(self.numbers))

    def for_all(self, u: UOp) -> list[UOp]:
        """An instruction before the loop; what is stored in a panel there, in all of them."""
        if u.op is not Ops.STORE or u.src[0].src[0] not in self.panels:
            return [u]
        return [x for n in range(self.n) for x in self.at([u], self.loop.const_like(n))]

    def at(self, lines: list[UOp], k: UOp, reads: UOp = ALWAYS) -> list[UOp]:
        """The instructions for iteration k; memory is only read if `reads` is true."""
        n, is_known = k.const_like(self.n), k.op is Ops.CONST
        # k % n in operations that every language has
        place = k.alu(Ops.SUB, k.alu(Ops.CDIV, n) * n) if self.n != 2 else k & 1
        place = k.const_like(k.arg % self.n) if is_known else place
        done = {self.loop: k}
        # an INDEX that is the same in all iterations is outside of the loop
        indices = [(u.src[0], u) if u.op in ACCESSES else (u,) for u in lines]
        for u in dict.fromkeys(itertools.chain(*indices)):
            new = UOp(u.op, u.dtype, tuple([done.get(s, s) for s in u.src]), u.arg, u.tag)
            if u.op is Ops.INDEX:
                memory, valid, flat = new.src
                if memory in self.panels:
                    start = from_terms(terms(place * self.sizes[memory]), flat.dtype)
                    flat = flat if start.op is Ops.CONST and start.arg == 0 else flat + start
                    memory = self.panels[memory]
                elif memory.op is Ops.DEFINE_GLOBAL and reads is not ALWAYS:
                    valid = reads if valid is ALWAYS else valid.alu(Ops.AND, reads)
                new = UOp(Ops.INDEX, memory.dtype, (memory, valid, flat), u.arg)
            elif u.op is Ops.RANGE:
                new = new.replace(arg=(next(self.numbers), u.arg[1]))
            elif is_known and u.op in (Ops.ADD, Ops.MUL) and dtypes.is_int(u.dtype):
                new = from_terms(terms(new), u.dtype)
            done[u] = new
        return [*dict.fromkeys(done.values())][1:]  # a sum may have become a loop that is there

    def synchronous(self, fill: list[UOp], use: list[UOp]) -> list[UOp]:
        filled = self.at(fill, self.loop + 1, self.loop + 1 < self.loop.src[0])
        in_loops = any(u.op is Ops.RANGE for u in fill)  # what it reads is not kept in registers
        last = [u for u in filled if u.op is Ops.STORE and not in_loops]
        return [
            *self.at(fill, self.loop.const_like(0)), self.barrier(),
            self.loop, *[u for u in filled if u not in last], *self.at(use, self.loop), *last,
            self.barrier(),
        ]  # fmt: skip

    def asynchronous(self, fill: list[UOp], use: list[UOp]) -> list[UOp]:
        def group(lines: list[UOp]) -> list[UOp]:
            """The copies, as one group."""
            copies = [
                UOp(Ops.ASYNC_COPY, dtypes.void, (u.src[0], u.src[1].src[0])) if u.op is Ops.STORE
                else u for u in lines if u.op is not Ops.LOAD
            ]  # fmt: skip
            return [*copies, UOp(Ops.COMMIT, dtypes.void, (), next(self.numbers))]

        first = (self.at(fill, self.loop.const_like(n)) for n in range(self.n - 1))
        ahead = self.loop + (self.n - 1)
        return [
            *[u for lines in first for u in group(lines)],
            self.loop, UOp(Ops.WAIT, dtypes.void, (), (next(self.numbers), self.n - 2)),
            self.barrier(), *group(self.at(fill, ahead, ahead < self.loop.src[0])),
            *self.at(use, self.loop),
        ]  # fmt: skip


def _in_scope(uops: list[UOp]) -> list[UOp]:
    """A program with the values that it lacks, each in the outermost loop that has its sources."""
    levels: list[dict[UOp, None]] = [{}]

    def add(u: UOp, here: bool = False) -> None:
        if any(u in level for level in levels):
            return
        for s in u.src:
            add(s)
        depths = [n for n, level in enumerate(levels) if not level.keys().isdisjoint(u.src)]
        levels[-1 if here else max(depths, default=0)][u] = None

    for u in uops:
        if u.op is Ops.RANGE:
            for s in u.src:
                add(s)
            levels.append({u: None})
        elif u.op is Ops.ENDRANGE:
            inner = levels.pop()
            levels[-1] |= {**inner, u: None}
        else:
            add(u, here=True)
    (program,) = levels
    return list(program)
