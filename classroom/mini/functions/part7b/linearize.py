"""Hint: With the depths known, which lines have the same depth and can't go together? Where does
everything that needs the sum go?
Hint: Collect what comes after the inner loops: STOREs, and what needs a REDUCE, or something that
does. Sort the rest by depth: Python keeps the order of what's equally deep, so a RANGE comes before
what depends on it. DEFINE_REGs go right before the first inner RANGE, REDUCEs before its end.
Because: Nothing is repeated in a loop that it doesn't depend on, and a sum needs a place before,
inside and after its loop.
"""

from typing import Any

import numpy as np

from classroom.mini.check import Wrong, describe, promise, wrong_if
from classroom.mini.functions.part7a.shared import plain
from classroom.mini.functions.part7b.shared import (
    CASES,
    SUMS,
    execute,
    kernels_of,
    loops_of,
    needs_loops,
    random_graph,
    silent,
    told,
)

LOOPS = ("value_at", "lower")


def listed(lines: list[Any]) -> str:
    return ", ".join(told(node).removeprefix("the ") for node in lines)


def expect_lines(mini, said: str, sink: Any) -> list[Any]:
    """Wrong unless linearize gives lines in an order that can run, each in the loops it needs."""
    Ops = mini.Ops
    lines = mini.linearize(sink)
    call = f"linearize(loops of {said})"
    if not isinstance(lines, list) or not all(isinstance(node, mini.UOp) for node in lines):
        raise Wrong(f"{call} should give a list of nodes.", call, "a list", describe(lines)[:60])
    shown = listed(lines)
    nodes = [node for node in sink.toposort()[:-1] if not silent(node)]
    for node in lines:
        if silent(node):
            raise Wrong(f"{plain(node)} needs no line.", call, got=shown)
    for node in nodes:
        if lines.count(node) != 1:
            times = "no line" if node not in lines else f"{lines.count(node)} lines"
            raise Wrong(f"{told(node)} has {times}.", call, "one line each", shown)
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    inner = list(reduces[0].src[1:]) if reduces else []
    outer = sorted(
        (n for n in nodes if n.op is Ops.RANGE and n not in inner), key=lambda n: n.arg[0]
    )
    unclosed = [node for node in lines if node.op is Ops.RANGE]
    for node in lines:
        if node.op is Ops.ENDRANGE and node.src[0] in unclosed:
            unclosed.remove(node.src[0])
    if unclosed:
        raise Wrong(f"{told(unclosed[0])} is never closed.", call, got=shown)
    opened: list[Any] = []
    place: dict[Any, tuple[Any, ...]] = {}
    closed: set[Any] = set()
    for node in lines:
        if node.op is Ops.ENDRANGE:
            if not opened or opened[-1] is not node.src[0]:
                raise Wrong(f"{told(node)} closes a loop that isn't the innermost open one. Loops "
                            "are closed in the opposite order.", call, got=shown)  # fmt: skip
            closed.add(opened.pop())
            continue
        if node.op is Ops.DEFINE_REG:
            place[node.src[0]] = tuple(opened)
            continue
        for source in sorted(node.src, key=lambda source: source.op is not Ops.RANGE):
            if silent(source):
                continue
            if source.op is Ops.RANGE and node.op is Ops.REDUCE:
                wrong_if(source not in opened,
                         "A REDUCE is inside the loops that it runs over.", call,
                         got=shown)  # fmt: skip
                continue
            if source not in place:
                raise Wrong(f"{told(node)} needs {told(source)}, which has no line before it.",
                            call, got=shown)  # fmt: skip
            if source.op is Ops.REDUCE and not set(source.src[1:]) <= closed | {
                c for c in source.src[1:] if len(c.arg) > 2
            }:
                raise Wrong(f"{told(node)} needs the result of the REDUCE, and its loop is still "
                            "running.", call, got=shown)  # fmt: skip
            if tuple(opened[: len(place[source])]) != place[source]:
                raise Wrong(f"{told(node)} needs {told(source)}, which was computed in a loop that "
                            "is closed by now.", call, got=shown)  # fmt: skip
        if node.op is Ops.RANGE:
            if node in outer and [*opened, node] != outer[: len(opened) + 1]:
                text = "The outer loops are nested by their numbers, the smallest outermost."
                raise Wrong(text, call, ", ".join(map(told, outer)), shown)
            opened.append(node)
            place[node] = tuple(opened)
        elif node.op is Ops.REDUCE:
            wrong_if(node not in place, "A REDUCE needs its DEFINE_REG before it.", call, got=shown)
            if any(counter in place[node] for counter in node.src[1:]):
                raise Wrong("The DEFINE_REG is inside the loop of its REDUCE: the sum would "
                            "start again from 0 in every iteration.", call, got=shown)  # fmt: skip
            wrong_if(list(place[node]) != outer, "The DEFINE_REG belongs inside all the outer "
                     "loops: each result has a sum of its own.", call, got=shown)  # fmt: skip
        else:
            place[node] = tuple(opened)
            needed = needs_loops(mini, node, outer + inner)
            if node.op is Ops.STORE:
                needed = max(needed, len(outer))
            if len(opened) > needed:
                raise Wrong(f"{told(node)} is inside {told(opened[-1])}, and nothing in it "
                            "depends on that. It would be repeated for nothing.", call,
                            got=shown)  # fmt: skip
    return lines


