# %% shared
from tinyframe.uop import Ops, UOp
from tinyframe import dtypes
def kernel(out, data, read, written=None, closed=True, size=None, sink=True):
    i = UOp.range(size or out.dtype.size, 0)
    place = out.index(i if written is None else written(i))
    store = place.store(read(data, i), *((i,) if closed else ()))
    return UOp.sink(store) if sink else store

# %% wrong, each line
lambda out, data: kernel(out, data, lambda d, i: d.index(i).load())  # says a copy
lambda out, data: kernel(out, data, lambda d, i: d.index(i).load() * d.index(i).load())  # says different numbers
lambda out, data: kernel(out, data, lambda d, i: d.index(i * i * i).load())  # says leaves its memory: LOAD reads data1
lambda out, data: kernel(out, data, lambda d, i: d.index(i * i).load(), closed=False)  # says ridx0 is never closed
lambda out, data: kernel(out, data, lambda d, i: d.index(i * i).load(), sink=False)  # says put it into `UOp.sink
lambda out, data: kernel(out, data, lambda d, i: d.index(i * i).load(), size=3)  # says never been written
lambda out, data: kernel(out, data, lambda d, i: (i * i).cast(dtypes.float))  # says i * i itself
lambda out, data: UOp.sink()  # says A SINK holds STOREs
lambda out, data: kernel(data, out, lambda d, i: d.index(i).load(), size=2)  # says writes to a place in `out`
lambda out, data: out  # says from `UOp.sink(…)`

# %% wrong: says squared what was read
(
    lambda out, data: kernel(
        out, data, lambda d, i: d.index(i * i).load() * d.index(i * i).load()
    )
)

# %% right, each line
lambda out, data: kernel(out, data, lambda d, i: (d.index(i * i)).load() * 1.0)

# %% right
def node_by_node(out, data):
    """Without a single method."""
    n = UOp(Ops.CONST, dtypes.int, (), out.dtype.size)
    true = UOp(Ops.CONST, dtypes.bool, (), True)
    i = UOp(Ops.RANGE, dtypes.int, (n,), UOp.range(1, 3).arg)
    square = UOp(Ops.MUL, dtypes.int, (i, i))
    place = UOp(Ops.INDEX, out.dtype, (out, true, i), (out.dtype.size,))
    there = UOp(Ops.INDEX, data.dtype, (data, true, square), (data.dtype.size,))
    value = UOp(Ops.LOAD, dtypes.float, (there,))
    return UOp(Ops.SINK, dtypes.void, (UOp(Ops.STORE, dtypes.void, (place, value, i)),))
node_by_node
