"""Hint: Which of the five cases did you already write in stage 3, for Arrays? In which of them does
the index change on the way down, and in which does it get more counters?
Hint: Movement: loops.value(source, SOURCE_INDEX[op](index, shape of the source, arg)).
REDUCE_AXIS: its arg is (op, axes); a dict {axis: loops.counter(size)} makes the new index easy,
and the counters that aren't ZERO are the REDUCE's loops. For PAD, `inside` may give a Python
bool: ZERO + … makes a node of it.
Because: An element is known as soon as you know which elements it's made of. That was true for
numbers in stage 3; now the index is a formula, and so is the answer.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.limit import OutOfTime
from classroom.mini.check import Wrong, describe, promise, wrong_if
from classroom.mini.functions.part7a.shared import number, plain
from classroom.mini.functions.part7b.shared import (
    CASES,
    SHAPE,
    SUMS,
    OutOfMemory,
    kernels_of,
    random_graph,
    tensor,
    worth,
)


def program(mini, make: Callable[[Any, Any], Any]) -> tuple[Any, Any, np.ndarray]:
    """Loops and the node of one value of a graph, and the values that the graph has."""
    graph = make(tensor(mini, *SHAPE), tensor(mini, *SHAPE)).uop
    (values,) = mini.interpret(mini.UOp(mini.Ops.SINK, (graph,)))
    return mini.Loops(mini.new_memory(graph)), graph, np.asarray(values)


def expect_value_at(mini, said: str, make: Callable[[Any, Any], Any]) -> Any:
    """Wrong unless value_at gives what the graph has, at every index. Returns the node."""
    loops, graph, values = program(mini, make)
    index = tuple(loops.counter(size) for size in values.shape)
    call = f"value_at({said}, index)"
    got = loops.value(graph, index)
    if not isinstance(got, mini.UOp):
        raise Wrong(f"{call} should give a node.", call, "a UOp", describe(got))
    Ops = mini.Ops
    known = {*mini.ALU, Ops.CONST, Ops.RANGE, Ops.LOAD, Ops.REDUCE, Ops.DEFINE_GLOBAL}
    for node in got.toposort():
        if node.op not in known:
            text = f"There is still a {node.op.name} in {call}: that's a whole array, not a number."
            raise Wrong(text, call, "LOADs and arithmetic", node.op.name)
        if node.op is Ops.REDUCE and any(c.op is not Ops.RANGE for c in node.src[1:]):
            raise Wrong("One of the axes has a single element, so its counter is the constant 0, "
                        "and no loop. Leave it out of the REDUCE's sources.", call, "RANGEs",
                        plain(node))  # fmt: skip
    arrays = [memory.arg.data for memory in loops.arguments]
    for place in np.ndindex(*values.shape):
        at = {c: i for c, i in zip(index, place, strict=True) if c.op is mini.Ops.RANGE}
        try:
            value = worth(mini, got, at, arrays)
        except OutOfMemory as error:
            raise Wrong(f"{said} at index {place} reads {error}. Nothing may be read outside of "
                        "the memory, not even what is thrown away.", call) from error  # fmt: skip
        if not np.isclose(value, values[place], rtol=1e-4, atol=1e-5, equal_nan=True):
            raise Wrong(f"{said} at index {place} should be {values[place]:.6g}, and your node "
                        f"gives {float(value):.6g}.", call, f"{values[place]:.6g}",
                        f"{float(value):.6g}")  # fmt: skip
    return got


@promise("Memory is read, a constant is itself, arithmetic is done to values")
def simple_values(mini) -> None:
    for said in ("a", "a * 2", "a + b"):
        expect_value_at(mini, said, CASES[said])
    loops, graph, _ = program(mini, CASES["a"])
    i, j = loops.counter(3), loops.counter(4)
    got = mini.value_at(graph, (i, j), loops)
    if got.op is not mini.Ops.LOAD or got.src[0].op is not mini.Ops.DEFINE_GLOBAL:
        raise Wrong("Memory is read by a LOAD, whose sources are what loops.element(node, index) "
                    "gives.", "value_at(a, (i, j), loops)", "LOAD", got.op.name)  # fmt: skip
    got = mini.value_at(number(mini, 2.0), (i, j), loops)
    if got is not number(mini, 2.0):
        raise Wrong("A constant is the same at every index.", "value_at(2.0, (i, j), loops)",
                    "2.0", plain(got))  # fmt: skip


@promise("A movement op reads its source at a different index")
def moved_values(mini) -> None:
    for said, make in CASES.items():
        expect_value_at(mini, said, make)


@promise("REDUCE_AXIS is a REDUCE with a counter for each axis that has more than one element")
def reduced_values(mini) -> None:
    for said, make in SUMS.items():
        got = expect_value_at(mini, said, make)
        reduces = [node for node in got.toposort() if node.op is mini.Ops.REDUCE]
        wrong_if(len(reduces) != 1, f"{said} has one REDUCE in it.", f"value_at({said}, index)",
                 "one", str(len(reduces)))  # fmt: skip
    got = expect_value_at(mini, "a.reshape(12, 1).sum(1)", lambda a, b: a.reshape(12, 1).sum(1))
    wrong_if(any(node.op is mini.Ops.REDUCE for node in got.toposort()),
             "This sums an axis with one element: there's nothing to add, and no loop.",
             "value_at(a.reshape(12, 1).sum(1), index)", "no REDUCE", "a REDUCE")  # fmt: skip
    both = "a.reshape(3, 1, 4).sum(1, 2)"
    expect_value_at(mini, both, lambda a, b: a.reshape(3, 1, 4).sum(1, 2))


EVERY_PATH = (
    "This follows every path through the graph. Ask loops.value for the values of sources: it "
    "remembers what it was asked before."
)


@promise("What is shared is worked out once: 2^40 in 40 steps", told={OutOfTime: EVERY_PATH})
def shared_values(mini) -> None:
    loops, graph, _ = program(mini, CASES["a"])
    for _ in range(40):
        graph = mini.UOp(mini.Ops.ADD, (graph, graph))
    loops.value(graph, (loops.counter(3), loops.counter(4)))


@promise("Thirty graphs of all kinds have the values that the interpreter finds", seconds=20)
def any_values(mini) -> None:
    for seed in range(30):
        for kernel, _ in kernels_of(mini, random_graph(mini, seed)):
            loops = mini.Loops(kernel.memory)
            index = tuple(loops.counter(size) for size in kernel.value.shape)
            got = loops.value(kernel.graph, index)
            arrays = [memory.arg.data for memory in loops.arguments]
            wanted = kernel.memory.arg.data
            for place in list(np.ndindex(*wanted.shape))[:40]:
                at = {c: i for c, i in zip(index, place, strict=True) if c.op is mini.Ops.RANGE}
                try:
                    value = worth(mini, got, at, arrays)
                except OutOfMemory as error:
                    raise Wrong(
                        f"A graph of several steps reads {error}.",
                        " ← ".join(n.op.name for n in reversed(kernel.graph.toposort())),
                    ) from error
                if not np.isclose(value, wanted[place], rtol=1e-3, atol=1e-4):
                    raise Wrong(f"Element {place} of this graph should be {wanted[place]:.4g}.",
                                " ← ".join(n.op.name for n in reversed(kernel.graph.toposort())),
                                f"{wanted[place]:.4g}", f"{float(value):.4g}")  # fmt: skip

# %% shared
def plainly(node, index, loops):
    if node.op in MEMORY:
        return UOp(Ops.LOAD, loops.element(node, index))
    if node.op in SOURCE_INDEX:
        shape = node.src[0].shape
        value = loops.value(node.src[0], SOURCE_INDEX[node.op](index, shape, node.arg))
        if node.op is Ops.PAD:
            return where(ZERO + inside(index, shape, node.arg), value, UOp(Ops.CONST, (), 0.0))
        return value
    if node.op is Ops.REDUCE_AXIS:
        op, axes = node.arg
        counters = {axis: loops.counter(node.src[0].shape[axis]) for axis in axes}
        value = loops.value(node.src[0], [counters.get(axis, i) for axis, i in enumerate(index)])
        running = tuple(counter for counter in counters.values() if counter is not ZERO)
        return UOp(Ops.REDUCE, (value, *running), op) if running else value
    return UOp(node.op, tuple(loops.value(source, index) for source in node.src), node.arg)

# %% wrong: says should give a node
def value_at(node, index, loops):
    return None

# %% wrong: says that's a whole array, not a number
def value_at(node, index, loops):
    return node

# %% wrong, changed: says at index
# -         value = loops.value(node.src[0], SOURCE_INDEX[node.op](index, shape, node.arg))
# +         value = loops.value(node.src[0], index)

# %% wrong, changed: says This follows every path
# -     return UOp(node.op, tuple(loops.value(source, index) for source in node.src), node.arg)
# +     return UOp(node.op, tuple(value_at(source, index, loops) for source in node.src), node.arg)

# %% wrong, changed: says there's nothing to add
# -         return UOp(Ops.REDUCE, (value, *running), op) if running else value
# +         return UOp(Ops.REDUCE, (value, *running), op) if True else value

# %% wrong, changed: says Leave it out of the REDUCE's sources
# -         running = tuple(counter for counter in counters.values() if counter is not ZERO)
# +         running = tuple(counter for counter in counters.values() )

# %% wrong: says whose sources are what loops.element
def value_at(node, index, loops):
    value = plainly(node, index, loops)
    return value + 0.0 if node.op in MEMORY else value

# %% wrong: says A constant is the same at every index
def value_at(node, index, loops):
    return node + 0.0 if node.op is Ops.CONST else plainly(node, index, loops)

# %% wrong: says has one REDUCE in it
def value_at(node, index, loops):
    if node.op is not Ops.REDUCE_AXIS:
        return plainly(node, index, loops)
    op, axes = node.arg
    counters = {axis: loops.counter(node.src[0].shape[axis]) for axis in axes}
    value = loops.value(node.src[0], [counters.get(axis, i) for axis, i in enumerate(index)])
    for counter in counters.values():
        value = value if counter is ZERO else UOp(Ops.REDUCE, (value, counter), op)
    return value

# %% wrong: says not even what is thrown away
def value_at(node, index, loops):
    if node.op is not Ops.PAD:
        return plainly(node, index, loops)
    moved = [i - before for i, (before, _) in zip(index, node.arg, strict=True)]
    is_there = ZERO + inside(index, node.src[0].shape, node.arg)
    return where(is_there, loops.value(node.src[0], moved), UOp(Ops.CONST, (), 0.0))

# %% wrong: says A graph of several steps reads
def value_at(node, index, loops):
    """A picture has two axes: the last ones."""
    if node.op is not Ops.PAD:
        return plainly(node, index, loops)
    shape = node.src[0].shape
    moved = [i - before for i, (before, _) in zip(index, node.arg, strict=True)]
    moved[-2:] = SOURCE_INDEX[Ops.PAD](index[-2:], shape[-2:], node.arg[-2:])
    is_there = ZERO + inside(index, shape, node.arg)
    return where(is_there, loops.value(node.src[0], moved), UOp(Ops.CONST, (), 0.0))

# %% wrong: says of this graph should be
def value_at(node, index, loops):
    """A MAX is a choice, and this one is the wrong way round."""
    if node.op is not Ops.MAX:
        return plainly(node, index, loops)
    x, y = (loops.value(source, index) for source in node.src)
    return (x < y).where(x, y)

# %% right: PAD's index is kept inside by stage 5; the text had sounded as if it had to be done here
def value_at(node, index, loops):
    if node.op in MEMORY:
        return UOp(Ops.LOAD, loops.element(node, index))
    if node.op is Ops.CONST:
        return node
    if node.op is Ops.REDUCE_AXIS:
        op, axes = node.arg
        counters = {axis: loops.counter(node.src[0].shape[axis]) for axis in axes}
        inner = [counters.get(axis, i) for axis, i in enumerate(index)]
        value = loops.value(node.src[0], inner)
        ranges = tuple(r for r in counters.values() if r.op is Ops.RANGE)
        return UOp(Ops.REDUCE, (value, *ranges), op) if ranges else value
    if node.op in SOURCE_INDEX:
        shape = node.src[0].shape
        value = loops.value(node.src[0], SOURCE_INDEX[node.op](index, shape, node.arg))
        return where(inside(index, shape, node.arg), value, 0.0) if node.op is Ops.PAD else value
    return UOp(node.op, tuple(loops.value(s, index) for s in node.src), node.arg)
