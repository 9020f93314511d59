"""Hint: e**x is its own derivative. 2**x isn't quite: write it as e to some power, and what does
the chain rule leave in front?
Hint: 2**x is e**(x ln 2), so a factor of ln 2 comes out. Take it from `math`, and not from memory:
three digits are enough for nobody. `node` is 2**x.
Because: d/dx 2**x = 2**x ln 2. A rounded ln 2 would be wrong in every exp, sigmoid and softmax that
you ever differentiate.
"""

import math

from classroom.mini.check import promise
from classroom.mini.functions.part6.shared import buffer, expect_row


@promise("x = 3, grad = 1 gives (5.5452,)")
def power_of_two(mini) -> None:
    x = buffer(mini, [3])
    node = mini.UOp(mini.Ops.EXP2, (x,))
    expect_row(mini, "exp2_gradient with x = 3, grad = 1", node, buffer(mini, [1]),
               [[8 * math.log(2)]], (
        ([[8]], "The logarithm of 2 is missing. Only e**x is its own derivative."),
        ([[8 / math.log(2)]], "You divided by the logarithm of 2. Multiply by it."),
        ([[12]], "That is x * 2**(x-1), the rule for x**n. Here x is the exponent."),
        *(([[8 * rounded]], f"{rounded} is ln(2) with too few digits. 32 bits hold seven of them, "
                            "and `math` has 16.") for rounded in (0.69, 0.693, 0.6931, 0.69315)),
    ))  # fmt: skip

# %% wrong: forgets grad, which is 1 in both examples
@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    return (node * math.log(2),)

# %% wrong: says The logarithm of 2 is missing
@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    return (grad * node,)

# %% wrong: says Nearly, but not as close as 32 bits
@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    return (grad * node * 0.69312,)

# %% right: the same node built again, and ln 2 as 1 / log2(e)
@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    return (grad * x.exp2() / math.log2(math.e),)
