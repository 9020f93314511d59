"""Linearization: from a graph to a flat list of instructions.

A statement sits in the outermost loop it can. Every value depends on what its sources depend on;
REDUCE and STAGE close the ranges they own. The loops form a tree (a reduce's loop hangs under the
deepest loop that its result depends on), each statement belongs to the deepest loop it depends on,
and reductions over the same ranges share a loop. Nothing else decides where code goes. So the
maximum in a softmax, which depends on the row only, is computed once per row, before the column
loop.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable

from tinyframe.codegen.accumulators import in_blocks, with_registers
from tinyframe.dtype import AddrSpace, dtypes
from tinyframe.settings import settings
from tinyframe.uop.node import FIRST_RANGE, LOOPS, Ops, UOp, fresh_number, kind


def linearize(sink: UOp, recompute: bool = False) -> list[UOp]:
    """The program of a kernel whose ranges are all real loops.

    `recompute` lets a reduce run more often than it has results, as after `Tensor.fuse()`.
    """
    # twice: a block of what does not depend on the blocks around it has to stand outside of them
    sink = loops_of_their_own(in_blocks(loops_of_their_own(sink)))
    parent = loop_tree(sink)
    check_loops(sink, parent)
    if settings.SPEC and not recompute:
        check_no_recompute(sink, parent)
    nodes = with_registers(sink)
    top = [u for u in nodes if u.op in AT_TOP]
    return [
        *sorted(top, key=lambda u: AT_TOP.index(u.op)),
        *instructions(in_order(nodes, parent)),
    ]


# ---- the tree of loops --------------------------------------------------------------------------


def loop_tree(sink: UOp) -> dict[UOp, UOp | None]:
    """Each loop's parent; None is the kernel's own body. Consumers first, so that what is inside a
    reduce's loop finds that loop's place known."""
    parent: dict[UOp, UOp | None] = {}
    for store in sink.src:
        _add_chain(parent, None, store.own_ranges)
    for u in reversed(sink.toposort()):
        if u.op in (Ops.REDUCE, Ops.STAGE):
            _add_chain(parent, deepest(u.ranges, parent), u.own_ranges)
    return parent


def _add_chain(parent: dict[UOp, UOp | None], outer: UOp | None, ranges: tuple[UOp, ...]) -> None:
    for r in ranges:
        if r not in parent:
            parent[r] = outer
        outer = r


def deepest(ranges: frozenset[UOp], parent: dict[UOp, UOp | None]) -> UOp | None:
    return max(ranges, key=lambda r: len(_loops_down_to(r, parent)), default=None)


def runs_of(u: UOp, parent: dict[UOp, UOp | None]) -> list[UOp]:
    """The loops around a node, outermost first."""
    return _loops_down_to(deepest(u.ranges, parent), parent)


def _loops_down_to(loop: UOp | None, parent: dict[UOp, UOp | None]) -> list[UOp]:
    loops: list[UOp] = []
    while loop is not None:
        loops.append(loop)
        loop = parent[loop]
    return loops[::-1]


def loops_of_their_own(sink: UOp) -> UOp:
    """Reduces that share RANGEs without depending on the same loops get RANGEs of their own.

    The copies that UPCAST makes of a reduce share its loop; one that turns out not to depend on the
    loops around it (nothing of a padding is read) has to stand outside of them.
    """
    while True:
        reduces = [u for u in sink.toposort() if u.op is Ops.REDUCE]
        # the one that depends on most loops keeps the range
        keeper: dict[UOp, tuple] = {}
        for u in sorted(reduces, key=lambda u: -len(u.ranges)):
            for r in u.own_ranges:
                keeper.setdefault(r, (u.own_ranges, u.ranges))
        moved = [
            u for u in reduces if any(keeper[r] != (u.own_ranges, u.ranges) for r in u.own_ranges)
        ]
        if not moved:
            return sink
        number = itertools.count(fresh_number(sink))
        u = moved[-1]  # the outermost: what is inside may follow
        own = {r: r.replace(arg=(next(number), *r.arg[1:])) for r in u.own_ranges}
        alike = [x for x in moved if (x.own_ranges, x.ranges) == (u.own_ranges, u.ranges)]
        sink = sink.substitute({x: x.substitute(own) for x in alike})


def repeated_reduces(sink: UOp, parent: dict[UOp, UOp | None]) -> dict[UOp, list[UOp]]:
    """The reduces that run more often than they have results, and the loops that make them.

    They would be right, but slow. Copies and lanes are no loops: equal ones become one.
    """
    found = {}
    for u in sink.toposort():
        if u.op is Ops.REDUCE:
            again = [r for r in runs_of(u, parent) if kind(r) in LOOPS and r not in u.ranges]
            if again:
                found[u] = again
    return found


def check_no_recompute(sink: UOp, parent: dict[UOp, UOp | None]) -> None:
    """Raises RuntimeError if a reduce runs more often than it has results."""
    for again in repeated_reduces(sink, parent).values():
        raise RuntimeError(
            f"a reduce would run anew in {len(again)} loops that it does not depend on: {again}"
        )


def check_loops(sink: UOp, parent: dict[UOp, UOp | None]) -> None:
    """Raises RuntimeError if a loop of a reduce is not right where its accumulator starts anew."""
    for u in sink.toposort():
        if u.op is Ops.REDUCE:
            loops, around = _loops_down_to(u.own_ranges[-1], parent), runs_of(u, parent)
            if loops != [*around, *u.own_ranges]:
                raise RuntimeError(f"a reduce of {around} has its own loops at {loops}")


# ---- one sort ------------------------------------------------------------------------------------

# what stands in a loop's body, statements and the loops inside it -> what of that body comes before
Body = dict[UOp, dict[UOp, None]]

# once, in this order
AT_TOP = [Ops.DEFINE_GLOBAL, Ops.DEFINE_VAR, Ops.SPECIAL, Ops.DEFINE_LOCAL, Ops.CONST]
# nodes that say where or how often, and are no instruction themselves
NO_STATEMENT = {Ops.RANGE, Ops.STAGE, Ops.SINK, *AT_TOP}


def in_order(nodes: list[UOp], parent: dict[UOp, UOp | None]) -> list[UOp]:
    """Every statement in the deepest loop that it depends on and after what it needs; a loop is
    RANGE … ENDRANGE. Where nothing decides, the order is that of `nodes`."""
    bodies = _bodies(_loops_of(nodes, parent), parent)
    out: list[UOp] = []
    work = _sorted(bodies[None])[::-1]
    while work:
        out.append(u := work.pop())
        if u in bodies:
            work += (UOp(Ops.ENDRANGE, dtypes.void, (u,)), *_sorted(bodies[u])[::-1])
    return out


def _loops_of(nodes: list[UOp], parent: dict[UOp, UOp | None]) -> dict[UOp, UOp | None]:
    """The loop in whose body each statement stands; None is the kernel's own body."""
    known: dict[frozenset[UOp], UOp | None] = {}
    out: dict[UOp, UOp | None] = {}
    for u in nodes:
        if u.op in NO_STATEMENT:
            continue
        if u.op is Ops.STORE and u.own_ranges:
            out[u] = u.own_ranges[-1]  # it closes them, so it is inside
            continue
        if (ranges := u.ranges) not in known:
            known[ranges] = deepest(ranges, parent)
        out[u] = known[ranges]
    return out


