"""Build `(a * b).sum()` from UOps

Hint: What stands between the BUFFER and the result in the picture of `a.max()`? A dot product has
the same nodes, and one more.
Hint: The listing of `a.max()` shows the argument of each node. Which of them say that it's a
maximum, and what would say that it's a sum? A MUL comes first.
Because: A sum is the same as a maximum with ADD in place of MAX. REDUCE_AXIS leaves shape `(1,)`,
and the RESHAPE turns it into `()`.
Right: A dot product is three nodes, and you've just done all that `(a * b).sum()` does.
"""

from classroom.ask import fresh_sizes, fresh_tensor
from classroom.lessons.lazy_evaluation.shared import _build, _by_hand, _same_graph


def check(answer) -> None:
    """answer(a, b): the graph of (a * b).sum(), each node built by UOp(…)."""
    for n in (5, *fresh_sizes(1)):
        a, b = fresh_tensor(n), fresh_tensor(n)
        got, built = _build(answer, a, b)
        case = "`(a * b).sum()`" if n == 5 else "vectors of a different length"
        _same_graph(got, (a * b).sum().uop, case, a=a, b=b)
        _by_hand(got, built, a, b)

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

# %% right: as the listing of a.max() has it
def dot_product(a, b):
    product = UOp(Ops.MUL, a.dtype, (a, b))
    total = UOp(Ops.REDUCE_AXIS, a.dtype, (product,), (Ops.ADD, (0,)))
    return UOp(Ops.RESHAPE, a.dtype, (total,), ())
