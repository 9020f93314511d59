"""Hint: You want a copy of the graph, in which some nodes have become BUFFERs. If you have the
copies of a node's sources, how do you make the copy of the node?
Hint: Go through toposort() with a dict: what stands for each node in the kernels? Mostly a node
with the same op and arg, whose sources are what stands for its sources. And for a node that is
stored, what do its users see instead?
Because: A stored node's copy becomes the graph of its kernel, and from then on its memory stands
for it. So everything that is copied later starts from that memory. Where nothing below was
stored, the copy is the very same node: the table of stage 4 sees to that.
"""

import random
from typing import Any

import numpy as np

from classroom.limit import OutOfTime
from classroom.mini.check import Wrong, describe, expect_values, promise, wrong_if
from classroom.mini.functions.part4b.shared import (
    Names,
    as_list,
    buffer,
    in_memory,
    inside,
    kernels_in_words,
    name_of,
    random_graph,
    sink,
    spread,
    total,
    values_of,
)


def rows_of(mini, got: Any, said: str) -> list[tuple[Any, Any, Any]]:
    """The kernels as rows of three nodes."""
    rows = []
    for row in as_list(got, said):
        if not isinstance(row, (tuple, list)) or len(row) != 3:
            wanted = "Kernel(value, memory, graph)"
            raise Wrong(f"{said} should be a list of Kernels.", said, wanted, describe(row))
        for field, node in zip(("value", "memory", "graph"), row, strict=True):
            if not isinstance(node, mini.UOp):
                raise Wrong(f"The `{field}` of a Kernel is a node.", said, "a UOp", describe(node))
        rows.append(tuple(row))
    return rows


def expect_kernels(mini, said: str, graph: Any, names: Names | None = None) -> None:
    """Wrong unless cut() gives kernels that can be run one after the other, each on its own."""
    names = names or {}
    rows = rows_of(mini, mini.cut(graph), said)
    order, wanted = graph.toposort(), list(mini.stored(graph))
    buffers = {node for node in order if in_memory(mini, node)}
    values = [value for value, _, _ in rows]
    for node in wanted:
        if node not in values:
            raise Wrong(f"stored(sink) has {name_of(node, names)}, and no kernel stores it.", said,
                        kernels_in_words(len(wanted)), kernels_in_words(len(rows)))  # fmt: skip
    for value, place, _ in rows:
        if value not in wanted:
            raise Wrong(f"There's a kernel for {name_of(value, names)}, which isn't in "
                        "stored(sink).", said, kernels_in_words(len(wanted)),
                        kernels_in_words(len(rows)))  # fmt: skip
        if place.op is not mini.Ops.BUFFER:
            raise Wrong(f"The `memory` of the kernel of {name_of(value, names)} isn't a BUFFER. "
                        "`memory_for(value)` gives one.", said, "a BUFFER",
                        place.op.name)  # fmt: skip
        if place in buffers:
            raise Wrong(f"The kernel of {name_of(value, names)} would overwrite a BUFFER that the "
                        "graph starts from.", said)  # fmt: skip
        if place.shape != value.shape:
            raise Wrong(f"The memory for {name_of(value, names)} has the wrong shape.", said,
                        value.shape, place.shape)  # fmt: skip
    places = [place for _, place, _ in rows]
    if len(set(places)) < len(places) or len(set(values)) < len(values):
        raise Wrong("Two kernels write to the same memory.", said)
    _expect_to_run(mini, said, rows, buffers, names)


def _expect_to_run(mini, said: str, rows: list[Any], buffers: set[Any], names: Names) -> None:
    """Run each kernel by itself, in order."""
    written, writer = set(buffers), {place: value for value, place, _ in rows}
    for value, place, graph in rows:
        kernel = f"The kernel of {name_of(value, names)}"
        leaves = {part for part in inside(graph, set()) if in_memory(mini, part)}
        if place in leaves:
            raise Wrong(f"{kernel} reads the memory that it is about to write. Its graph is how to "
                        "compute the value.", said, got=repr(graph))  # fmt: skip
        for leaf in leaves - written:
            late = f"`memory` of {name_of(writer[leaf], names)}" if leaf in writer else "a BUFFER"
            told = (f"{kernel} reads the {late}, which is only written later." if leaf in writer
                    else f"{kernel} reads a BUFFER that no kernel writes.")  # fmt: skip
            raise Wrong(told, said)
        original = inside(value, set())
        for other in writer.values():
            if other is not value and other in original and other in inside(graph, set()):
                raise Wrong(f"{kernel} computes {name_of(other, names)} again. Another kernel has "
                            "stored it, so read that kernel's memory.", said)  # fmt: skip
        wanted = values_of(mini, value)
        expect_values(f"what the kernel of {name_of(value, names)} computes",
                      values_of(mini, graph), wanted)  # fmt: skip
        again = {u for u in inside(graph, leaves) if u.op is mini.Ops.REDUCE_AXIS}
        wrong_if(len(again) > 1, f"{kernel} has {len(again)} reductions in its graph. What another "
                 "kernel has stored is read from memory.", said)  # fmt: skip
        place.arg.data[...] = wanted
        written.add(place)


