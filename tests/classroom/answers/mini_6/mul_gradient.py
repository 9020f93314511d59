# %% wrong: says `grad` is missing
@gradient_rule(Ops.MUL)
def mul_gradient(grad, node, x, y):
    return y, x

# %% right: a list, factors swapped
@gradient_rule(Ops.MUL)
def mul_gradient(grad, node, x, y):
    return [y * grad, x * grad]
