"""Hint: What do you need to have before a node can be rebuilt? You wrote a function in stage 4 that
gives you the nodes in just that order.
Hint: Keep a dict from each old node to what it has become. A rebuilt node is UOp(op, the new
sources, arg); then `change` has its say. The result is what the root has become.
Because: Each node is rebuilt once, after its sources, without recursion. And since equal nodes
are one object, a graph in which nothing changes comes out as the very same graph.
"""

from collections.abc import Callable
from typing import Any

from classroom.mini.check import Wrong, promise, wrong_if
from classroom.mini.functions.part7a.shared import counters, expect_node, floats

DOUBLINGS = 60


@promise("Every node is rebuilt on top of its new sources")
def rebuilt(mini) -> None:
    i, j, k = counters(mini)

    def become(old: Any, new: Any) -> Callable[[Any], Any]:
        return lambda node: new if node is old else node

    root = i * 4 + i
    expect_node(
        "walk(i * 4 + i), with i → j,",
        mini.walk(root, become(i, j)),
        j * 4 + j,
        {
            root: "Nothing has changed. Build each node on what its sources have become.",
            j: "You returned a source. The result is what the root has become.",
        },
    )
    seen = []

    def both(node: Any) -> Any:
        seen.append(node)
        return {i: j, j + 1: k}.get(node, node)

    expect_node(
        "walk((i + 1) * 2), with i → j and j + 1 → k,",
        mini.walk((i + 1) * 2, both),
        k * 2,
        {(j + 1) * 2: "`change` has to be called with the rebuilt node: j + 1, not the old i + 1."},
    )
    flipped = mini.UOp(mini.Ops.FLIP, (floats(mini)[0],), (0,))  # its shape needs no arg
    kept = mini.walk(flipped, lambda node: node)
    if getattr(kept, "arg", None) != flipped.arg:
        raise Wrong("A node has an `arg`, too. It was lost on the way.", "walk(t.flip(0))",
                    repr(flipped.arg), repr(getattr(kept, "arg", None)))  # fmt: skip


@promise("Where nothing changes, the same nodes come back; each is visited once",
         told={RecursionError: "This graph is deeper than Python lets functions call themselves. "
         "toposort gives you the nodes in order, without recursion."})  # fmt: skip
def same_nodes(mini) -> None:
    i, j, _ = counters(mini)
    root = (i + j) * 4 + (i + j)
    expect_node("walk(root, lambda node: node)", mini.walk(root, lambda node: node), root)
    node = i
    for _ in range(DOUBLINGS):
        node = node + node
    calls = 0

    def count(node: Any) -> Any:
        nonlocal calls
        calls += 1
        wrong_if(calls > 10 * DOUBLINGS, "The same nodes are visited again and again. A node that "
                 "two others use is still one node: change it once.",
                 "i + i, then doubled 59 times more", f"{DOUBLINGS + 1} calls of `change`",
                 f"more than {10 * DOUBLINGS}")  # fmt: skip
        return node

    mini.walk(node, count)
    deep = i
    for _ in range(5000):
        deep = deep + j
    expect_node("walk of a graph of 5,000 nodes", mini.walk(deep, lambda node: node), deep)

# %% wrong, changed: only leaves are changed
# -         new[node] = change(UOp(node.op, tuple(new[source] for source in node.src), node.arg))
# +         new[node] = change(node) if not node.src else UOp(
# +             node.op, tuple(new[s] for s in node.src), node.arg)

# %% wrong: says Build each node on what its sources have become
def walk(root, change):
    return change(root)

# %% wrong, changed: says TypeError
# -         new[node] = change(UOp(node.op, tuple(new[source] for source in node.src), node.arg))
# +         new[node] = change(UOp(node.op, tuple(new[s] for s in node.src)))

# %% wrong: says change it once
def walk(root, change):
    src = tuple(walk(source, change) for source in root.src)
    return change(UOp(root.op, src, root.arg))

# %% wrong: says without recursion
def walk(root, change):
    @cache
    def visit(node):
        return change(UOp(node.op, tuple(map(visit, node.src)), node.arg))
    return visit(root)

# %% wrong, changed: says A node has an `arg`, too
# -         new[node] = change(UOp(node.op, tuple(new[source] for source in node.src), node.arg))
# +         if node.src:
# +             new[node] = change(UOp(node.op, tuple(new[source] for source in node.src)))
# +         else:
# +             new[node] = change(node)

# %% right
def walk(root, change):
    new = {}
    for node in root.toposort():
        rebuilt = UOp(node.op, tuple(map(new.__getitem__, node.src)), node.arg)
        new[node] = change(rebuilt)
    *_, last = new.values()
    return last