@promise("One kernel for each value that is stored", needs=("stored",))
def one_each(mini) -> None:
    a, b = buffer(mini, 4, 5), buffer(mini, 4, 5)
    node = a * b + a
    root = node.sqrt()
    names = {a: "a", b: "b", node: "a * b + a", root: "root"}
    expect_kernels(mini, "cut(UOp(Ops.SINK, (a * b + a,)))", sink(mini, node), names)
    said = "cut(UOp(Ops.SINK, (a * b + a, root))), where root = (a * b + a).sqrt()"
    expect_kernels(mini, said, sink(mini, node, root), names)


@promise("The second kernel reads what the first one wrote", needs=("stored",))
def reads_memory(mini) -> None:
    a = buffer(mini, 4, 5)
    s = total(mini, a)
    y = spread(mini, s, 4, 5) * a
    names = {a: "a", s: "s", y: "y"}
    said = "cut(SINK) of y = s.expand(4, 5) * a, where s = a.sum(keepdim=True)"
    expect_kernels(mini, said, sink(mini, y), names)
    t = total(mini, y, 1)
    last = total(mini, spread(mini, t, 4, 5) * a)
    names = {a: "a", s: "s", t: "t", last: "the last"}
    said = "cut(SINK) of three sums, each of a times what the one before gives"
    expect_kernels(mini, said, sink(mini, last), names)


@promise("Whoever calls it chooses the memory", needs=("stored",))
def chosen_memory(mini) -> None:
    a = buffer(mini, 4, 5)
    y = spread(mini, total(mini, a, 1), 4, 5) * a
    given: dict[Any, Any] = {}

    def memory_for(node: Any) -> Any:
        given[node] = mini.UOp(mini.Ops.BUFFER, (), mini.Buffer(np.zeros(node.shape)))
        return given[node]

    said = "cut(sink, memory_for)"
    rows = rows_of(mini, mini.cut(sink(mini, y), memory_for), said)
    for value, place, _ in rows:
        if given.get(value) is not place:
            raise Wrong("The `memory` of a kernel should be what memory_for(value) returned for "
                        "it.", said)  # fmt: skip


@promise("Kernels of 100 random graphs can be run one by one", needs=("stored",))
def run_by_chance(mini) -> None:
    dice = random.Random(5)
    for _ in range(100):
        expect_kernels(mini, "cut(SINK) of a random graph", random_graph(mini, dice))


TOO_DEEP = (
    "The function calls itself, and this chain is deeper than Python allows. toposort() has every "
    "node after its sources, so one loop is enough."
)

TOO_SLOW = (
    "This follows every path, of which there are 2^60, or it searches the whole graph again for "
    "each node, here or in `stored`. Visit each node once."
)


@promise("A chain of 5,000 nodes, and sixty doublings", needs=("stored",),
         told={RecursionError: TOO_DEEP, OutOfTime: TOO_SLOW, MemoryError: TOO_SLOW})  # fmt: skip
def deep(mini) -> None:
    node = buffer(mini, 4)
    for _ in range(60):
        node = (node + node) * 0.5
    for _ in range(5_000):
        node = node.sqrt()
    rows = rows_of(mini, mini.cut(sink(mini, node)), "cut(SINK) of a long chain")
    wrong_if(len(rows) != 1, "A chain of elementwise ops is one kernel.",
             "cut(SINK) of a long chain", "1 kernel", kernels_in_words(len(rows)))  # fmt: skip
    expect_values("a long chain", values_of(mini, rows[0][2]), values_of(mini, node))

