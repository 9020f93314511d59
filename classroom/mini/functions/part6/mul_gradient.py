"""Hint: Make x bigger by a tiny bit. By how much does x * y change? And what does `grad` do here?
Hint: x * y changes by y times that bit. `grad` says how much the loss cares about that change, so
it is multiplied on. Then the same with the parts exchanged.
Because: The derivative of x * y with respect to x is y, and the other way round; the chain rule
multiplies each by `grad`.
"""

from classroom.mini.check import promise
from classroom.mini.functions.part6.shared import buffer, expect_row


@promise("x = 3, y = 5, grad = 2 gives (10, 6)")
def product(mini) -> None:
    x, y = buffer(mini, [3]), buffer(mini, [5])
    expect_row(mini, "mul_gradient with x = 3, y = 5, grad = 2", x * y, buffer(mini, [2]),
               [[10], [6]], (
        ([[6], [10]], "These two are swapped: x gets grad * y."),
        ([[5], [3]], "`grad` is missing. Whatever you hand down is multiplied by it."),
        ([[2], [2]], "That is the row of ADD. If x grows by 1, x * y grows by y."),
    ))  # fmt: skip

# %% wrong: says `grad` is missing
@gradient_rule(Ops.MUL)
def mul_gradient(grad, node, x, y):
    return y, x

# %% right: a list, factors swapped
@gradient_rule(Ops.MUL)
def mul_gradient(grad, node, x, y):
    return [y * grad, x * grad]
