# %% shared
from tinyframe.uop import Ops, UOp
def multiply(a, b):
    return UOp(Ops.MUL, a.dtype, (a, b))

def total(a, b, axes=(0,)):
    return UOp(Ops.REDUCE_AXIS, a.dtype, (multiply(a, b),), (Ops.ADD, axes))

# %% wrong, each line
lambda a, b: total(a, b)  # says missing from your graph: RESHAPE
lambda a, b: UOp(Ops.REDUCE_AXIS, a.dtype, (multiply(a, b),))  # says possible node
lambda a, b: UOp(Ops.REDUCE_AXIS, a.dtype, (multiply(a, b),), (Ops.ADD, [0]))  # says list

# %% wrong: says built by an operator or a method
from tinyframe import Tensor
lambda a, b: (Tensor(a) * Tensor(b)).sum().uop

# %% wrong: shape (1,), not ()
def dot_product(a, b):
    product = UOp(Ops.MUL, a.dtype, (a, b))
    return UOp(Ops.REDUCE_AXIS, a.dtype, (product,), (Ops.ADD, (0,)))

# %% right: in a loop over ops and arguments
def dot_product(a, b):
    nodes = [UOp(Ops.MUL, a.dtype, (a, b))]
    for op, arg in ((Ops.REDUCE_AXIS, (Ops.ADD, (0,))), (Ops.RESHAPE, ())):
        nodes.append(UOp(op, a.dtype, (nodes[-1],), arg))
    return nodes.pop()

# %% right: as the listing of a.max() has it
def dot_product(a, b):
    product = UOp(Ops.MUL, a.dtype, (a, b))
    total = UOp(Ops.REDUCE_AXIS, a.dtype, (product,), (Ops.ADD, (0,)))
    return UOp(Ops.RESHAPE, a.dtype, (total,), ())
