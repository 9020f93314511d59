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
from collections.abc import Iterable, Iterator

from tinyframe import thresholds
from tinyframe.algebra.symbolic import from_terms, terms
from tinyframe.codegen.expand import ALONG_LANES, UNROLLED
from tinyframe.dtype import AddrSpace, DType, dtypes
from tinyframe.uop.node import (
    FIRST_RANGE,
    LOOPS,
    Ops,
    UOp,
    axis_type,
    extent,
    fresh_number,
    identity,
    is_symbolic,
    loops_of_scan,
    rebuild,
    sources_first,
)

# ---- accumulators: a REDUCE becomes loads and stores of a register -------------------------------
#
#     REDUCE(value, k)      becomes      register = DEFINE_REG
#                                        STORE register, 0                   before the loop over k
#                                        STORE register, LOAD + value        in it
#                                        LOAD                                after it
#
# A graph doesn't say by itself which loop a register belongs to, or in which order it is read and
# written. So both are sources: DEFINE_REG has the loops around it. A LOAD has, after its INDEX, the
# STORE that it follows, and the loop if every iteration reads the register again.


def with_registers(sink: UOp, tree: LoopTree) -> list[UOp]:
    """The nodes of a kernel, sources first, with register operations in place of REDUCEs and SCANs.

    They stay in the kernel's own order, which the program keeps unless dependences decide
    otherwise.
    """
    numbers = itertools.count()
    done: dict[UOp, UOp] = {}
    nodes: dict[UOp, None] = {}
    for u in sink.toposort():
        if u.op is Ops.REDUCE:
            around = tuple(sorted(u.ranges, key=lambda r: r.arg[0]))
            parts: list[tuple[UOp, ...]] = [(done[part],) for part in unrolled_parts(u)]
            steps = _accumulation(u.arg, u.dtype, parts, around, u.own_ranges, next(numbers))
            done[u] = steps[-1]
        elif u.op is Ops.SCAN:
            steps, done[u] = _running(u, [done[s] for s in u.src], tree, numbers)
        elif u.op is Ops.GEP:
            steps = [done[u.src[0]].gep(u.arg)]
            done[u] = steps[-1]
        elif u.tag != UNROLLED:  # the REDUCE accumulates the terms of an unrolled sum one by one
            src = tuple([done[s] for s in u.src])
            done[u] = new = u if src == u.src else UOp(u.op, u.dtype, src, u.arg, u.tag)
            steps = [new]
        else:
            continue
        nodes.update(dict.fromkeys(steps))
    used = {s for u in nodes for s in u.src}
    return [u for u in nodes if u.op is not Ops.VECTORIZE or u in used]


def _accumulation(
    op: Ops, dtype: DType, parts: list[tuple[UOp, ...]], around: tuple[UOp, ...],
    loops: tuple[UOp, ...], number: int,
) -> list[UOp]:  # fmt: skip
    """The instructions of an accumulator; the last one loads it after its `loops`. parts: what one
    iteration of them adds, one after the other; of a MULACC pairs of a factor and a term."""
    register = UOp(Ops.DEFINE_REG, dtype.ptr(1, AddrSpace.REG), around, number)
    place = register.index(UOp.const(dtypes.int, 0))
    start = UOp.const(dtype, identity(op, dtype.scalar()))
    store = place.store(start)
    steps = [register, *place.src[1:], place, *dict.fromkeys(start.src), start, store]
    for n, part in enumerate(parts, 1):
        before = UOp(Ops.LOAD, dtype, (place, store, loops[-1]))
        value = UOp(op, dtype, (before, *part))
        store = place.store(value, *(loops if n == len(parts) else ()))
        steps += (before, value, store)
    return [*steps, UOp(Ops.LOAD, dtype, (place, store))]


