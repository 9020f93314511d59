"""Hint: Two graphs do the same work with different memory. What has to be replaced so that they
become one node? And what mustn't be lost?
Hint: toposort gives the BUFFERs in an order that only depends on the graph. Make a dict from each
to a DEFINE_GLOBAL with its place in that order and its shape; `substitute` does the rest. The
second dict is the same, turned round, with arrays.
Because: Nodes are unique, so equal work is the same object, and the object is the key of the
cache. Building and compiling happen once; every later step finds them there.
"""

# %% wrong, changed: by shape; the docstring wants toposort's order, and says why by example only
-     buffers = [node for node in sink.toposort() if node.op is Ops.BUFFER]
+     buffers = sorted((n for n in sink.toposort() if n.op is Ops.BUFFER), key=lambda n: n.shape)

# %% wrong: says There is still a BUFFER
def numbered(sink):
    return sink, {}

# %% wrong: says gives a pair
def numbered(sink):
    return sink

# %% wrong, changed: says different nodes of them
-     slots = {b: UOp(Ops.DEFINE_GLOBAL, (), (n, b.shape)) for n, b in enumerate(buffers)}
+     slots = {b: UOp(Ops.DEFINE_GLOBAL, (), (id(b), b.shape)) for n, b in enumerate(buffers)}

# %% wrong, changed: says isn't the same work
-     slots = {b: UOp(Ops.DEFINE_GLOBAL, (), (n, b.shape)) for n, b in enumerate(buffers)}
+     slots = {b: UOp(Ops.DEFINE_GLOBAL, (), (0, b.shape)) for n, b in enumerate(buffers)}

# %% wrong, changed: says not a copy
-     return substitute(sink, slots), {slots[b]: b.arg.data for b in buffers}
+     return substitute(sink, slots), {slots[b]: b.arg.data.copy() for b in buffers}

# %% wrong, changed: says IndexError
-     slots = {b: UOp(Ops.DEFINE_GLOBAL, (), (n, b.shape)) for n, b in enumerate(buffers)}
+     slots = {b: UOp(Ops.DEFINE_GLOBAL, (), (n, ())) for n, b in enumerate(buffers)}

# %% wrong, changed: says 0 and 1
-     slots = {b: UOp(Ops.DEFINE_GLOBAL, (), (n, b.shape)) for n, b in enumerate(buffers)}
+     slots = {b: UOp(Ops.DEFINE_GLOBAL, (), (n, b.shape)) for n, b in enumerate(buffers, 1)}

# %% wrong, changed: says the array of a different one
-     return substitute(sink, slots), {slots[b]: b.arg.data for b in buffers}
+     return substitute(sink, slots), {slots[b]: c.arg.data for b, c in zip(buffers, reversed(buffers))}

# %% right: one after the other
def numbered(sink):
    arrays = {}
    for node in sink.toposort():
        if node.op is Ops.BUFFER:
            slot = UOp(Ops.DEFINE_GLOBAL, (), (len(arrays), node.shape))
            sink, arrays[slot] = substitute(sink, {node: slot}), node.arg.data
    return sink, arrays

# %% right
def numbered(sink):
    slots, arrays = {}, {}
    for node in sink.toposort():
        if node.op == Ops.BUFFER:
            slot = UOp(Ops.DEFINE_GLOBAL, (), (len(slots), node.shape))
            slots[node], arrays[slot] = slot, node.arg.data
    return substitute(sink, slots), arrays
