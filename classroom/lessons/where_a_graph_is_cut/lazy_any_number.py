"""Exactly n kernels

Hint: Find a step that always adds one kernel to what's there.
Hint: You've seen one division that needed two kernels, and six of them that needed no more than
one. What would the second division have to wait for, so that it can't join the first?
Because: The sum of a column needs every row of what came before, and the next sum, of a row,
needs every column. No loop over rows (or columns) can do both, so each division is cut off from
the one before.
Right: You can now say how many kernels an expression becomes, and write one to order.
"""

import random

from classroom.ask import fresh_sizes, fresh_tensor, runs_as, tensor_of, written_without, wrong_if
from classroom.lessons.where_a_graph_is_cut.shared import _left_to_the_rule
from tinyframe import GlobalCounters


def check(answer) -> None:
    """answer(a, n): an expression of a square a that becomes n kernels by itself."""
    products = {"@", "matmul", "dot", "einsum", "linear", "conv2d"}
    written_without(answer, products, "and products are ruled out here")
    (size,) = fresh_sizes(1)
    for n in (1, 2, 3, random.randint(4, 7)):
        case = f"n = {n}" if n <= 3 else "a larger n"
        a, before = fresh_tensor(size, size), GlobalCounters.kernel_count
        tensor = tensor_of(answer, a, n, case=case)
        wrong_if(GlobalCounters.kernel_count > before,
                 "A kernel has run already. Return an expression, and leave it at that.",
                 case)  # fmt: skip
        wrong_if(a.uop.base not in tensor.uop.toposort(), "`a` isn't in your expression.", case)
        _left_to_the_rule(tensor, case)
        runs_as(tensor, n, case)

# %% shared
from tinyframe import Tensor

# %% wrong, each line
lambda a, n: a / a.sum()  # says takes 2 kernels; it should take 1
lambda a, n: a @ a  # says products are ruled out
lambda a, n: ((a + 1).contiguous() + 1).contiguous() + 1  # says CONTIGUOUS
lambda a, n: a * Tensor.rand(*a.shape)  # says Random
lambda a, n: (a / a.sum()).realize() + 1  # says A kernel has run already
lambda a, n: Tensor.ones(5) + 1  # says `a` isn't in your expression

# %% right
def means(a, n):
    for k in range(n):
        a = a * (a + a.mean(axis=k % 2, keepdim=True)).sqrt()
    return a
lambda a, n: means(a, n)