def _running(
    scan: UOp, src: list[UOp], tree: LoopTree, numbers: Iterator[int]
) -> tuple[list[UOp], UOp]:
    """The instructions of a SCAN, and its value in each iteration. In blocks, each of its loops has
    an accumulator: an outer one gets what the one inside it holds after its loop."""
    count = len(src) - len(loops_of_scan(scan))
    parts, loops = [tuple(src[:count])], src[count:]
    dtype, results, steps = scan.dtype, list[UOp](), list[UOp]()
    if scan.tag == ALONG_LANES:
        dtype = dtype.scalar()
        parts = [tuple([s.gep(n) for s in parts[0]]) for n in range(scan.dtype.count)]
        steps += itertools.chain(*parts)
    for loop in reversed(loops):
        *more, store, after = _accumulation(
            scan.arg, dtype, parts, tree[loop][:-1], (loop,), next(numbers)
        )
        *_, before, value = more
        results = (
            [value.replace(src=(before, result)) for result in results]
            if results
            else more[2 - 3 * len(parts) :: 3]
        )
        steps += (*more, *results, store, *([after] if loop is not loops[0] else ()))
        parts = [(after,)]
    if dtype is not scan.dtype:
        steps += (results := [UOp(Ops.VECTORIZE, scan.dtype, tuple(results))])
    return steps, results[0]


def unrolled_parts(reduce: UOp) -> list[UOp]:
    """The copies of a reduce's operand that UNROLL made, in order."""
    value, op = reduce.src[0], reduce.arg
    parts: list[UOp] = []
    while value.op is op and value.tag == UNROLLED:
        parts.append(value.src[1])
        value = value.src[0]
    return [value, *reversed(parts)]


# ---- long sums: nested accumulators, so that rounding errors stay small --------------------------
#
# Every addition rounds. A running sum of n numbers of one sign can be off by n half units in the
# last place, and the larger it is compared with the next number, the more each step loses: in
# float32, 2**24 plus 1 is 2**24. So a long sum is blocked. Each block's sum starts again at 0,
# and is then added to a second accumulator, which only gets one number per block; a very long sum
# has a third:
#
#     for o in 0 … 99:                     10,000 numbers in 100 blocks of 100
#       block = 0
#       for i in 0 … 99: block += x[o*100 + i]
#       total += block
#
# With at most r additions per accumulator (`thresholds.MOST_ADDITIONS`) and k levels the error is
# k*r half units at worst, whatever n is (Higham, "The accuracy of floating point summation",
# 1993, section 2). It only costs one more addition per block, so it is done for every sum,
# whatever was fused into it and however its loops were optimized. Integers, products and maxima
# gain nothing from it; if one shares the loops of a sum, its accumulator simply runs through all
# of the blocks.


Levels = list[list[UOp]]
"""The loops of a blocked sum, a list for each nested accumulator, the innermost one first."""