def _bodies(
    loop_of: dict[UOp, UOp | None], parent: dict[UOp, UOp | None]
) -> dict[UOp | None, Body]:
    """What stands in each loop and in the kernel itself, and what comes before what there. If one
    statement needs another, then of the two loops that hold them one comes before the other."""
    path: dict[UOp | None, list[UOp]] = {None: []}
    path |= {loop: _loops_down_to(loop, parent) for loop in parent}
    bodies: dict[UOp | None, Body] = {None: {}}

    def put_before(first: UOp, item: UOp, loop: UOp | None) -> None:
        """In the innermost body around both, what leads to `first` before what leads to `item`."""
        around = None
        for before, after in zip((*path[loop_of[first]], first), (*path[loop], item), strict=False):
            if before is not after:
                bodies[around][after][before] = None
                return
            around = before

    reads = _reads_before_overwriting(loop_of)
    for u, loop in loop_of.items():
        if loop not in bodies:
            for outer, inner in zip((None, *path[loop]), path[loop], strict=False):
                bodies[outer].setdefault(inner, {})
                bodies.setdefault(inner, {})
        body = bodies[loop]
        body.setdefault(u, {})
        for s in u.src:
            if s.op is Ops.STAGE:
                s = s.src[0]  # the memory is read: first it is written
            if s in body:
                body[u][s] = None
            elif s in loop_of:
                put_before(s, u, loop)
        for load in reads.get(u, ()):
            put_before(load, u, loop)
    for loop in parent:
        if loop.src[0] in loop_of:
            put_before(loop.src[0], loop, parent[loop])
    return bodies


