"""Hint: The derivative of the natural logarithm is 1/x. By what factor is the logarithm to base 2
larger?
Hint: log2(x) is ln(x) / ln(2). The natural logarithm of 2 is in `math`.
Because: d/dx log2(x) = 1 / (x ln 2).
"""

import math

from classroom.mini.check import promise
from classroom.mini.functions.part6.shared import buffer, expect_row


@promise("x = 1, grad = 1 gives (1.442695,); x = 2 half of that")
def logarithm(mini) -> None:
    node = mini.UOp(mini.Ops.LOG2, (buffer(mini, [1, 2]),))
    whole = 1 / math.log(2)
    expect_row(mini, "log2_gradient with x = [1, 2], grad = [1, 1]", node, buffer(mini, [1, 1]),
               [[whole, whole / 2]], (
        ([[1, 0.5]], "That is the derivative of the natural logarithm. This one is to base 2."),
        ([[math.log(2), math.log(2) / 2]], "The factor is upside down: divide by the logarithm of "
                                           "2. log2 rises faster than ln."),
        *(([[1 / rounded, 0.5 / rounded]], f"{rounded} is ln(2) with too few digits. 32 bits hold "
           "seven of them, and `math` has 16.") for rounded in (0.69, 0.693, 0.6931, 0.69315)),
        *(([[rounded, rounded / 2]], f"{rounded} has too few digits. 32 bits hold seven of them, "
           "and 1 / math.log(2) has 16.") for rounded in (1.44, 1.443, 1.4427)),
    ))  # fmt: skip

# %% wrong: forgets grad, which is 1 in both examples
@gradient_rule(Ops.LOG2)
def log2_gradient(grad, node, x):
    return (1 / (x * math.log(2)),)

# %% wrong: says the derivative of the natural logarithm
@gradient_rule(Ops.LOG2)
def log2_gradient(grad, node, x):
    return (grad / x,)

# %% right
@gradient_rule(Ops.LOG2)
def log2_gradient(grad, node, x):
    return (grad * (math.log2(math.e) / x),)