def block_long_sums(sink: UOp) -> UOp:
    """The kernel with nested REDUCEs in place of long float sums, except along loops that keep
    several panels (PIPELINE), which fill them in order, and sums in tensor cores: a tile of
    accumulators twice would not fit into a thread's registers."""
    by_loops: dict[tuple[UOp, ...], list[UOp]] = {}  # loops -> the reduces, or scans, along them
    whole: set[UOp] = set()
    for u in sink.toposort():
        if u.op in (Ops.REDUCE, Ops.SCAN):
            by_loops.setdefault(u.own_ranges or u.src[-1:], []).append(u)
        if u.op is Ops.STAGE and isinstance(u.arg, tuple):
            whole |= u.ranges
        elif u.op is Ops.REDUCE and any(part.op is Ops.MMA for part in unrolled_parts(u)):
            whole.update(u.own_ranges)
    numbers = itertools.count(fresh_number(sink))
    cut: dict[tuple[UOp, ...], Levels] = {}
    replaced: dict[UOp, UOp] = {}  # a loop -> the index expression that takes its place
    for loops, reduces in by_loops.items():
        added = [
            u.dtype.count if u.tag == ALONG_LANES else len(unrolled_parts(u))
            for u in reduces
            if _is_float_sum(u)
        ]
        has_mulacc = any(u.arg is Ops.MULACC for u in reduces)  # with a single accumulator
        if added and not has_mulacc and whole.isdisjoint(loops):
            levels, indices = split_into_levels(loops, max(added), numbers)
            if len(levels) > 1:
                cut[loops] = levels
                replaced |= indices
    if not cut:
        return sink

    def changed(old: UOp, u: UOp) -> UOp:
        if old.op is Ops.REDUCE and old.own_ranges in cut:
            (first, *others), value = cut[old.own_ranges], u.src[0]
            if not _is_float_sum(old):
                return value.reduce(old.arg, *itertools.chain(*reversed(others), first))
            for level in (first, *others):
                value = value.reduce(Ops.ADD, *level)
            return value
        if old.op in (Ops.SCAN, Ops.STORE) and (levels := cut.get(old.src[-1:])):
            return u.replace(src=(*u.src[:-1], *itertools.chain(*reversed(levels))))
        is_sum = dtypes.is_int(u.dtype) and u.op in (Ops.ADD, Ops.MUL) and u.dtype.count == 1
        # from_terms sorts the terms of an index, so that the part of it that depends on the outer
        # loop alone can be computed there.
        return from_terms(terms(u), u.dtype) if is_sum and u is not old else u

    blocked = rebuild(sink, changed, replaced)
    # a block may turn out not to depend on the loops over blocks around it
    return separate_loops(blocked)


def _is_float_sum(u: UOp) -> bool:
    return u.arg is Ops.ADD and dtypes.is_float(u.dtype)


