"""Hint: You have value_at for one element. Which index makes it every element, and where does each
value go?
Hint: Loops(kernel.memory) starts. A counter for each size of kernel.value.shape makes the index;
loops.value(kernel.graph, index) is what to store, and loops.element(kernel.memory, index) is
where: the first two sources of the STORE.
Because: The same index stands on both sides: the element at i, j is computed, and stored at i, j.
All the rest is simplification.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from classroom.mini.check import Wrong, describe, promise, wrong_if
from classroom.mini.functions.part7a.shared import plain
from classroom.mini.functions.part7b.shared import CASES, SHAPE, SUMS, kernels_of, tensor, worth


def expect_lower(mini, said: str, make: Callable[[Any, Any], Any]) -> Any:
    """Wrong unless the STORE of a kernel puts each value where it belongs. Returns the SINK."""
    Ops, graph = mini.Ops, make(tensor(mini, *SHAPE), tensor(mini, *SHAPE)).uop
    kernel, read = kernels_of(mini, graph)[-1]
    wanted, call = np.array(kernel.memory.arg.data), f"lower(the kernel of {said})"
    got = mini.lower(kernel)
    if not isinstance(got, (tuple, list)) or len(got) != 2 or not isinstance(got[0], mini.UOp):
        raise Wrong(f"{call} should give a graph and a list of memory.", call, "a pair",
                    describe(got))  # fmt: skip
    sink, arguments = got
    if sink.op is not Ops.SINK or [source.op for source in sink.src] != [Ops.STORE]:
        raise Wrong("The graph is a SINK, and its only source is a STORE.", call, "SINK(STORE(…))",
                    plain(sink))  # fmt: skip
    if not arguments or arguments[0] is not kernel.memory:
        raise Wrong("The first of the arguments is the memory of the result, kernel.memory.", call)
    if any(node.op is Ops.BUFFER for node in sink.toposort()):
        raise Wrong("There is a BUFFER in the graph. Ask loops.element for memory: it gives the "
                    "parameter that stands for it.", call, "DEFINE_GLOBAL", "BUFFER")  # fmt: skip
    wrong_if({*arguments[1:]} != {*read}, "What is read should be the memory in kernel.graph, and "
             "nothing else. kernel.graph begins at memory; kernel.value goes all the way down.",
             call, f"{len(read)} to read", f"{len(arguments) - 1} to read")  # fmt: skip
    (store,) = sink.src
    sums = {c for node in sink.toposort() if node.op is Ops.REDUCE for c in node.src[1:]}
    outer = [n for n in sink.toposort() if n.op is Ops.RANGE and n not in sums]
    outer.sort(key=lambda node: node.arg[0])
    sizes = [size for size in kernel.value.shape if size > 1]
    if [counter.arg[1] for counter in outer] != sizes:
        raise Wrong("Every axis of kernel.value gets a counter, in the order of the axes.", call,
                    f"loops of {sizes}", f"{[c.arg[1] for c in outer]}")  # fmt: skip
    arrays = [memory.arg.data for memory in arguments]
    got_values = np.full(wanted.size, np.nan, np.float32)
    for place in np.ndindex(*sizes):
        at = dict(zip(outer, place, strict=True))
        where = worth(mini, store.src[1], at, arrays)
        if not 0 <= where < wanted.size:
            raise Wrong(f"{said} stores element {where} of {wanted.size}.", call)
        got_values[where] = worth(mini, store.src[2], at, arrays)
    for nth, value in enumerate(wanted.reshape(-1)):
        if not np.isclose(got_values[nth], value, rtol=1e-4, atol=1e-5, equal_nan=True):
            raise Wrong(f"Element {nth} of {said} should be {value:.6g}, and your STORE leaves "
                        f"{got_values[nth]:.6g} there.", call, f"{value:.6g}",
                        f"{got_values[nth]:.6g}")  # fmt: skip
    return sink


@promise("One STORE puts each value in its place, result first", needs=("value_at",))
def stored_values(mini) -> None:
    for said in ("a * 2", "a + b", "a.pad((1, 0), (0, 2))", "a.sum(1)", "a @ b.permute(1, 0)"):
        expect_lower(mini, said, CASES.get(said) or SUMS[said])
    said = "b * a.sum(1, keepdim=True).expand(3, 4)"
    expect_lower(mini, said, lambda a, b: b * a.sum(1, keepdim=True).expand(*SHAPE))


@promise("What comes out is simplified", needs=("value_at",))
def tidy_places(mini) -> None:
    said = "(a * 2).reshape(4, 3).reshape(3, 4) + b"
    sink = expect_lower(mini, said, lambda a, b: (a * 2).reshape(4, 3).reshape(3, 4) + b)
    left = {node.op.name for node in sink.toposort()} & {"IDIV", "MOD"}
    if left or mini.simplify(sink) is not sink:
        raise Wrong("There is still something to simplify in the graph.",
                    f"lower(the kernel of {said})", "no // and no %", plain(sink))  # fmt: skip

# %% wrong: says is a STORE
def lower(kernel):
    return kernel.graph, []

# %% wrong: says should give a graph and a list of memory
def lower(kernel):
    return kernel.graph

# %% wrong, changed: says kernel.graph begins at memory
# -     value = loops.value(kernel.graph, index)
# +     value = loops.value(kernel.value, index)

# %% wrong, changed: says stores element 12 of 12
# -     store = UOp(Ops.STORE, (*loops.element(kernel.memory, index), value))
# +     store = UOp(Ops.STORE, (*loops.element(kernel.memory, index[::-1]), value))

# %% wrong, changed: says something to simplify
# -     return simplify(UOp(Ops.SINK, (store,))), loops.arguments
# +     return UOp(Ops.SINK, (store,)), loops.arguments

# %% wrong, changed: says The first of the arguments
# -     return simplify(UOp(Ops.SINK, (store,))), loops.arguments
# +     return simplify(UOp(Ops.SINK, (store,))), loops.arguments[::-1]

# %% wrong, changed: says in the order of the axes
# -     index = tuple(loops.counter(size) for size in kernel.value.shape)
# +     index = tuple(loops.counter(size) for size in kernel.value.shape[::-1])[::-1]

# %% wrong, changed: says There is a BUFFER in the graph
# -     value = loops.value(kernel.graph, index)
# -     store = UOp(Ops.STORE, (*loops.element(kernel.memory, index), value))
# +     _, place = loops.element(kernel.memory, index)
# +     store = UOp(Ops.STORE, (kernel.memory, place, loops.value(kernel.graph, index)))

# %% wrong, changed: says and your STORE leaves
# -     value = loops.value(kernel.graph, index)
# +     value = loops.value(kernel.graph.src[0], index)

# %% right: simplified before the SINK is put on top
def lower(kernel):
    loops = Loops(kernel.memory)
    index = [loops.counter(size) for size in kernel.value.shape]
    store = UOp(Ops.STORE, (*loops.element(kernel.memory, index), loops.value(kernel.graph, index)))
    return UOp(Ops.SINK, (simplify(store),)), loops.arguments
