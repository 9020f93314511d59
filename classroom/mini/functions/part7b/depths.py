"""Hint: toposort gives you the nodes in just the right order: sources come first. What do you know
of a node once you know its sources?
Hint: The inner loops are `src[1:]` of any REDUCE, and the outer ones all other RANGEs, sorted by
`arg[0]`. Then one loop over sink.toposort()[:-1], one dict: a RANGE has its place in outer + inner,
plus one, and a REDUCE or a STORE has len(outer), whatever its sources say.
Because: A value has to be in the loop of the innermost counter that it depends on, and nothing
makes it go deeper. Only a sum comes out again.
"""

from typing import Any

from classroom.mini.check import Wrong, describe, promise
from classroom.mini.functions.part7b.shared import (
    CASES,
    SUMS,
    kernels_of,
    loops_of,
    needs_loops,
    random_graph,
    silent,
    told,
)

LOOPS = ("value_at", "lower")
SOFTMAX = "1 / a.sum(1)"


def expect_depths(mini, said: str, sink: Any) -> None:
    """Wrong unless every node has as few loops around it as it needs."""
    Ops, call = mini.Ops, f"depths(loops of {said})"
    found = mini.depths(sink)
    if not isinstance(found, dict):
        raise Wrong(f"{call} should give a dict.", call, "a dict", describe(found)[:60])
    nodes = [node for node in sink.toposort()[:-1] if not silent(node)]
    inner = [counter for node in nodes if node.op is Ops.REDUCE for counter in node.src[1:]]
    outer = [node for node in nodes if node.op is Ops.RANGE and node not in inner]
    outer.sort(key=lambda counter: counter.arg[0])
    for node in nodes:
        wanted = needs_loops(mini, node, [*outer, *dict.fromkeys(inner)])
        if node.op is Ops.STORE:
            wanted = max(wanted, len(outer))
        if node not in found:
            raise Wrong(f"{told(node)} isn't in the dict.", call, f"{told(node)}: {wanted}")
        if found[node] != wanted:
            where = "the result is there when the inner loops are closed"
            why = {
                Ops.REDUCE: f"Of a REDUCE, {where}.",
                Ops.STORE: "A STORE is inside all the outer loops.",
                Ops.RANGE: "A RANGE is inside its own loop, and all that are around it.",
            }.get(node.op, "It needs the loops of its sources, and no others.")
            raise Wrong(f"{told(node)} is in the wrong number of loops. {why}", call, str(wanted),
                        describe(found[node]))  # fmt: skip


@promise("Each value is in the loops that it depends on, and in no others", needs=LOOPS)
def depths_of_values(mini) -> None:
    for said in ("a * 2", "a + b", "a.permute(1, 0)", "a.pad((1, 0), (0, 2))"):
        expect_depths(mini, said, loops_of(mini, CASES.get(said) or SUMS[said]))


@promise("A sum comes out of its loop, and what needs it stays outside", needs=LOOPS)
def depths_of_sums(mini) -> None:
    expect_depths(mini, SOFTMAX, loops_of(mini, lambda a, b: 1 / a.sum(1)))
    for said, make in SUMS.items():
        expect_depths(mini, said, loops_of(mini, make))
    for seed in range(10):
        for kernel, _ in kernels_of(mini, random_graph(mini, seed)):
            expect_depths(mini, "a graph of several steps", mini.lower(kernel)[0])

# %% shared
def loops_of(sink):
    """The outer and the inner ones."""
    nodes = sink.toposort()
    inner = next((list(node.src[1:]) for node in nodes if node.op is Ops.REDUCE), [])
    outer = [n for n in nodes if n.op is Ops.RANGE and len(n.arg) == 2 and n not in inner]
    return sorted(outer, key=lambda counter: counter.arg[0]), inner

# %% wrong: says should give a dict
def depths(sink):
    return None

# %% wrong: says isn't in the dict
def depths(sink):
    outer, inner = loops_of(sink)
    return {counter: n for n, counter in enumerate(outer + inner, 1)}

# %% wrong: says A RANGE is inside its own loop
def depths(sink):
    outer, inner = loops_of(sink)
    depth = {}
    for node in sink.toposort()[:-1]:
        depth[node] = max((depth[s] for s in node.src), default=0)
        if node in outer + inner:
            depth[node] = (outer + inner).index(node)
    return depth

# %% wrong: says needs the loops of its sources
def depths(sink):
    """Counts the counters: what needs only the second loop is in one, it says."""
    outer, inner = loops_of(sink)
    below, depth = {}, {}
    for node in sink.toposort()[:-1]:
        below[node] = set().union(*(below[s] for s in node.src))
        if node in outer + inner:
            below[node] = {node}
        depth[node] = len(below[node])
        if node in outer + inner:
            depth[node] = (outer + inner).index(node) + 1
        elif node.op in (Ops.REDUCE, Ops.STORE):
            depth[node], below[node] = len(outer), set(outer)
    return depth

# %% wrong: says Of a REDUCE, the result is there
def depths(sink):
    outer, inner = loops_of(sink)
    depth = {}
    for node in sink.toposort()[:-1]:
        depth[node] = max((depth[s] for s in node.src), default=0)
        if node in outer + inner:
            depth[node] = (outer + inner).index(node) + 1
    return depth

# %% wrong, changed: says A STORE is inside all the outer loops
# -         depth.setdefault(node, len(outer) if node.op in (Ops.REDUCE, Ops.STORE) else deepest)
# +         outermost = {Ops.REDUCE: len(outer), Ops.STORE: 0}
# +         depth.setdefault(node, outermost.get(node.op, deepest))

# %% right: one node after the other asks for its sources
def depths(sink):
    outer, inner = loops_of(sink)
    nest = {counter: n for n, counter in enumerate([*outer, *inner], 1)}

    def depth(node):
        if node.op in (Ops.REDUCE, Ops.STORE):
            return len(outer)
        return nest.get(node) or max(map(depth, node.src), default=0)

    return {node: depth(node) for node in sink.toposort()}
