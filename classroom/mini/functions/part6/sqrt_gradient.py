"""Hint: The root of x is x to the power of one half. What does the rule for powers say? And where
in it does the root itself come back?
Hint: The derivative is one over twice the root, and `node` is the root.
Because: d/dx sqrt(x) = 1 / (2 sqrt(x)). At 0 that is infinite: the curve is vertical there.
"""

from classroom.mini.check import promise
from classroom.mini.functions.part6.shared import buffer, expect_row


@promise("x = 4, grad = 1 gives (0.25,); x = 9, grad = 12 gives (2,)")
def root(mini) -> None:
    expect_row(mini, "sqrt_gradient with x = [4, 9], grad = [1, 12]", buffer(mini, [4, 9]).sqrt(),
               buffer(mini, [1, 12]), [[0.25, 2]], (
        ([[0.125, 12 / 18]], "That is grad / (2 * x). Divide by twice the root."),
        ([[0.5, 4]], "The factor of a half is missing: the power of x was one half."),
        ([[1, 18]], "The root is below the line: grad / (2 * root), and not grad * root / 2."),
    ))  # fmt: skip

# %% wrong: says The factor of a half is missing
@gradient_rule(Ops.SQRT)
def sqrt_gradient(grad, node, x):
    return (grad / node,)

# %% right: the root of 1 / x
@gradient_rule(Ops.SQRT)
def sqrt_gradient(grad, node, x):
    return (grad * 0.5 * x.recip().sqrt(),)
