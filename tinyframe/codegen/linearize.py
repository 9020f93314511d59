"""Linearization: from a graph to a flat list of instructions.

Each statement goes as far out in the loops as possible (loop-invariant code motion for free). A
value depends on the ranges that its sources depend on; REDUCE and STAGE close the ranges they own.
The loops form a tree (a reduce's loop is a child of the deepest loop that its result depends on),
each statement belongs to the deepest loop it depends on, and reductions over the same ranges share
a loop. Nothing else decides where code goes. So the maximum in a softmax, which depends on the row
only, is computed once per row, before the column loop.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable

from tinyframe.codegen.accumulators import block_long_sums, with_registers
from tinyframe.dtype import AddrSpace, dtypes
from tinyframe.settings import settings
from tinyframe.uop.node import FIRST_RANGE, LOOPS, Ops, UOp, fresh_number, kind


def linearize(sink: UOp, recompute: bool = False) -> list[UOp]:
    """The program of a kernel whose ranges are all real loops.

    `recompute` allows a reduce to run more often than it has results, as after `Tensor.fuse()`.
    """
    # the second time for blocks of a sum that don't depend on the loops over blocks around them
    sink = separate_loops(block_long_sums(separate_loops(sink)))
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
    """Each loop's parent; None is the kernel's own body. Consumers are walked first, so that the
    parent of a reduce's loop is known before that of loops inside it."""
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


def enclosing_loops(u: UOp, parent: dict[UOp, UOp | None]) -> list[UOp]:
    """The loops around a node, outermost first."""
    return _loops_down_to(deepest(u.ranges, parent), parent)


def _loops_down_to(loop: UOp | None, parent: dict[UOp, UOp | None]) -> list[UOp]:
    loops: list[UOp] = []
    while loop is not None:
        loops.append(loop)
        loop = parent[loop]
    return loops[::-1]


def separate_loops(sink: UOp) -> UOp:
    """Reduces that share RANGEs but depend on different loops get separate RANGEs.

    The copies of a reduce that UPCAST makes share its loop; a copy that turns out not to depend on
    the loops around it (it only reads padding) has to be outside of them.
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
        u = moved[-1]  # the outermost; the others may be resolved with it
        own: dict[UOp, UOp] = {}
        for r in u.own_ranges:  # the length of a last, shorter block depends on the loop around it
            own[r] = r.substitute(own).replace(arg=(next(number), *r.arg[1:]))
        alike = [x for x in moved if (x.own_ranges, x.ranges) == (u.own_ranges, u.ranges)]
        sink = sink.substitute({x: x.substitute(own) for x in alike})


def repeated_reduces(sink: UOp, parent: dict[UOp, UOp | None]) -> dict[UOp, list[UOp]]:
    """The reduces that run more often than they have results, and the loops that repeat them.

    The result would be right, but slow. Copies and lanes don't count: equal copies become one node.
    """
    found = {}
    for u in sink.toposort():
        if u.op is Ops.REDUCE:
            around = enclosing_loops(u, parent)
            again = [r for r in around if kind(r) in LOOPS and r not in u.ranges]
            if again:
                found[u] = again
    return found


def check_no_recompute(sink: UOp, parent: dict[UOp, UOp | None]) -> None:
    """Raises RuntimeError if a reduce runs more often than it has results."""
    for again in repeated_reduces(sink, parent).values():
        raise RuntimeError(
            f"a reduce would run again in {len(again)} loops that it does not depend on: {again}"
        )


def check_loops(sink: UOp, parent: dict[UOp, UOp | None]) -> None:
    """Raises RuntimeError if a reduce's loops are not directly inside the loops around it, where
    its accumulator is initialized."""
    for u in sink.toposort():
        if u.op is Ops.REDUCE:
            loops, around = _loops_down_to(u.own_ranges[-1], parent), enclosing_loops(u, parent)
            if loops != [*around, *u.own_ranges]:
                raise RuntimeError(f"a reduce of {around} has its own loops at {loops}")


# ---- one topological sort ------------------------------------------------------------------------

# item of a loop's body (a statement, or a loop inside it) -> the items that it depends on
Body = dict[UOp, dict[UOp, None]]

# at the top of the program, in this order
AT_TOP = [Ops.DEFINE_GLOBAL, Ops.DEFINE_VAR, Ops.SPECIAL, Ops.DEFINE_LOCAL, Ops.CONST]
# nodes that are not statements of a loop's body
NO_STATEMENT = {Ops.RANGE, Ops.STAGE, Ops.SINK, *AT_TOP}


def in_order(nodes: list[UOp], parent: dict[UOp, UOp | None]) -> list[UOp]:
    """Every statement in the deepest loop that it depends on, after its dependences; a loop is
    RANGE … ENDRANGE. Otherwise the order is that of `nodes`."""
    bodies = _bodies(_loops_of(nodes, parent), parent)
    out: list[UOp] = []
    work = _sorted(bodies[None])[::-1]
    while work:
        out.append(u := work.pop())
        if u in bodies:
            work += (UOp(Ops.ENDRANGE, dtypes.void, (u,)), *_sorted(bodies[u])[::-1])
    return out


def _loops_of(nodes: list[UOp], parent: dict[UOp, UOp | None]) -> dict[UOp, UOp | None]:
    """The loop whose body each statement belongs to; None is the kernel's own body."""
    known: dict[frozenset[UOp], UOp | None] = {}
    out: dict[UOp, UOp | None] = {}
    for u in nodes:
        if u.op in NO_STATEMENT:
            continue
        if u.op is Ops.STORE and u.own_ranges:
            out[u] = u.own_ranges[-1]  # a STORE is inside the ranges it closes
            continue
        if (ranges := u.ranges) not in known:
            known[ranges] = deepest(ranges, parent)
        out[u] = known[ranges]
    return out


