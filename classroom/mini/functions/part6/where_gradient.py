"""Hint: One of the two was chosen, element by element. Who should get `grad`, and what does the
other one get? And can a condition be nudged?
Hint: The same condition that chose the value chooses the gradient: `where` once more, with 0 for
the one that lost. The condition is 0 or 1, with nothing in between, so it gets None.
Because: The gradient goes back the way the value came. A tiny change of a condition changes
nothing, except where it changes everything, and there no derivative helps.
"""

from classroom.mini.check import promise
from classroom.mini.functions.part6.shared import buffer, expect_row


@promise("To the one that was chosen, and None for the condition")
def chosen(mini) -> None:
    condition, x, y = buffer(mini, [1, 0]), buffer(mini, [3, 3]), buffer(mini, [4, 4])
    said = "where_gradient with condition = [1, 0], grad = [7, 9]"
    expect_row(mini, said, condition.where(x, y), buffer(mini, [7, 9]), [None, [7, 0], [0, 9]], (
        ([None, [0, 9], [7, 0]], "These two are swapped: where the condition is true, x was "
                                 "chosen."),
        ([None, [7, 9], [7, 9]], "Both get everything. The one that was not chosen had no "
                                 "influence."),
    ))  # fmt: skip

# %% wrong: says These two are swapped
@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    return None, condition.where(0, grad), condition.where(grad, 0)

# %% wrong: says a tuple with a gradient for each source
@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    return condition.where(grad, 0), condition.where(0, grad)

# %% wrong: says The condition's gradient is None
@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    return condition.where(grad, 0), condition.where(0, grad), None

# %% right: a condition is 1 or 0
@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    return None, grad * condition, grad * (1 - condition)
