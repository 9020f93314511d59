# %% wrong: FLIP is no elementwise op
@gradient_rule(Ops.FLIP)
def flip_gradient(grad, node, x):
    return (grad.alu(Ops.FLIP),)

# %% wrong: says Nothing is flipped back
@gradient_rule(Ops.FLIP)
def flip_gradient(grad, node, x):
    return (grad,)

# %% wrong: says Element (0, 0) should be 1
@gradient_rule(Ops.FLIP)
def flip_gradient(grad, node, x):
    return (grad.flip(*range(len(x.shape))),)
