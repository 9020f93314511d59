# %% shared
from tinyframe.uop import Ops, UOp
from tinyframe import Tensor
def multiply(a, b):
    return UOp(Ops.MUL, a.dtype, (a, b))

# %% wrong, each line
lambda a, b: multiply(a, b)  # says missing from your graph: ADD
lambda a, b: Tensor(a) * Tensor(b) + Tensor(a)  # says a UOp
lambda a, b: UOp(Ops.MUL, a.dtype, a)  # says a UOp without a comma
lambda a, b: UOp(Ops.ADD, (UOp(Ops.MUL, (a, b)), a))  # says is its dtype
lambda a, b: a * b + a  # says MUL, ADD: built by an operator
lambda a, b: UOp(Ops.ADD, a.dtype, (a, UOp(Ops.MUL, a.dtype, (a, b))))  # a + a * b: the sources in the other order are another node

# %% wrong: the right node, by a method in place of UOp(…)
def multiply_add(a, b):
    return a.alu(Ops.MUL, b).alu(Ops.ADD, a)

# %% right: by keyword
def multiply_add(a, b):
    return UOp(dtype=a.dtype, op=Ops.ADD, src=(UOp(src=(a, b), op=Ops.MUL, dtype=b.dtype), a))

# %% right: with a helper
def multiply_add(a, b):
    make = lambda op, *src: UOp(op, a.dtype, src)
    return make(Ops.ADD, make(Ops.MUL, a, b), a)
