"""Build `a * b + a` from UOps

Hint: How was the node of `a * a` built in the cell above?
Hint: `UOp(op, dtype, sources)`, where the sources are a tuple of UOps. Build the product first,
since it is a source of the ADD.
Because: The product is a MUL of `a` and `b`. The ADD takes the product as its first source and
`a` as its second, in the order of `a * b + a`.
Right: It isn't just equal to what `a * b + a` builds. It's the same object.
"""

from classroom.ask import fresh_tensor
from classroom.lessons.lazy_evaluation.shared import _build, _by_hand, _same_graph


def check(answer) -> None:
    """answer(a, b): the graph of a * b + a, each node built by UOp(…)."""
    a, b = fresh_tensor(5), fresh_tensor(5)
    got, built = _build(answer, a, b)
    _same_graph(got, (a * b + a).uop, "`a * b + a`", a=a, b=b)
    _by_hand(got, built, a, b)

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

# %% right: by keyword
def multiply_add(a, b):
    return UOp(dtype=a.dtype, op=Ops.ADD, src=(UOp(src=(a, b), op=Ops.MUL, dtype=b.dtype), a))
