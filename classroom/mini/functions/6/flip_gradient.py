"""Hint: What undoes a flip?
Hint: The same op, along the same axes. `flip` takes axes one by one, so mind the star.
Because: Flipping twice is doing nothing, so each element's gradient is back at its place.
"""

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
