"""Hint: The gradient arrives with its axes permuted by node.arg. What do you do to get them back?
Try it with (2, 0, 1): permuting by it once more won't do.
Hint: You need the permutation that undoes it: for each axis of the source, where node.arg
mentions it. You have solved this before, in permute_index.
Because: It is the inverse permutation, the same as in the rule of stage 5. For a swap of two axes
nobody notices the difference, which is why three are checked.
"""

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

# %% right
@gradient_rule(Ops.PERMUTE)
def permute_gradient(grad, node, x):
    order = sorted(range(len(node.arg)), key=node.arg.__getitem__)
    return (grad.permute(*order),)
