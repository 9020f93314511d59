"""A long product from few nodes

Hint: How many multiplications does `a` to the power 16 need if you may use results twice?
Hint: The power n is the square of the power n // 2, times `a` if n is odd. A function that calls
itself can say just that.
Because: Each squaring doubles the exponent with one node. An odd n costs one more multiplication,
so there are at most two MULs for each binary digit of n.
Right: A few lines of Python wrote a small graph for a long product.
"""

import random

from classroom.ask import Wrong, call, fresh_tensor, same_values, small_tensor, tensor_of
from classroom.lessons.lazy_evaluation.shared import nodes
from tinyframe import Tensor
from tinyframe.uop import Ops


def check(answer) -> None:
    """answer(a, n): `a` to the power n, with at most 2 * n.bit_length() MUL nodes."""
    a = small_tensor(1, 3)
    for n in (1, 2, 3, 5):
        case = f"`a = [[1, 2, 3]]`, n = {n}"
        got = tensor_of(answer, a, n, case=case)
        _only_multiplies(got, a, case)
        same_values(got, a.numpy() ** n, case)
    for n in (100, random.randint(50, 99)):
        a = fresh_tensor(5)
        case = f"n = {n}" if n == 100 else "a random n"
        got = call(answer, a, n)
        _only_multiplies(got, a, case)
        found, allowed = len(nodes(got, Ops.MUL)), 2 * n.bit_length()
        if found > allowed:
            shown = (f"at most {allowed} MUL nodes", found) if n == 100 else ()
            raise Wrong("The graph has too many multiplications.", case, *shown)
        same_values(got, a.numpy() ** n, case, shown=False)


def _only_multiplies(tensor: Tensor, a: Tensor, case: str) -> None:
    """Wrong where a power is made of more than products and constants."""
    new = set(tensor.uop.toposort()) - set(a.uop.toposort())
    ops = {u.op for u in new} - {Ops.MUL, Ops.CONST, Ops.RESHAPE, Ops.EXPAND}
    if ops:
        names = ", ".join(sorted(op.name for op in ops))
        raise Wrong(f"Use multiplications only. Your graph has {names} in it.", case)

# %% shared
def product(a, n):
    result = a
    for _ in range(n - 1):
        result = result * a
    return result

# %% wrong, each line
product  # says too many multiplications
lambda a, n: a**n  # says POW
lambda a, n: a * n  # says case `a = [[1, 2, 3]]`, n = 2

# %% right: all the squares first, then the product of those that n has a bit for
from functools import reduce

def power(a, n):
    squares = [a]
    for _ in range(n.bit_length() - 1):
        squares.append(squares[-1] * squares[-1])
    return reduce(lambda x, y: x * y, [s for k, s in enumerate(squares) if n >> k & 1])