@promise("Loops are opened and closed, and every line comes after what it needs", needs=LOOPS)
def lines_in_order(mini) -> None:
    for said in ("a * 2", "a + b", "a.permute(1, 0)", "a.pad((1, 0), (0, 2))"):
        expect_lines(mini, said, loops_of(mini, CASES.get(said) or SUMS[said]))


@promise("A sum starts before its loop, and is used after it", needs=LOOPS)
def sums_in_order(mini) -> None:
    for said, make in SUMS.items():
        expect_lines(mini, said, loops_of(mini, make))
    expect_lines(mini, "(a * a + b * b).sum(1).sqrt() * 2", loops_of(
        mini, lambda a, b: (a * a + b * b).sum(1).sqrt() * 2))  # fmt: skip


@promise("Loops are nested by number, whichever comes first in the graph", needs=LOOPS)
def loops_by_number(mini) -> None:
    sink = loops_of(mini, CASES["a.permute(1, 0)"])
    counters = [node for node in sink.toposort() if node.op is mini.Ops.RANGE]
    renamed = {
        node: mini.UOp(mini.Ops.RANGE, (), (9 - node.arg[0], node.arg[1])) for node in counters
    }
    expect_lines(mini, "a.permute(1, 0), its numbers swapped", mini.substitute(sink, renamed))


@promise("Lines of thirty graphs compute what the interpreter does", needs=LOOPS, seconds=20)
def lines_compute(mini) -> None:
    for seed in range(30):
        for kernel, _ in kernels_of(mini, random_graph(mini, seed)):
            sink, arguments = mini.lower(kernel)
            lines = expect_lines(mini, "a graph of several steps", sink)
            out = np.full(kernel.value.shape, np.nan, np.float32)
            execute(mini, lines, [out, *(memory.arg.data for memory in arguments[1:])])
            if not np.allclose(out, kernel.memory.arg.data, rtol=1e-3, atol=1e-4):
                raise Wrong("These lines can run, and compute something different.", listed(lines))

# %% shared
def in_order(sink, by=lambda counter: counter.arg[0]):
    nodes = sink.toposort()[:-1]
    reduces = [node for node in nodes if node.op is Ops.REDUCE]
    inner = list(reduces[0].src[1:]) if reduces else []
    loops = [node for node in nodes if node.op is Ops.RANGE and len(node.arg) == 2]
    outer = sorted((loop for loop in loops if loop not in inner), key=by)
    nest = outer + inner
    depth, last = {}, set()  # in how many loops a node is; what comes after the inner loops
    for node in nodes:
        depth[node] = max((depth[source] for source in node.src), default=0)
        if node in nest:
            depth[node] = nest.index(node) + 1
        elif node.op is Ops.STORE or any(s.op is Ops.REDUCE or s in last for s in node.src):
            last.add(node)
    elsewhere = {*last, *reduces, *(n for n in nodes if n.op in (Ops.CONST, Ops.RANGE))}
    lines = []
    for level in range(len(nest) + 1):
        lines += nest[level - 1 : level] if level else []
        lines += [node for node in nodes if depth[node] == level and node not in elsewhere]
        if level == len(outer):
            lines += [UOp(Ops.DEFINE_REG, (node,)) for node in reduces]
    lines += reduces + [UOp(Ops.ENDRANGE, (counter,)) for counter in reversed(inner)]
    lines += [node for node in nodes if node in last]
    return lines + [UOp(Ops.ENDRANGE, (counter,)) for counter in reversed(outer)]

# %% wrong: says should give a list of nodes
def linearize(sink):
    return None

