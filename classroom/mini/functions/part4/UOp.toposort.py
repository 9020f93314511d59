"""Hint: When may a node go into the list? Say it as a condition on its sources. And how do you
notice, cheaply, that a node is in the list already?
Hint: Keep a list of nodes that are waiting, with this node in it. Look at one of them: if all of
its sources are done, it's done too. If not, it goes back to wait, and the missing ones are looked
at first. A dict remembers an order, and finds a node at once.
Because: A node is done once all of its sources are, so it never comes before one of them. Each
node gets into the dict once, however many users it has: 61 nodes, and not 2^60 paths. And nothing
calls itself, so no graph is too deep.
"""

import random
from typing import Any

from classroom.limit import OutOfTime
from classroom.mini.check import Wrong, expect, promise
from classroom.mini.functions.part4.shared import DOUBLINGS, constant, doubled

DEEP = 20_000  # Python lets functions call themselves about 1,000 deep

EVERY_PATH = (
    "This follows every path, and there are 2^60 of them. Visit each node once, however many users "
    "it has."
)


def expect_order(said: str, got: Any, names: dict[Any, str]) -> None:
    """Wrong unless these are the nodes, each after its sources. names: of the nodes, in a right
    order."""
    if isinstance(got, dict):
        turned = "`list(your_dict)` turns it into one."
        raise Wrong(f"{said} should be a list, and yours is a dict. {turned}", said)
    if not isinstance(got, (list, tuple)):
        raise Wrong(f"{said} should be a list.", said, "a list", type(got).__name__)
    wanted, place = list(names), {node: n for n, node in enumerate(got)}
    for is_so, sentence in (
        (len(place) < len(got), "A node comes more than once. Remember which nodes are done."),
        (wanted[-1] not in place, "The node itself is missing. It comes last."),
        (not set(wanted) <= set(got), "Some nodes are missing."),
        (len(got) > len(wanted), "There are nodes in it that aren't below this one."),
        (any(place.get(s, 0) > n for u, n in place.items() for s in u.src),
         "A node comes before one of its sources, so it can't be computed yet."),
    ):  # fmt: skip
        if is_so:
            in_words = ", ".join(names.get(u, "?") for u in got)
            raise Wrong(sentence, said, f"[{', '.join(names.values())}]", f"[{in_words}]")


def visited(node: Any) -> list[Any]:
    """A right order, for small graphs."""
    order: dict[Any, None] = {}

    def visit(node: Any) -> None:
        for source in node.src:
            if source not in order:
                visit(source)
        order[node] = None

    visit(node)
    return list(order)


@promise("For d = a * b + a: every node once, after its sources", needs=("UOp.__new__",))
def small_graph(mini) -> None:
    UOp, Ops = mini.UOp, mini.Ops
    a, b = constant(mini, 2.0), constant(mini, 3.0)
    c = UOp(Ops.MUL, (a, b))
    d = UOp(Ops.ADD, (c, a))
    expect_order("d.toposort()", d.toposort(), {a: "a", b: "b", c: "c", d: "d"})
    expect_order("a.toposort()", a.toposort(), {a: "a"})


@promise("61 nodes, although 2^60 paths lead through them", needs=("UOp.__new__",),
         told={OutOfTime: EVERY_PATH, MemoryError: EVERY_PATH})  # fmt: skip
def nodes_not_paths(mini) -> None:
    order = doubled(mini, constant(mini, 1.0), DOUBLINGS).toposort()
    expect("len(t.toposort()) after 60 times t = t + t", len(order), DOUBLINGS + 1)


@promise("A chain of 20,000 nodes",
    needs=("UOp.__new__",),
    told={
        RecursionError: "The function calls itself, and this chain is deeper than Python allows. "
                        "Keep a list of the nodes that are waiting instead.",
        OutOfTime: "20,000 nodes take too long. `node in some_list` searches the whole list. "
                   "A dict or a set finds a node right away.",
    },
)  # fmt: skip
def deep(mini) -> None:
    node = constant(mini, 1.0)
    for _ in range(DEEP):
        node = mini.UOp(mini.Ops.SQRT, (node,))
    expect("len(chain.toposort())", len(node.toposort()), DEEP + 1)


@promise("A right order for 200 random graphs", needs=("UOp.__new__",))
def graphs_by_chance(mini) -> None:
    dice = random.Random(0)
    for _ in range(200):
        nodes = [constant(mini, float(n)) for n in range(3)]
        for _ in range(dice.randrange(1, 10)):
            op = dice.choice((mini.Ops.ADD, mini.Ops.MUL, mini.Ops.MAX))
            nodes.append(mini.UOp(op, (dice.choice(nodes), dice.choice(nodes))))
        wanted = visited(nodes[-1])
        names = {u: str(u.arg) if not u.src else f"{u.op.name}{n}" for n, u in enumerate(wanted)}
        expect_order("toposort() of a random graph", nodes[-1].toposort(), names)

# %% wrong: breadth first, reversed: a source with a long and a short way down comes too late
def toposort(self):
    order, todo = {}, [self]
    while todo:
        node = todo.pop(0)
        if node not in order:
            order[node] = None
            todo.extend(node.src)
    return list(order)[::-1]

# %% wrong: a generator is no list
def toposort(self):
    seen, todo = set(), [(self, False)]
    while todo:
        node, ready = todo.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            todo.append((node, True))
            todo.extend((source, False) for source in node.src)

# %% wrong: says This follows every path, and there are 2^60 of them
def toposort(self):
    order = []
    for source in self.src:
        order += [node for node in source.toposort() if node not in order]
    return order + [self]

# %% wrong: says A node comes more than once
def toposort(self):
    order, waiting = [], [self]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += node.src
    return order[::-1]

# %% wrong: says The function calls itself, and this chain is deeper than Python allows
def toposort(self):
    done = {}
    def visit(node):
        for source in node.src:
            if source not in done:
                visit(source)
        done[node] = None
    visit(self)
    return list(done)

# %% wrong: says should be a list, and yours is a dict
def toposort(self):
    done = {}
    todo = [self]
    while todo:
        missing = [s for s in todo[-1].src if s not in done]
        if missing:
            todo += missing[::-1]
        else:
            done[todo.pop()] = None
    return done

# %% right: since Python 3.12, plain calls need no C stack; ugly, but it has every node in order
import sys

def toposort(self):
    sys.setrecursionlimit(10**6)
    order = {}

    def visit(node):
        if node not in order:
            for source in node.src:
                visit(source)
            order[node] = None

    visit(self)
    return list(order)