def _reads_before_overwriting(statements: Iterable[UOp]) -> dict[UOp, list[UOp]]:
    """In place: whoever reads an element reads it before a STORE overwrites it. (A LOAD of a
    register says itself what it comes after.)"""
    store_of = {u.src[0]: u for u in statements if u.op is Ops.STORE}
    reads: dict[UOp, list[UOp]] = {}
    for u in statements:
        if u.op is Ops.LOAD and len(u.src) == 1 and u.src[0] in store_of:
            reads.setdefault(store_of[u.src[0]], []).append(u)
    return reads


def _sorted(body: Body) -> list[UOp]:
    """The items of one body, each after what it needs; otherwise in the order they were met."""
    order: dict[UOp, None] = {}
    begun: set[UOp] = set()
    for first in body:
        stack = [first]
        while stack:
            item = stack[-1]
            missing = [need for need in body[item] if need not in order]
            if item in order or not missing:
                order[stack.pop()] = None
                continue
            if item in begun:
                raise RuntimeError(
                    "two loops need each other's results: their ranges must not be shared"
                )
            begun.add(item)
            stack += missing[::-1]
    return list(order)


# ---- as instructions ----------------------------------------------------------------------------

# the sources that an instruction has; the others said where it stands
SOURCES = {Ops.STORE: FIRST_RANGE[Ops.STORE], Ops.LOAD: 1, Ops.DEFINE_REG: 0}


def instructions(ordered: list[UOp]) -> list[UOp]:
    """The same without what said where each stands, which their order says now."""
    done: dict[UOp, UOp] = {}
    out: dict[UOp, None] = {}
    twins: Counter[UOp] = Counter()
    for u in ordered:
        if u.op is not Ops.RANGE and u.op is not Ops.ENDRANGE:
            src = tuple([done[s] if s in done else _memory(s) for s in u.src[: SOURCES.get(u.op)]])
            new = u if src == u.src and u.tag is None else UOp(u.op, u.dtype, src, u.arg)
            if new in out:  # the same place read again is an instruction of its own
                twins[new] += 1
                new = new.rtag(twins[new])
            done[u] = u = new
        out[u] = None
    return list(out)


def _memory(u: UOp) -> UOp:
    """What a STAGE was written to; anything else is itself."""
    while u.op is Ops.STAGE:
        u = u.src[0].src[0].src[0]
    return u


# ---- barriers: the threads of a block wait for each other, so that they may share panels ---------
#
# A thread must not read an element of a panel before another has written it, nor write one that
# another may still have to read. One walk down the program keeps what was written and what was read
# since the last barrier, and puts a new one
#
#     for k:
#       BARRIER                            a thread may still be reading, in the round before
#       panel[lidx0] = x[k, lidx0]
#       BARRIER                            others have just written what is read now
#       for i: acc += panel[i]
#
# A loop that only copies, or only reads, has no barrier inside: it is one step of that walk. All
# threads of a block run the same loops equally often, so all of them get to every barrier.

Panels = frozenset[UOp]


def with_barriers(uops: list[UOp]) -> list[UOp]:
    """A program with BARRIERs, where its threads are in blocks; any other is as it was."""
    if not any(u.op is Ops.SPECIAL and u.arg[0].startswith("lidx") for u in uops):
        return uops
    loops = _loops(uops)
    out: list[UOp] = []
    written, read = Panels(), Panels()
    skipped: dict[int, tuple[Panels, Panels]] = {}  # where a loop ends that may have no round
    barriers = n = 0
    while n < len(uops):
        end = loops.get(n, n)
        stores, loads = _panels(uops[n : end + 1], Ops.STORE), _panels(uops[n : end + 1], Ops.LOAD)
        if stores and loads and end > n:
            # looked into: what an earlier round of it has done comes before what is in it
            if uops[n].src[0].op is not Ops.CONST:
                skipped[end] = written, read
            written, read, end = written | stores, read | loads, n
        else:
            if stores & read or loads & written:
                out.append(UOp(Ops.BARRIER, dtypes.void, (), barriers))
                barriers += 1
                written, read = Panels(), Panels()
            before = skipped.get(n, (Panels(), Panels()))
            written, read = written | stores | before[0], read | loads | before[1]
        out += uops[n : end + 1]
        n = end + 1
    return out


def _loops(uops: list[UOp]) -> dict[int, int]:
    """Where each loop begins -> where it ends."""
    ends: dict[int, int] = {}
    begun: list[int] = []
    for n, u in enumerate(uops):
        if u.op is Ops.RANGE:
            begun.append(n)
        elif u.op is Ops.ENDRANGE:
            ends[begun.pop()] = n
    return ends


def _panels(part: list[UOp], op: Ops) -> Panels:
    """The panels that a part of a program stores to, or loads from."""
    memory = (u.src[0].src[0] for u in part if u.op is op)
    return Panels(m for m in memory if m.addrspace is AddrSpace.LOCAL)
