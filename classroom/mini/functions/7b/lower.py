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

# %% wrong, changed: says kernel.graph begins at memory
-     value = loops.value(kernel.graph, index)
+     value = loops.value(kernel.value, index)

# %% wrong, changed: says stores element 12 of 12
-     store = UOp(Ops.STORE, (*loops.element(kernel.memory, index), value))
+     store = UOp(Ops.STORE, (*loops.element(kernel.memory, index[::-1]), value))

# %% wrong, changed: says something to simplify
-     return simplify(UOp(Ops.SINK, (store,))), loops.arguments
+     return UOp(Ops.SINK, (store,)), loops.arguments

# %% wrong, changed: says The first of the arguments
-     return simplify(UOp(Ops.SINK, (store,))), loops.arguments
+     return simplify(UOp(Ops.SINK, (store,))), loops.arguments[::-1]

# %% wrong, changed: says in the order of the axes
-     index = tuple(loops.counter(size) for size in kernel.value.shape)
+     index = tuple(loops.counter(size) for size in kernel.value.shape[::-1])[::-1]

# %% wrong, changed: says There is a BUFFER in the graph
-     value = loops.value(kernel.graph, index)
-     store = UOp(Ops.STORE, (*loops.element(kernel.memory, index), value))
+     _, place = loops.element(kernel.memory, index)
+     store = UOp(Ops.STORE, (kernel.memory, place, loops.value(kernel.graph, index)))

# %% wrong, changed: says and your STORE leaves
-     value = loops.value(kernel.graph, index)
+     value = loops.value(kernel.graph.src[0], index)

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
