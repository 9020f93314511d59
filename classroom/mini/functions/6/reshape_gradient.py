"""Hint: A reshape moves nothing. So what has to happen to the gradient, apart from its shape?
Hint: Nothing else. Which shape does the source want? A star hands a tuple over size by size.
Because: Each element is still the same element, it only goes by a different index.
"""

# %% wrong: says A gradient has the shape of its source, (2, 3)
@gradient_rule(Ops.RESHAPE)
def reshape_gradient(grad, node, x):
    return (grad,)

# %% right
@gradient_rule(Ops.RESHAPE)
def reshape_gradient(grad, node, x):
    return [grad.reshape(*x.shape)]
