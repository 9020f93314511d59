"""Hint: You have value_at for one element. Which index makes it every element, and where does each
value go?
Hint: Loops(kernel.memory) starts. A counter for each size of kernel.value.shape makes the index;
loops.value(kernel.graph, index) is what to store, and loops.element(kernel.memory, index) is
where: the first two sources of the STORE.
Because: The same index stands on both sides: the element at i, j is computed, and stored at i, j.
All the rest is simplification.
"""

# %% wrong: says is a STORE
def lower(kernel):
    return kernel.graph, []

# %% wrong: says should give a graph and a list of memory
def lower(kernel):
    return kernel.graph

# %% wrong: says kernel.graph begins at memory
def lower(kernel):
    loops = Loops(kernel.memory)
    index = tuple(loops.counter(size) for size in kernel.value.shape)
    value = loops.value(kernel.value, index)
    store = UOp(Ops.STORE, (*loops.element(kernel.memory, index), value))
    return simplify(UOp(Ops.SINK, (store,))), loops.arguments

# %% wrong: says stores element 12 of 12
def lower(kernel):
    loops = Loops(kernel.memory)
    index = tuple(loops.counter(size) for size in kernel.value.shape)
    value = loops.value(kernel.graph, index)
    store = UOp(Ops.STORE, (*loops.element(kernel.memory, index[::-1]), value))
    return simplify(UOp(Ops.SINK, (store,))), loops.arguments

# %% wrong: says something to simplify
def lower(kernel):
    loops = Loops(kernel.memory)
    index = tuple(loops.counter(size) for size in kernel.value.shape)
    value = loops.value(kernel.graph, index)
    store = UOp(Ops.STORE, (*loops.element(kernel.memory, index), value))
    return UOp(Ops.SINK, (store,)), loops.arguments

# %% wrong: says The first of the arguments
def lower(kernel):
    loops = Loops(kernel.memory)
    index = tuple(loops.counter(size) for size in kernel.value.shape)
    value = loops.value(kernel.graph, index)
    store = UOp(Ops.STORE, (*loops.element(kernel.memory, index), value))
    return simplify(UOp(Ops.SINK, (store,))), loops.arguments[::-1]

# %% wrong: says in the order of the axes
def lower(kernel):
    loops = Loops(kernel.memory)
    index = tuple(loops.counter(size) for size in kernel.value.shape[::-1])[::-1]
    value = loops.value(kernel.graph, index)
    store = UOp(Ops.STORE, (*loops.element(kernel.memory, index), value))
    return simplify(UOp(Ops.SINK, (store,))), loops.arguments

# %% wrong: says There is a BUFFER in the graph
def lower(kernel):
    loops = Loops(kernel.memory)
    index = tuple(loops.counter(size) for size in kernel.value.shape)
    _, place = loops.element(kernel.memory, index)
    store = UOp(Ops.STORE, (kernel.memory, place, loops.value(kernel.graph, index)))
    return simplify(UOp(Ops.SINK, (store,))), loops.arguments

# %% wrong: says and your STORE leaves
def lower(kernel):
    loops = Loops(kernel.memory)
    index = tuple(loops.counter(size) for size in kernel.value.shape)
    value = loops.value(kernel.graph.src[0], index)
    store = UOp(Ops.STORE, (*loops.element(kernel.memory, index), value))
    return simplify(UOp(Ops.SINK, (store,))), loops.arguments

# %% right: simplified before the SINK is put on top
def lower(kernel):
    loops = Loops(kernel.memory)
    index = [loops.counter(size) for size in kernel.value.shape]
    store = UOp(Ops.STORE, (*loops.element(kernel.memory, index), loops.value(kernel.graph, index)))
    return UOp(Ops.SINK, (simplify(store),)), loops.arguments

# %% right
def lower(kernel):
    loops = Loops(kernel.memory)
    index = [loops.counter(size) for size in kernel.memory.shape]
    parameter, place = loops.element(kernel.memory, index)
    value = value_at(kernel.graph, index, loops)
    return simplify(UOp(Ops.SINK, (UOp(Ops.STORE, (parameter, place, value)),))), [
        *loops.arguments
    ]
