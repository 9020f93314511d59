"""Hint: Two ops, two answers. In a sum, if one element grows by 1, what does the sum do? And in a
maximum, whose growing matters?
Hint: For a sum, everybody gets all of it: expand. For a maximum you need a mask of the largest
elements (equal to the maximum, once that is expanded), and you need to know how many of them
share.
Because: In a sum each element counts fully. In a maximum only the largest do, and if there are
several, the gradient is divided by their number, so that it isn't handed out twice.
"""

# %% wrong: says Element (0, 1) should be 3
@gradient_rule(Ops.REDUCE_AXIS)
def reduce_gradient(grad, node, x):
    op, axes = node.arg
    if op is Ops.ADD:
        return (grad.expand(*x.shape),)
    is_largest = x.eq(node.expand(*x.shape))
    return (is_largest * grad / is_largest.sum(),)

# %% wrong: says A NaN spoils the gradient of a different element: (1, 0)
@gradient_rule(Ops.REDUCE_AXIS)
def reduce_gradient(grad, node, x):
    op, axes = node.arg
    if op is Ops.ADD:
        return (grad.expand(*x.shape),)
    is_largest = x.eq(node.expand(*x.shape))
    share = is_largest / is_largest.sum(*axes, keepdim=True)
    return (share * grad + 0 * x.sum(),)

# %% wrong: says That is the row of a sum
@gradient_rule(Ops.REDUCE_AXIS)
def reduce_gradient(grad, node, x):
    return (grad.expand(*x.shape),)

# %% right: broadcasting stretches node and grad; divided before it is spread
@gradient_rule(Ops.REDUCE_AXIS)
def reduce_gradient(grad, node, x):
    op, axes = node.arg
    if op is Ops.ADD:
        return (grad.expand(*x.shape),)
    mask = x.eq(node)
    return (mask * (grad / mask.sum(*axes, keepdim=True)),)

# %% right
@gradient_rule(Ops.REDUCE_AXIS)
def reduce_gradient(grad, node, x):
    wide = grad.expand(*x.shape)
    if node.arg[0] is Ops.ADD:
        return (wide,)
    largest = 1 - (x < node)
    return (wide * largest / largest.sum(*node.arg[1], keepdim=True),)
