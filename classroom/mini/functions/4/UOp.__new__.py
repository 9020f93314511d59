"""Hint: You need something to look a node up by, which is equal for equal nodes and different for
different ones. Try (2, 2.0, True) in Python: which of them are equal? And 0.0 and -0.0? What
would you add so that they aren't?
Hint: A tuple makes a fine key, and holds anything: what the node is made of, and one more thing
that tells a 2 from a 2.0 and a 0.0 from a -0.0. What is different when you *print* them? Look the
key up in `cls.table`; if nothing is there, make the node and put it in.
Because: `arg` alone isn't enough, because Python says 2 == 2.0 and 0.0 == -0.0. Their texts
differ. And no `hash` in the key: different things may share a hash, as -1.0 and -2.0 do.
"""

# %% wrong: Python's cache keeps every node for good, and thinks 0.0 is -0.0
from functools import lru_cache

@lru_cache(maxsize=None, typed=True)
def __new__(cls, op, src=(), arg=None):
    node = object.__new__(cls)
    node.op, node.src, node.arg = op, src, arg
    return node

# %% wrong, changed: different things may have one hash
-     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
+     key = hash((op, src, type(arg), arg))

-         node = cls.table[key] = object.__new__(cls)
+         cls.table[key] = node = object.__new__(cls)

# %% wrong: two Buffers with the same numbers become one
import pickle

def __new__(cls, op, src=(), arg=None):
    key = (op, src, pickle.dumps(arg))
    node = cls.table.get(key)
    if node is None:
        node = cls.table[key] = object.__new__(cls)
        node.op, node.src, node.arg = op, src, arg
    return node

# %% wrong: says There are two nodes for the same constant
def __new__(cls, op, src=(), arg=None):
    node = object.__new__(cls)
    node.op, node.src, node.arg = op, src, arg
    return node

# %% wrong, changed: says 2 and 2.0 became the same node
-     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
+     key = (op, src, arg)

# %% wrong, changed: says 0.0 and -0.0 became the same node
-     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
+     key = (op, src, arg, type(arg))

# %% wrong, changed: says -1.0 and -2.0 became the same node
-     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
+     key = hash((op, src, arg, type(arg)))

# %% wrong, changed: says Two nodes with a different `src` became one
-     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
+     key = (op, arg, type(arg))

# %% wrong, changed: says keeps it alive: `UOp.table`. A `WeakValueDictionary` would let go.
-     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
+     cls.table = dict(cls.table)
+     key = (op, src, arg, repr(arg))

# %% wrong: says Set the `op`, `src` and `arg` of a node
def __new__(cls, op, src=(), arg=None):
    return object.__new__(cls)

# %% wrong: says has no attribute 'tabel'
def __new__(cls, op, src=(), arg=None):
    node = object.__new__(cls)
    node.op, node.src, node.arg = op, src, arg
    cls.tabel[(op, src, arg, type(arg))] = node
    return node

# %% wrong: says should give a node. Is there a `return`?
def __new__(cls, op, src=(), arg=None):
    key = (op, src, arg)

# %% wrong, changed: says Set the `op`, `src` and `arg` of a node
-     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
+     key = (op, src, repr(arg))

-         node.op, node.src, node.arg = op, src, arg
+         node.op, node.src, node.arg = op, [*src], arg

# %% wrong, changed: says but equal ADDs are two
-     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
+     key = (op, id(src), repr(arg))

# %% wrong, changed: says NaN became the same node
-     key = (op, src, arg, repr(arg))  # 2 == 2.0 and 0.0 == -0.0, but they are written apart
+     is_odd = isinstance(arg, float) and not math.isfinite(arg)
+     key = (op, src, "odd" if is_odd else repr(arg))

# %% wrong: says is not in `UOp.table`
nodes = WeakValueDictionary()

def __new__(cls, op, src=(), arg=None):
    key = (op, src, arg, repr(arg))
    node = nodes.get(key)
    if node is None:
        node = nodes[key] = object.__new__(cls)
        node.op, node.src, node.arg = op, src, arg
    return node

# %% right: made first, looked up afterwards
def __new__(cls, op, src=(), arg=None):
    new = object.__new__(cls)
    new.op, new.src, new.arg = op, src, arg
    return cls.table.setdefault((op, src, type(arg), arg, str(arg)), new)

# %% right
def __new__(cls, op, src=(), arg=None):
    import struct
    bits = struct.pack("d", arg) if isinstance(arg, float) else arg
    key = (op, tuple(map(id, src)), type(arg), bits)
    if key in cls.table:
        return cls.table[key]
    node = super().__new__(cls)
    node.__dict__.update(op=op, src=src, arg=arg)
    cls.table[key] = node
    return node
