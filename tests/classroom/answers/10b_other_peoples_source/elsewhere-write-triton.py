# %% shared
from classroom.define_by_run import ops
from classroom.triton_like import tl
def softmax(
    other=float("-inf"), minus=True, in_row=True, total=True, stores=True, masked=True, safe=True
):
    """A kernel that does or does not do what it should."""

    def kernel(x_ptr, out_ptr, columns, BLOCK):
        i = tl.arange(0, BLOCK)
        mask = i < columns if masked else None
        at = i + tl.program_id(0) * columns if in_row else i
        e = tl.load(x_ptr + at, mask=mask, other=other)
        e = tl.exp(e - tl.max(e) if minus else e)
        if stores:
            tl.store(out_ptr + at, e / tl.sum(e) if total else e, mask=mask)

    return kernel

def at(index, place, then=None):
    i, j = index
    total = ops.add(ops.load("x", place(i, j)), ops.load("b", j))
    return (then or ops.relu)(total)

# %% wrong, each line
softmax(other=0.0)  # says adds up to less than 1
softmax(other=None)  # says isn't defined
softmax(minus=False)  # says more than a float can hold
softmax(in_row=False)  # says Only the first row arrives
softmax(stores=False)  # says Does each program store its row
softmax(total=False)  # says expected
softmax(masked=False)  # says A mask would leave it alone
"softmax"  # says asks for a kernel

# %% wrong: says Your maximum looks behind the end
def maximum_of_all(x_ptr, out_ptr, columns, BLOCK):
    i = tl.arange(0, BLOCK)
    at = i + tl.program_id(0) * columns
    e = tl.load(x_ptr + at, mask=i < columns, other=0.0)
    e = tl.exp(e - tl.max(e)) * (i < columns)
    tl.store(out_ptr + at, e / tl.sum(e), mask=i < columns)
maximum_of_all

# %% wrong: says TypeError
def without_block(x_ptr, out_ptr, columns):
    tl.store(out_ptr, columns)
without_block

# %% wrong: the zeros behind the end take part in the max: a row far below 0 is 0 / 0
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK):
    i = tl.arange(0, BLOCK)
    mask = i < columns
    x = tl.load(x_ptr + tl.program_id(0) * columns + i, mask=mask, other=0.0)
    e = tl.exp(x - tl.max(x, axis=0)) * mask
    tl.store(out_ptr + tl.program_id(0) * columns + i, e / tl.sum(e, axis=0), mask=mask)

# %% wrong: says it isn't the softmax
def of_twice(x_ptr, out_ptr, columns, BLOCK):
    i = tl.arange(0, BLOCK)
    at = i + tl.program_id(0) * columns
    e = tl.load(x_ptr + at, mask=i < columns, other=float("-inf"))
    e = tl.exp((e - tl.max(e)) * 2)
    tl.store(out_ptr + at, e / tl.sum(e), mask=i < columns)
of_twice

# %% right, each line
softmax()

# %% right
def by_where(x_ptr, out_ptr, columns, BLOCK):
    i = tl.arange(0, BLOCK)
    values = tl.load(x_ptr + tl.program_id(0) * columns + i, mask=i < columns, other=0.0)
    values = tl.where(i < columns, values, -float("inf"))
    e = tl.exp(values - tl.max(values, axis=0))
    tl.store(out_ptr + tl.program_id(0) * columns + i, e / tl.sum(e, axis=0), mask=i < columns)
by_where
