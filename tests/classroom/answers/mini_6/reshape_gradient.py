# %% wrong: says A gradient has the shape of its source, (2, 3)
@gradient_rule(Ops.RESHAPE)
def reshape_gradient(grad, node, x):
    return (grad,)

# %% right
@gradient_rule(Ops.RESHAPE)
def reshape_gradient(grad, node, x):
    return [grad.reshape(*x.shape)]
