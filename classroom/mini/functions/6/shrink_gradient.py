"""Hint: What was cut off had no influence on the loss. What is its gradient? Which op puts that much
around something?
Hint: Pad with zeros: as many as were cut off in front, and as many as were cut off behind.
node.arg says where the kept piece starts and where it ends; the size of x says the rest.
Because: In front, `start` elements were cut off, and behind, size - end. Cutting and padding are
each other's gradient.
"""

# %% wrong: says `end` is an index
@gradient_rule(Ops.SHRINK)
def shrink_gradient(grad, node, x):
    return (grad.pad(*node.arg),)

# %% right: the node itself (I had forgotten that UOp isn't imported, and was told so)
from mini.part4 import UOp

@gradient_rule(Ops.SHRINK)
def shrink_gradient(grad, node, x):
    widths = [(a, n - b) for (a, b), n in zip(node.arg, x.shape)]
    return (UOp(Ops.PAD, (grad,), tuple(widths)),)

# %% right
@gradient_rule(Ops.SHRINK)
def shrink_gradient(grad, node, x):
    return (grad.pad(*((a, n - b) for n, (a, b) in zip(x.shape, node.arg))),)
