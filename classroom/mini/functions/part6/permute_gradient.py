"""Hint: The gradient arrives with its axes permuted by node.arg. What do you do to get them back?
Try it with (2, 0, 1): permuting by it once more won't do.
Hint: You need the permutation that undoes it: for each axis of the source, where node.arg
mentions it. You have solved this before, in permute_index.
Because: It is the inverse permutation, the same as in the rule of stage 5. For a swap of two axes
nobody notices the difference, which is why three are checked.
"""

import numpy as np

from classroom.mini.check import Wrong, promise
from classroom.mini.functions.part6.shared import buffer, expect_row


@promise("The permutation that undoes it")
def permuted(mini) -> None:
    x = buffer(mini, np.zeros((2, 3, 4)))
    values = np.arange(24).reshape(4, 2, 3)
    got = mini.GRADIENT[mini.Ops.PERMUTE](buffer(mini, values), x.permute(2, 0, 1), x)
    said = "permute_gradient with x of shape (2, 3, 4) and node.arg (2, 0, 1)"
    if isinstance(got, tuple) and len(got) == 1 and getattr(got[0], "shape", 0) == (3, 4, 2):
        raise Wrong("This permutes the same way again. You need the permutation that undoes "
                    "node.arg.", said, "shape (2, 3, 4)", "shape (3, 4, 2)")  # fmt: skip
    expect_row(mini, said, x.permute(2, 0, 1), buffer(mini, values),
               [values.transpose(1, 2, 0).tolist()])  # fmt: skip
    longer = buffer(mini, np.zeros((2, 1, 3, 2)))  # four axes in a cycle, where three say less
    passed = np.arange(12).reshape(1, 3, 2, 2)
    expect_row(mini, "permute_gradient with x of shape (2, 1, 3, 2) and node.arg (1, 2, 3, 0)",
               longer.permute(1, 2, 3, 0), buffer(mini, passed),
               [passed.transpose(3, 0, 1, 2).tolist()])  # fmt: skip

# %% wrong: six times around is no change only for permutations of up to three axes
@gradient_rule(Ops.PERMUTE)
def permute_gradient(grad, node, x):
    for _ in range(5):
        grad = grad.permute(*node.arg)
    return (grad,)

# %% wrong: says This permutes the same way again
@gradient_rule(Ops.PERMUTE)
def permute_gradient(grad, node, x):
    return (grad.permute(*node.arg),)

# %% right: argsort undoes a permutation
@gradient_rule(Ops.PERMUTE)
def permute_gradient(grad, node, x):
    return (grad.permute(*np.argsort(node.arg)),)