def split_into_levels(
    loops: tuple[UOp, ...], count: int, numbers: Iterator[int]
) -> tuple[Levels, dict[UOp, UOp]]:
    """The loops in levels of few additions each, and the index in place of each loop that was cut.
    count: the additions in one iteration of all loops."""
    levels: Levels = [[]]
    replaced: dict[UOp, UOp] = {}
    for loop in reversed(loops):
        rest = loop
        while count * extent(rest) > thresholds.MOST_ADDITIONS:
            if count < thresholds.LONG_BLOCK:
                outer, inner, index = _cut(rest, thresholds.MOST_ADDITIONS // count, numbers)
                # the length of the last block depends on the loop outside of it
                levels = [[r.substitute({rest: index}) for r in level] for level in levels]
                replaced[loop] = replaced.get(loop, rest).substitute({rest: index})
                levels[-1].insert(0, inner)
                rest = outer
            levels.append([])
            count = 1
        levels[-1].insert(0, rest)
        count *= extent(rest)
    return levels, replaced


def _cut(loop: UOp, most: int, numbers: Iterator[int]) -> tuple[UOp, UOp, UOp]:
    """A loop split into two: (outer, inner, the index that replaces it). `most`: iterations of the
    inner one.

    All blocks are of the same length if a divisor of the loop's length is at least half of `most`;
    otherwise the last one is shorter.
    """
    size, count = loop.src[0], extent(loop)
    lengths = [] if is_symbolic(loop) else range(most, most // 2, -1)
    n = next((n for n in lengths if count % n == 0), None)
    divides = n is not None
    n = n or -(-count // -(-count // most))
    blocks = size.const_like(-(-count // n))
    if is_symbolic(loop):
        blocks = size.alu(Ops.ADD, size.const_like(n - 1)).alu(Ops.CDIV, size.const_like(n))
    outer = loop.replace(src=(blocks,), arg=(next(numbers), *loop.arg[1:]))
    start = outer.alu(Ops.MUL, outer.const_like(n))
    left = size.alu(Ops.ADD, start.alu(Ops.MUL, start.const_like(-1)))
    block_length = size.const_like(n)
    if not divides:
        block_length = left.alu(Ops.CMPLT, block_length).where(left, block_length)
    inner = loop.replace(src=(block_length,), arg=(next(numbers), *loop.arg[1:]))
    return outer, inner, start.alu(Ops.ADD, inner)


def linearize(sink: UOp) -> list[UOp]:
    """The program of a kernel whose ranges are all real loops, after `separate_loops`."""
    tree = loop_tree(sink)
    check_loops(sink, tree)
    nodes = with_registers(sink, tree)
    top = [u for op in AT_TOP for u in nodes if u.op is op]
    return [*top, *instructions(in_order(nodes, tree))]


# ---- the tree of loops --------------------------------------------------------------------------

LoopTree = dict[UOp, tuple[UOp, ...]]
"""Each loop -> the loops down to it, outermost first, itself included."""


def loop_tree(sink: UOp) -> LoopTree:
    """The loops of a kernel. Consumers are walked first, so that the place of a reduce's loop is
    known before that of loops inside it."""
    tree: LoopTree = {}
    for store in sink.src:
        _add_chain(tree, (), store.own_ranges)
    for u in reversed(sink.toposort()):
        if u.op in (Ops.REDUCE, Ops.STAGE):
            _add_chain(tree, enclosing_loops(u, tree), u.own_ranges)
    return tree


def _add_chain(tree: LoopTree, around: tuple[UOp, ...], ranges: tuple[UOp, ...]) -> None:
    for r in ranges:
        around = tree.setdefault(r, (*around, r))


def enclosing_loops(u: UOp, tree: LoopTree) -> tuple[UOp, ...]:
    """The loops around a node, outermost first: those down to the deepest that it depends on."""
    return max([tree[r] for r in u.ranges], key=len, default=())


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


def repeated_reduces(sink: UOp) -> dict[UOp, list[UOp]]:
    """The reduces that run more often than they have results, and the loops that repeat them.

    The result would be right, but slow. Copies and lanes don't count: equal copies become one node.
    """
    tree, found = loop_tree(sink), {}
    for u in sink.toposort():
        if u.op is Ops.REDUCE:
            around = enclosing_loops(u, tree)
            again = [r for r in around if axis_type(r) in LOOPS and r not in u.ranges]
            if again:
                found[u] = again
    return found


def check_no_recompute(sink: UOp) -> None:
    """Raises RuntimeError if a reduce runs more often than it has results."""
    for again in repeated_reduces(sink).values():
        raise RuntimeError(
            f"a reduce would run again in {len(again)} loops that it does not depend on: {again}"
        )


def check_loops(sink: UOp, tree: LoopTree) -> None:
    """Raises RuntimeError if a reduce's loops are not directly inside the loops around it, where
    its accumulator is initialized; or if a scan's loop is not inside all that it depends on."""
    for u in sink.toposort():
        if u.op is Ops.REDUCE:
            loops, around = tree[u.own_ranges[-1]], enclosing_loops(u, tree)
            if loops != (*around, *u.own_ranges):
                raise RuntimeError(f"a reduce of {around} has its own loops at {loops}")
        elif u.op is Ops.SCAN and not u.ranges.issubset(tree[u.src[-1]]):
            raise RuntimeError(f"a scan along {u.src[-1]} depends on loops inside it")


# ---- one topological sort ------------------------------------------------------------------------

# item of a loop's body (a statement, or a loop inside it) -> the items that it depends on
Body = dict[UOp, dict[UOp, None]]

# at the top of the program, in this order
AT_TOP = [Ops.DEFINE_GLOBAL, Ops.DEFINE_VAR, Ops.SPECIAL, Ops.DEFINE_LOCAL, Ops.CONST]
# nodes that are not statements of a loop's body
NOT_STATEMENTS = {Ops.RANGE, Ops.STAGE, Ops.SINK, *AT_TOP}


def in_order(nodes: list[UOp], tree: LoopTree) -> list[UOp]:
    """Every statement in the deepest loop that it depends on, after its dependences; a loop is
    RANGE … ENDRANGE. Otherwise the order is that of `nodes`."""
    bodies = _bodies(nodes, tree)
    out: list[UOp] = []
    work = _sorted(bodies[None])[::-1]
    while work:
        out.append(u := work.pop())
        if u in bodies:
            work += (UOp(Ops.ENDRANGE, dtypes.void, (u,)), *_sorted(bodies[u])[::-1])
    return out


def _bodies(nodes: list[UOp], tree: LoopTree) -> dict[UOp | None, Body]:
    """The body of each loop and (None) of the kernel itself, with its dependences. A dependence
    between statements in different loops becomes one between the enclosing items of their common
    body."""
    around = {  # a STORE is inside the ranges it closes
        u: tree[u.src[-1]] if u.op is Ops.STORE and u.own_ranges else enclosing_loops(u, tree)
        for u in nodes
        if u.op not in NOT_STATEMENTS
    }
    bodies: dict[UOp | None, Body] = {None: {}}

    def put_before(first: UOp, item: UOp, loops: tuple[UOp, ...]) -> None:
        """In the innermost body that contains both, orders the item around `first` before the one
        around `item`, which is inside `loops`."""
        common = None
        for before, after in zip((*around[first], first), (*loops, item), strict=False):
            if before is not after:
                bodies[common][after][before] = None
                return
            common = before

    reads = _reads_before_overwriting(around)
    for u, loops in around.items():
        for outer, inner in zip((None, *loops), (*loops, u), strict=True):
            bodies.setdefault(outer, {}).setdefault(inner, {})
        for s in u.src:
            if s.op is Ops.STAGE:
                s = s.src[0]  # reading the panel comes after writing it
            if s in around:
                put_before(s, u, loops)
        for load in reads.get(u, ()):
            put_before(load, u, loops)
    for loop, loops in tree.items():
        if loop.src[0] in around:
            put_before(loop.src[0], loop, loops[:-1])
    return bodies


def _reads_before_overwriting(statements: Iterable[UOp]) -> dict[UOp, list[UOp]]:
    """Write-after-read dependences of in-place updates: a STORE -> the LOADs of the element that it
    overwrites. (A LOAD of a register has the STORE it follows as a source.)"""
    store_of = {u.src[0]: u for u in statements if u.op is Ops.STORE}
    reads: dict[UOp, list[UOp]] = {}
    for u in statements:
        if u.op is Ops.LOAD and u.src[0] in store_of and not any(s.op is Ops.STORE for s in u.src):
            reads.setdefault(store_of[u.src[0]], []).append(u)
    return reads


def _sorted(body: Body) -> list[UOp]:
    """The items of one body in topological order; otherwise in the order they were added."""
    order = list(sources_first(body, lambda item: tuple(body[item])))
    place = {item: n for n, item in enumerate(order)}
    if any(place[need] > place[item] for item in order for need in body[item]):
        raise RuntimeError("two loops need each other's results: their ranges must not be shared")
    return order


# ---- instructions -------------------------------------------------------------------------------

# the number of sources that are operands; the others only ordered the statements
SOURCES = {Ops.STORE: FIRST_RANGE[Ops.STORE], Ops.LOAD: 1, Ops.DEFINE_REG: 0}


def instructions(ordered: list[UOp]) -> list[UOp]:
    """Statements without the sources that only ordered them, now that they are a list."""
    done: dict[UOp, UOp] = {}
    out: dict[UOp, None] = {}
    repeats: Counter[UOp] = Counter()
    for u in ordered:
        if u.op is not Ops.RANGE and u.op is not Ops.ENDRANGE:
            src = tuple([done[s] if s in done else _memory(s) for s in u.src[: SOURCES.get(u.op)]])
            new = u if src == u.src and u.tag is None else UOp(u.op, u.dtype, src, u.arg)
            if new in out:  # reading the same place again is a separate instruction
                repeats[new] += 1
                new = new.rtag(repeats[new])
            done[u] = u = new
        out[u] = None
    return list(out)


def _memory(u: UOp) -> UOp:
    """The memory that a STAGE was written to; any other node is itself."""
    while u.op is Ops.STAGE:
        u = u.src[0].src[0].src[0]
    return u
