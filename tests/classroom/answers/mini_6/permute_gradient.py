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