def _bodies(
    loop_of: dict[UOp, UOp | None], parent: dict[UOp, UOp | None]
) -> dict[UOp | None, Body]:
    """The body of each loop and of the kernel itself, with its dependences. A dependence between
    statements in different loops becomes one between the enclosing items of their common body."""
    path: dict[UOp | None, list[UOp]] = {None: []}
    path |= {loop: _loops_down_to(loop, parent) for loop in parent}
    bodies: dict[UOp | None, Body] = {None: {}}

    def put_before(first: UOp, item: UOp, loop: UOp | None) -> None:
        """In the innermost body that contains both, orders the item around `first` before the one
        around `item`."""
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
                s = s.src[0]  # reading the panel comes after writing it
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
    """Write-after-read dependences of in-place updates: a STORE -> the LOADs of the element that it
    overwrites. (A LOAD of a register has the STORE it follows as a source.)"""
    store_of = {u.src[0]: u for u in statements if u.op is Ops.STORE}
    reads: dict[UOp, list[UOp]] = {}
    for u in statements:
        if u.op is Ops.LOAD and len(u.src) == 1 and u.src[0] in store_of:
            reads.setdefault(store_of[u.src[0]], []).append(u)
    return reads


def _sorted(body: Body) -> list[UOp]:
    """The items of one body in topological order; otherwise in the order they were added."""
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


# ---- instructions -------------------------------------------------------------------------------

# the number of sources that are operands; the others only ordered the statements
SOURCES = {Ops.STORE: FIRST_RANGE[Ops.STORE], Ops.LOAD: 1, Ops.DEFINE_REG: 0}


def instructions(ordered: list[UOp]) -> list[UOp]:
    """Statements without the sources that only ordered them, now that they are a list."""
    done: dict[UOp, UOp] = {}
    out: dict[UOp, None] = {}
    twins: Counter[UOp] = Counter()
    for u in ordered:
        if u.op is not Ops.RANGE and u.op is not Ops.ENDRANGE:
            src = tuple([done[s] if s in done else _memory(s) for s in u.src[: SOURCES.get(u.op)]])
            new = u if src == u.src and u.tag is None else UOp(u.op, u.dtype, src, u.arg)
            if new in out:  # reading the same place again is a separate instruction
                twins[new] += 1
                new = new.rtag(twins[new])
            done[u] = u = new
        out[u] = None
    return list(out)


def _memory(u: UOp) -> UOp:
    """The memory that a STAGE was written to; any other node is itself."""
    while u.op is Ops.STAGE:
        u = u.src[0].src[0].src[0]
    return u


# ---- barriers: synchronize the threads of a block, so that they can share panels -----------------
#
# A thread must not read an element of a panel before another has written it, nor overwrite one that
# another may still have to read. One walk down the program tracks the panels written and read since
# the last barrier, and inserts a new one where they conflict:
#
#     for k:
#       BARRIER                            a thread may still be reading, in the iteration before
#       panel[lidx0] = x[k, lidx0]
#       BARRIER                            others have just written what is read now
#       for i: acc += panel[i]
#
# A loop that only fills panels, or only reads them, has no barrier inside: it is one step of the
# walk. All threads of a block run the same iterations, so all of them reach every barrier.

Panels = frozenset[UOp]


def with_barriers(uops: list[UOp]) -> list[UOp]:
    """A program with BARRIERs inserted, if it runs in blocks of threads; otherwise unchanged."""
    if not any(u.op is Ops.SPECIAL and u.arg[0].startswith("lidx") for u in uops):
        return uops
    loops = _loops(uops)
    out: list[UOp] = []
    written, read = Panels(), Panels()
    skipped: dict[int, tuple[Panels, Panels]] = {}  # by the end of a loop that may not run at all
    barriers = n = 0
    while n < len(uops):
        end = loops.get(n, n)
        stores, loads = _panels(uops[n : end + 1], Ops.STORE), _panels(uops[n : end + 1], Ops.LOAD)
        if stores and loads and end > n:
            # walk into the loop: an earlier iteration comes before what is in it
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
    """Position of each loop's RANGE -> position of its ENDRANGE."""
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
