"""Linearization: from a graph to a flat list of instructions.

A statement sits in the outermost loop it can. Every value depends on what its sources depend on;
REDUCE and STAGE close the ranges they own. The loops form a tree (a reduce's loop hangs under the
deepest loop that its result depends on), each statement belongs to the deepest loop it depends on,
and reductions over the same ranges share a loop. Nothing else decides where code goes. So the
maximum in a softmax, which depends on the row only, is computed once per row, before the column
loop.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, field

from tinyframe.codegen.expand import UNROLLED
from tinyframe.codegen.long_sums import in_blocks
from tinyframe.dtype import AddrSpace, dtypes
from tinyframe.settings import settings
from tinyframe.uop.node import FIRST_RANGE, Ops, UOp
from tinyframe.uop.range import LOOPS, identity, kind


@dataclass(eq=False)
class Statement:
    """One instruction, what must come before it, and the loop whose body it is in."""

    uop: UOp
    loop: UOp | None
    needs: list[Statement] = field(default_factory=list)


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
    statements, sizes = _statements(sink, parent)
    return _in_order(statements, sizes, parent)


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


def depth(loop: UOp | None, parent: dict[UOp, UOp | None]) -> int:
    n = 0
    while loop is not None:
        loop, n = parent[loop], n + 1
    return n


def deepest(ranges: frozenset[UOp], parent: dict[UOp, UOp | None]) -> UOp | None:
    return max(ranges, key=lambda r: depth(r, parent), default=None)


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
        number = itertools.count(1 + max(r.arg[0] for r in sink.toposort() if r.op is Ops.RANGE))
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
            around = [r for r in runs_of(u, parent) if kind(r) in LOOPS]
            again = [r for r in around if r not in u.ranges]
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


# ---- statements ---------------------------------------------------------------------------------


def _statements(
    sink: UOp, parent: dict[UOp, UOp | None]
) -> tuple[list[Statement], dict[UOp, Statement]]:
    """All instructions but the loops', and those that compute the loops' sizes."""
    numbers = itertools.count()
    made: dict[UOp, Statement] = {}  # what computes each node
    program_of: dict[UOp, UOp] = {}  # what stands for it in the program
    out: list[Statement] = []
    standing: set[UOp] = set()
    loop_cache: dict[frozenset[UOp], UOp | None] = {}

    def loop_of(u: UOp) -> UOp | None:
        if u.ranges not in loop_cache:
            loop_cache[u.ranges] = deepest(u.ranges, parent)
        return loop_cache[u.ranges]

    def add(uop: UOp, loop: UOp | None, *needs: Statement) -> Statement:
        twins = 0
        while uop in standing:  # the same place read again is an instruction of its own
            twins += 1
            uop = uop.rtag(twins)
        standing.add(uop)
        out.append(statement := Statement(uop, loop, list(needs)))
        return statement

    for u in sink.toposort():
        if u in made:  # a reduce begins with it
            continue
        needs = [made[s] for s in u.src if s in made]
        src = tuple([program_of[s] for s in u.src])
        if u.op is Ops.RANGE:
            program_of[u] = u  # stands at the head of its loop
        elif u.op is Ops.REDUCE:
            register = UOp(Ops.DEFINE_REG, u.dtype.ptr(1, AddrSpace.REG), (), next(numbers))
            place = register.index(UOp.const(dtypes.int, 0))
            start = UOp.const(u.dtype, identity(u.arg, u.dtype.scalar()))
            loop = loop_of(u)
            first = add(place, loop, add(register, loop))
            if start not in made:
                made[start], program_of[start] = add(start, None), start
            last = add(place.store(start), loop, first, made[start])
            inner = u.own_ranges[-1]
            for part in _parts(u.src[0], u.arg):
                before = add(place.load(), inner, last)
                value = before.uop.alu(u.arg, program_of[part])
                step = add(value, inner, before, *([made[part]] if part in made else []))
                last = add(place.store(step.uop), inner, step, before)
            made[u] = add(place.load(), loop, last)
            program_of[u] = made[u].uop
        elif u.op is Ops.STAGE:
            scratch = u.src[0].src[0].src[0]
            made[u] = made[u.src[0]]
            program_of[u] = scratch
        elif u.op is Ops.STORE:
            new = UOp(Ops.STORE, dtypes.void, src[: FIRST_RANGE[Ops.STORE]])
            loop = (
                u.own_ranges[-1]
                if u.own_ranges
                else deepest(u.src[0].ranges | u.src[1].ranges, parent)
            )
            made[u] = add(new, loop, *needs)
            program_of[u] = made[u].uop
        elif u.op is Ops.SINK or u.tag == UNROLLED:
            program_of[u] = u  # an unrolled sum is taken apart where it is accumulated
        else:
            new = u if src == u.src and u.tag is None else UOp(u.op, u.dtype, src, u.arg)
            made[u] = add(new, loop_of(u), *needs)
            program_of[u] = made[u].uop
    # in place: whoever else reads an element reads it before it is overwritten
    stores = {u.src[0]: made[u] for u in made if u.op is Ops.STORE}
    for u in made:
        if u.op is Ops.LOAD and u.src[0] in stores:
            stores[u.src[0]].needs.append(made[u])
    return out, {loop: made[loop.src[0]] for loop in parent}


def _parts(value: UOp, op: Ops) -> list[UOp]:
    """The copies that UNROLL made of a reduce's value, in order."""
    parts: list[UOp] = []
    while value.op is op and value.tag == UNROLLED:
        parts.append(value.src[1])
        value = value.src[0]
    return [value, *reversed(parts)]


