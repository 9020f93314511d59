"""Hint: A kernel's graph is a graph like any other, and it starts from memory. What do you have
that computes such a graph? Where do the values have to go before the next kernel runs?
Hint: `interpret` takes a SINK, and you can make one of a single kernel's graph. Write into the
array that is there already (`data[...] = values`), since the other kernels hold the same BUFFER. In
the end, which BUFFER has the values of each source of the SINK?
Because: The kernels come in an order in which they can run, so one after another will do. A source
that was stored is in its kernel's memory. Any other was a BUFFER to begin with.
"""

import random
from typing import Any

import numpy as np

from classroom.mini.check import Wrong, expect_values, promise, wrong_if
from classroom.mini.functions.part4b.shared import (
    as_list,
    buffer,
    computed,
    random_graph,
    sink,
    spread,
    total,
    values_of,
)

ALL_BELOW = ("stored", "cut")


def expect_run(mini, said: str, graph: Any) -> None:
    got = as_list(mini.run_kernels(graph), said)
    if len(got) != len(graph.src):
        raise Wrong("There should be one array for each source of the SINK.", said,
                    str(len(graph.src)), str(len(got)))  # fmt: skip
    for values, source in zip(got, graph.src, strict=True):
        if isinstance(values, mini.UOp):
            raise Wrong("The result should be arrays, and this is a node.", said, got=repr(values))
        values = np.asarray(values)
        if np.isnan(values).any():
            raise Wrong("There are NaNs in the result: it comes from memory that no kernel has "
                        "written, or one of the kernels read such memory.", said)  # fmt: skip
        expect_values(said, values, values_of(mini, source))


@promise("The values of every source, in their order", needs=ALL_BELOW)
def values_in_order(mini) -> None:
    a = buffer(mini, 2, 2)
    s = total(mini, a)
    y = a * spread(mini, s, 2, 2)
    expect_run(mini, "run_kernels(UOp(Ops.SINK, (s,))), where s = a.sum(keepdim=True)",
               sink(mini, s))  # fmt: skip
    said = "run_kernels(UOp(Ops.SINK, (y, a, s))), where y = a * s.expand(2, 2)"
    expect_run(mini, said, sink(mini, y, a, s))


@promise("Each kernel is computed by itself", needs=ALL_BELOW)
def one_by_one(mini) -> None:
    root = buffer(mini, 4, 5).sqrt()
    x, y = total(mini, root, 0), total(mini, root, 1)
    said = "run_kernels(SINK) of root.sum(0, …) and root.sum(1, …), where root = a.sqrt()"
    wrong_if((times := computed(mini, "SQRT", x, y)) < 2, "Two kernels need the root, and neither "
             "stores it, so each computes it. Here it was computed once: the graph was run as a "
             "whole.", said, "2 SQRT", f"{times} SQRT")  # fmt: skip
    a = buffer(mini, 4, 5)
    said = "run_kernels(SINK) of a * s.expand(4, 5), where s = a.sum(keepdim=True)"
    share = a * spread(mini, total(mini, a), 4, 5)
    if (times := computed(mini, "REDUCE_AXIS", share)) > 1:
        raise Wrong("The first kernel stores the sum, and the second should read it from there. "
                    "Here it was added up again. A kernel's `graph` starts from memory, and its "
                    "`value` doesn't.", said, "1 REDUCE_AXIS", f"{times} REDUCE_AXIS")  # fmt: skip


@promise("The values of 100 random graphs", needs=ALL_BELOW)
def runs_by_chance(mini) -> None:
    dice = random.Random(6)
    for _ in range(100):
        expect_run(mini, "run_kernels(SINK) of a random graph", random_graph(mini, dice))

# %% wrong: no kernels
def run_kernels(sink):
    return interpret(sink)

# %% wrong: computes the values from scratch, not from the memory of the kernels before
def run_kernels(sink):
    memory = {}
    for kernel in cut(sink):
        kernel.memory.arg.data[...] = interpret(UOp(Ops.SINK, (kernel.value,)))[0]
        memory[kernel.value] = kernel.memory
    return [memory.get(source, source).arg.data for source in sink.src]

# %% wrong: says no kernel has written
def run_kernels(sink):
    return [kernel.memory.arg.data for kernel in cut(sink)]

# %% wrong: says returns nothing
def run_kernels(sink):
    for kernel in cut(sink):
        kernel.memory.arg.data[...] = interpret(UOp(Ops.SINK, (kernel.graph,)))[0]

# %% wrong: says one array for each source
def run_kernels(sink):
    return [interpret(UOp(Ops.SINK, (kernel.graph,)))[0] for kernel in cut(sink)]

# %% wrong: says this is a node
def run_kernels(sink):
    memory = {}
    for kernel in cut(sink):
        kernel.memory.arg.data[...] = interpret(UOp(Ops.SINK, (kernel.graph,)))[0]
        memory[kernel.value] = kernel.memory
    return [memory.get(source, source) for source in sink.src]

# %% wrong: says KeyError
def run_kernels(sink):
    memory = {}
    for kernel in cut(sink):
        kernel.memory.arg.data[...] = interpret(UOp(Ops.SINK, (kernel.graph,)))[0]
        memory[kernel.value] = kernel.memory
    return [memory[source].arg.data for source in sink.src]

# %% right: the memory gets a new array, and the values are where they belong
def run_kernels(sink):
    memory = {}
    for value, place, graph in cut(sink):
        place.arg.data = interpret(UOp(Ops.SINK, (graph,)))[0]
        memory[value] = place
    return [memory.get(source, source).arg.data for source in sink.src]