# %% wrong: says 4 needs no line
def linearize(sink):
    return sink.toposort()

# %% wrong: says is never closed
def linearize(sink):
    return [node for node in sink.toposort()[:-1] if node.op is not Ops.CONST]

# %% wrong: says closed in the opposite order
def linearize(sink):
    *lines, one, other = in_order(sink)
    return [*lines, other, one]

# %% wrong: says It would be repeated for nothing
def linearize(sink):
    return sorted(in_order(sink), key=lambda node: node.op is not Ops.RANGE)

# %% wrong: says the sum would start again from 0
def linearize(sink):
    lines = []
    for node in in_order(sink):
        lines += [UOp(Ops.DEFINE_REG, (node,))] if node.op is Ops.REDUCE else []
        lines += [node] if node.op is not Ops.DEFINE_REG else []
    return lines

# %% wrong: says each result has a sum of its own
def linearize(sink):
    return sorted(in_order(sink), key=lambda node: node.op is not Ops.DEFINE_REG)

# %% wrong: says needs its DEFINE_REG
def linearize(sink):
    return [node for node in in_order(sink) if node.op is not Ops.DEFINE_REG]

# %% wrong: says needs the result of the REDUCE
def linearize(sink):
    lines = in_order(sink)
    for n in [n for n, node in enumerate(lines) if node.op is Ops.REDUCE]:
        lines[n + 1], lines[n + 2] = lines[n + 2], lines[n + 1]
    return lines

# %% wrong: says nested by their numbers
def linearize(sink):
    return in_order(sink, lambda counter: 0)  # sorted is stable: as they come in the graph

# %% wrong: says 2 lines
def linearize(sink):
    lines = in_order(sink)
    return [*lines, *(node for node in lines if node.op is Ops.REDUCE)]

# %% wrong: says which has no line before it
def linearize(sink):
    first, *lines = in_order(sink)
    return [*lines, first]

# %% wrong: says in a loop that is closed by now
def linearize(sink):
    return sorted(in_order(sink), key=lambda node: node.op is Ops.STORE)

# %% wrong: says A REDUCE is inside the loops
def linearize(sink):
    lines = in_order(sink)
    for reduce in [node for node in lines if node.op is Ops.REDUCE]:
        lines.remove(reduce)
        lines.insert(lines.index(UOp(Ops.ENDRANGE, (reduce.src[1],))) + 1, reduce)
    return lines

# %% wrong: says compute something different
def linearize(sink):
    """A variable for each REDUCE where it begins, and another one where it's needed."""
    lines = in_order(sink)
    again = [node for node in lines if node.op is Ops.DEFINE_REG]
    (end,) = [n for n, node in enumerate(lines) if node.op is Ops.STORE]
    return [*lines[:end], *again, *lines[end:]]

# %% right: without `depths`, in one piece
def linearize(sink):
    return in_order(sink)

# %% right: a list of levels; what needs a sum is collected for the end
def linearize(sink):
    nodes = [n for n in sink.toposort() if n.op not in (Ops.SINK, Ops.CONST)]
    reduces = [n for n in nodes if n.op is Ops.REDUCE]
    inner = list(dict.fromkeys(r for n in reduces for r in n.src[1:]))
    outer = [n for n in nodes if n.op is Ops.RANGE and n not in inner]
    nest = sorted(outer, key=lambda r: r.arg[0]) + inner
    depth, late, levels = {}, set(), [[] for _ in range(len(nest) + 1)]
    after = []
    for n in sink.toposort():
        if n in nest:
            depth[n] = nest.index(n) + 1
            continue
        depth[n] = max([depth[s] for s in n.src], default=0)
        if n.op in (Ops.SINK, Ops.CONST):
            continue
        if n.op is Ops.STORE or any(s in late or s in reduces for s in n.src):
            late.add(n)
            after.append(n)
        else:
            levels[len(nest) if n in reduces else depth[n]].append(n)
    lines = []
    for level in range(len(nest) + 1):
        if level:
            lines.append(nest[level - 1])
        lines += levels[level]
        if level == len(outer):
            at = len(lines) if inner else len(lines) - len(levels[level])
            lines[at:at] = [UOp(Ops.DEFINE_REG, (n,)) for n in reduces]
    lines += [UOp(Ops.ENDRANGE, (r,)) for r in reversed(inner)]
    return lines + after + [UOp(Ops.ENDRANGE, (r,)) for r in reversed(nest[: len(outer)])]