# %% wrong: each graph still reaches past what is stored
def cut(sink, memory_for=new_memory):
    return [Kernel(node, memory_for(node), node) for node in stored(sink)]

# %% wrong: says should be a list of Kernels
def cut(sink, memory_for=new_memory):
    return stored(sink)

# %% wrong: says isn't a BUFFER
def cut(sink, memory_for=new_memory):
    return [Kernel(node, node, node) for node in stored(sink)]

# %% wrong, changed: says reads a BUFFER that no kernel writes
# -         stands_for[node] = graph
# +         stands_for[node] = memory_for(node)
#
# -             stands_for[node] = memory_for(node)

# %% wrong, changed: says should be what memory_for(value) returned
# -             stands_for[node] = memory_for(node)
# +             stands_for[node] = new_memory(node)

# %% wrong, changed: says reads the memory that it is about to write
# -         graph = UOp(node.op, tuple(stands_for[source] for source in node.src), node.arg)
# -         stands_for[node] = graph
# +         stands_for[node] = UOp(node.op, tuple(stands_for[s] for s in node.src), node.arg)
#
# -             kernels.append(Kernel(node, stands_for[node], graph))
# +             kernels.append(Kernel(node, stands_for[node], stands_for[node]))

# %% wrong, changed: says AttributeError
# -         graph = UOp(node.op, tuple(stands_for[source] for source in node.src), node.arg)
# +         graph = UOp(node.op, tuple(stands_for[source] for source in node.src))

# %% wrong, changed: says stored(sink) has `s`, and no kernel stores it
# -     keep, stands_for, kernels = set(stored(sink)), {}, []
# +     sinks = set(sink.src)
# +     stands_for, kernels = {}, []
#
# -         if node in keep:
# +         if node in sinks and node.op not in MEMORY:

# %% wrong: says deeper than Python allows
def cut(sink, memory_for=new_memory):
    keep, known = stored(sink), {}

    def graph_of(node):
        return UOp(node.op, tuple(known.get(s) or graph_of(s) for s in node.src), node.arg)

    kernels = []
    for node in keep:
        kernels.append(Kernel(node, memory_for(node), graph_of(node)))
        known[node] = kernels[-1].memory
    return kernels

# %% wrong: says which isn't in stored(sink)
def cut(sink, memory_for=new_memory):
    stands_for, kernels = {}, []
    for node in sink.toposort()[:-1]:
        graph = UOp(node.op, tuple(stands_for[source] for source in node.src), node.arg)
        stands_for[node] = node if node.op in MEMORY else memory_for(node)
        if node.op not in MEMORY:
            kernels.append(Kernel(node, stands_for[node], graph))
    return kernels

# %% wrong: says would overwrite a BUFFER
def cut(sink, memory_for=new_memory):
    (memory, *_) = [node for node in sink.toposort() if node.op in MEMORY]
    return [Kernel(node, memory, node) for node in stored(sink)]

# %% wrong, changed: says has the wrong shape
# -             stands_for[node] = memory_for(node)
# +             stands_for[node] = memory_for(node.src[0])

# %% wrong: says Two kernels write to the same memory
def cut(sink, memory_for=new_memory):
    memory = memory_for(sink.src[0])
    return [Kernel(node, memory, node) for node in stored(sink)]

# %% wrong, changed: says reductions in its graph
# -             stands_for[node] = memory_for(node)
# -             kernels.append(Kernel(node, stands_for[node], graph))
# +             memory = memory_for(node)
# +             kernels.append(Kernel(node, memory, graph))
# +             if graph is node:
# +                 stands_for[node] = memory

# %% wrong: says The `memory` of a Kernel is a node
def cut(sink, memory_for=new_memory):
    return [Kernel(node, np.empty(node.shape), node) for node in stored(sink)]

# %% wrong, changed: says A chain of elementwise ops is one kernel
# -     keep, stands_for, kernels = set(stored(sink)), {}, []
# -     for node in sink.toposort()[:-1]:
# +     order, stands_for, kernels = sink.toposort()[:-1], {}, []
# +     keep = {*stored(sink), *order[100::100]}
# +     for node in order:

# %% right, changed
# -             kernels.append(Kernel(node, stands_for[node], graph))
# -     return kernels
# +             kernels.append((node, stands_for[node], graph))
# +     return tuple(kernels)
