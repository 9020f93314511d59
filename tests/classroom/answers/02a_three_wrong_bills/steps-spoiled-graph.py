# %% shared
from tinyframe.uop import Ops
def replaced(old, **changed):
    """A stage that replaces something in every node of an op."""
    return lambda sink: sink.substitute(
        {u: u.replace(**changed) for u in sink.toposort() if u.op is old}
    )

# %% wrong, each line
lambda sink: sink  # says nothing changed
replaced(Ops.MUL, op=Ops.ADD)  # says still a legal one
lambda sink: list(sink.toposort())  # says has to be a graph

# %% wrong: says Spoil something else
from tinyframe.dtype import dtypes
replaced(Ops.MUL, dtype=dtypes.int)

# %% wrong: a kernel that does nothing is legal (I had said right)
def spoil(sink):
    return sink.replace(src=())

# %% right: a loop without a length
def spoil(sink):
    return sink.substitute({u: u.replace(src=()) for u in sink.toposort() if u.op.name == "RANGE"})

# %% right: half precision by decree: the load, and not only the product, contradicts its memory
def spoil(sink):
    from tinyframe.dtype import dtypes
    loads = [u for u in sink.toposort() if u.op is Ops.LOAD]
    return sink.substitute({u: u.replace(dtype=dtypes.half) for u in loads})