def _in_order(
    statements: list[Statement], sizes: dict[UOp, Statement], parent: dict[UOp, UOp | None]
) -> list[UOp]:
    """Sorts every loop's body, its statements and the loops in it, by what needs what."""
    path_of: dict[UOp | None, tuple[UOp, ...]] = {None: ()}
    for loop in parent:
        chain: list[UOp] = []
        r: UOp | None = loop
        while r is not None:
            chain.append(r)
            r = parent[r]
        path_of[loop] = tuple(reversed(chain))

    @functools.cache
    def meeting(a: UOp | None, b: UOp | None) -> tuple[UOp | None, UOp | None, UOp | None]:
        """The innermost body around statements of loops a and b, and the loop there that holds each
        (None: the statement stands in that body itself)."""
        x, y = path_of[a], path_of[b]
        common = next(
            (n for n, (r, q) in enumerate(zip(x, y, strict=False)) if r is not q),
            min(len(x), len(y)),
        )
        return (
            x[common - 1] if common else None,
            x[common] if common < len(x) else None,
            y[common] if common < len(y) else None,
        )

    # each loop's body: statement or inner loop -> those of the same body that it needs
    bodies: dict[UOp | None, dict] = {loop: {} for loop in path_of}
    for s in statements:
        outer: UOp | None = None
        for loop in path_of[s.loop]:
            bodies[outer].setdefault(loop, {})
            outer = loop
        bodies[outer].setdefault(s, {})
        for need in s.needs:
            body, mine, theirs = meeting(s.loop, need.loop)
            item, needed = (s if mine is None else mine), (need if theirs is None else theirs)
            if item is not needed:
                bodies[body][item][needed] = None
    for loop, size in sizes.items():
        body, outermost, _ = meeting(loop, size.loop)
        bodies[body][outermost][size] = None

    out: list[UOp] = []
    work: list = [("body", None)]
    while work:
        what, item = work.pop()
        if what == "end":
            out.append(UOp(Ops.ENDRANGE, dtypes.void, (item,)))
        elif what == "statement":
            out.append(item.uop)
        else:
            if item is not None:
                out.append(item)
                work.append(("end", item))
            for x in reversed(_sorted(bodies[item])):
                work.append(("statement", x) if isinstance(x, Statement) else ("body", x))
    # arguments, scratch memory and constants once, at the top
    top = dict.fromkeys(s for u in out for s in (u, *u.src) if s.op in _AT_TOP)
    return [
        *sorted(top, key=lambda u: _AT_TOP.index(u.op)),
        *[u for u in out if u.op not in _AT_TOP],
    ]


_AT_TOP = [Ops.DEFINE_GLOBAL, Ops.DEFINE_VAR, Ops.DEFINE_LOCAL, Ops.CONST]


def _sorted(needs: dict) -> list:
    """The items of one body, each after what it needs; otherwise in the order they were met."""
    order: dict = {}
    begun: set = set()
    for first in needs:
        stack = [(first, False)]
        while stack:
            item, ready = stack.pop()
            if ready:
                order[item] = None
            elif item not in order:
                if item in begun:
                    raise RuntimeError(
                        "two loops need each other's results: their ranges must not be shared"
                    )
                begun.add(item)
                stack.append((item, True))
                stack.extend(
                    (n, False) for n in reversed(list(needs.get(item, ()))) if n not in order
                )
    return list(order)
