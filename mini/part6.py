"""Stage 6: a table of gradients, row by row, and two optimizers.

A gradient is one more graph. So it is lazy, it can be compiled, and it has a gradient of its own.

Nodes have the methods of stages 4 and 5. These take sizes and axes one by one, so put a star before
a tuple: x.reshape(*shape), x.permute(*order), x.expand(*shape), x.shrink(*bounds), x.pad(*widths),
x.sum(*axes, keepdim=True).
"""

import math

from mini.part4 import Ops, Tensor
from mini.part5 import broadcast

GRADIENT = {}  # op: from the gradient of a node to a gradient for each of its sources


def gradient_rule(op):
    """@gradient_rule(op) makes the function below it the op's row of GRADIENT.

    A row gets `grad`, which is the gradient of the loss with respect to `node`, then `node` itself,
    then the sources of `node`. It returns a tuple: the gradient of the loss with respect to each
    source, or None for a source that has no gradient.
    """

    def add(function):
        GRADIENT[op] = function
        return function

    return add


# ---- elementwise ---------------------------------------------------------------------------------


@gradient_rule(Ops.ADD)
def add_gradient(grad, node, x, y):
    """If x or y grows by 1, x + y grows by 1. This row is done, as an example for the others."""
    return grad, grad


@gradient_rule(Ops.MUL)
def mul_gradient(grad, node, x, y):
    """If x grows by 1, x * y grows by y, and the other way round.

    Example: for x = 3, y = 5 and grad = 2, the result is (10, 6).
    """
    ...


@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    """grad goes to the larger of the two. If they are equal, each gets half of it.

    `x < y` is 1.0 where it is true and 0.0 where it isn't; so is x.eq(y).

    Example: for x = [1, 5, 4], y = [2, 2, 4] and grad = [10, 10, 10], the result is
    ([0, 10, 5], [10, 0, 5]).
    """
    ...


@gradient_rule(Ops.RECIP)
def recip_gradient(grad, node, x):
    """The derivative of 1/x is -1/x², and `node` is 1/x.

    Example: for x = 2 and grad = 8, the result is (-2,), a tuple even for a single source.
    """
    ...


@gradient_rule(Ops.SQRT)
def sqrt_gradient(grad, node, x):
    return (grad / (node * 2),)


@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    """The derivative of 2**x is 2**x times math.log(2), and `node` is 2**x.

    Example: for x = 3 and grad = 1, the result is (5.5452,), which is 8 * 0.6931.
    """
    ...


@gradient_rule(Ops.LOG2)
def log2_gradient(grad, node, x):
    return (grad / (x * math.log(2)),)


@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    """Where x was chosen, x gets grad and y gets 0; where y was chosen, it's the other way round.
    The condition has no gradient: None.

    Example: for condition = [1, 0] and grad = [7, 9], the result is (None, [7, 0], [0, 9]).
    """
    ...


# ---- movement: each element of the gradient goes back to where the value came from ---------------


@gradient_rule(Ops.RESHAPE)
def reshape_gradient(grad, node, x):
    """Give grad the shape of x again.

    Example: x of shape (2, 3) was reshaped to (3, 2). grad is (3, 2), and the result is (2, 3).
    """
    ...


@gradient_rule(Ops.PERMUTE)
def permute_gradient(grad, node, x):
    """Permute grad so that node.arg, the order of the axes, is undone.

    Example: x has the shape (2, 3, 4) and node.arg is (2, 0, 1), so grad has the shape (4, 2, 3).
    Permuting that by (1, 2, 0) gives (2, 3, 4).
    """
    ...


@gradient_rule(Ops.EXPAND)
def expand_gradient(grad, node, x):
    """An element that was read many times gets the sum of all the gradients that come back.

    Example: x of shape (1, 4) was expanded to (3, 4). Sum grad over axis 0, and keep that axis with
    size 1.
    """
    ...


@gradient_rule(Ops.SHRINK)
def shrink_gradient(grad, node, x):
    """The elements that were cut off had no influence, so their gradient is 0.

    Example: x has the shape (5,) and node.arg is ((1, 3),), so grad has 2 elements. Padded with
    (1, 2), it has 5 again.
    """
    ...


@gradient_rule(Ops.PAD)
def pad_gradient(grad, node, x):
    """The added zeros aren't elements of x, so cut their gradients off.

    Example: x has the shape (3,) and node.arg is ((1, 2),), so grad has 6 elements. The ones for x
    are 1, 2 and 3: shrink by (1, 4).
    """
    ...


@gradient_rule(Ops.FLIP)
def flip_gradient(grad, node, x):
    return (grad.flip(*node.arg),)


# ---- reduce --------------------------------------------------------------------------------------


@gradient_rule(Ops.REDUCE_AXIS)
def reduce_gradient(grad, node, x):
    """node.arg is (op, axes). The reduced axes of node and grad are still there, with size 1.

    For Ops.ADD, each element gets all of grad. For Ops.MAX, only the largest element does; if there
    are several, they share it equally.

    Example: for x = [[1, 4, 4]] and grad = [[6]], the result is ([[6, 6, 6]],) for ADD and
    ([[0, 3, 3]],) for MAX.
    """
    ...


# ---- from the loss to the weights ----------------------------------------------------------------


def nodes_between(loss, wanted):
    """The nodes on the way from `wanted` up to the loss, sources first, as the keys of a dict."""
    between = {}
    for node in loss.toposort():
        depends = node.op in GRADIENT and any(source in between for source in node.src)
        if node in wanted or depends:
            between[node] = None
    return between


def gradient(loss, *wanted):
    """A list with the gradient of the loss (a single number) with respect to each wanted node.

    Start at the loss: its gradient with respect to itself is loss.const(1.0). Go backwards through
    nodes_between(loss, wanted), and use each node's row of GRADIENT to hand its gradient down to
    its sources. (A BUFFER has no row: nothing goes on from there.) A node with several users gets
    several gradients: add them up. Skip a source if it isn't between, or if the row says None for
    it. A wanted node that got nothing has the gradient loss.const(0.0).

    Example: loss = a * b + a. The ADD hands 1 to the MUL and 1 to `a`. The MUL hands b to `a`, and
    `a` to b. So `a` gets 1 + b.
    """
    ...


def tensor_gradient(loss, *wanted):
    """loss.gradient(w, b), a list of Tensors."""
    if loss.shape != ():
        raise ValueError(f"the loss has to be a single number, and its shape is {loss.shape}")
    nodes = gradient(loss.uop, *(tensor.uop for tensor in wanted))
    return [Tensor(node) for node in nodes]


Tensor.gradient = tensor_gradient


# ---- optimizers ----------------------------------------------------------------------------------


class SGD:
    """Stochastic gradient descent: subtract `lr` times the gradient."""

    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr

    def step(self, loss):
        """Change every parameter by one step. Realize the loss and all parameters, return the loss.

        A parameter stays the same Tensor and gets a new `uop`: param.uop = (…).uop. Ask for all the
        gradients at once, before you change any parameter.

        Example: with lr = 0.1, a parameter [2.0] whose gradient is [10.0] becomes [1.0].
        """
        ...


class Adam:
    """Adam (Kingma and Ba, 2014): each element of each parameter gets a step size of its own.

    m is a moving average of the gradient, and v one of its square. b1_power and b2_power are b1 and
    b2 to the power of the number of steps. Both are Tensors and not Python numbers: a constant that
    changes would make each step a new graph, and stage 8 would have to compile every one.
    """

    def __init__(self, params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8):
        self.params, self.lr, self.b1, self.b2, self.eps = params, lr, b1, b2, eps
        self.m = [Tensor(param.numpy() * 0) for param in params]
        self.v = [Tensor(param.numpy() * 0) for param in params]
        self.b1_power, self.b2_power = Tensor([1.0]), Tensor([1.0])
        self.state = [*params, *self.m, *self.v, self.b1_power, self.b2_power]

    def step(self, loss):
        """Change every parameter by one step. Realize the loss and all of self.state, return the
        loss.

        First multiply b1_power by b1, and b2_power by b2. Then, for each parameter (whatever
        changes gets a new `uop`, as in SGD.step):
            m becomes b1 * m + (1 - b1) * grad
            v becomes b2 * v + (1 - b2) * grad * grad
            param becomes param - lr * M / (sqrt(V) + eps)
        where M is m / (1 - b1_power) and V is v / (1 - b2_power). The averages start at 0, so they
        are too small at first, and these two divisions correct that.

        Example: in the first step, with the gradient [10.0], m becomes [1.0] and v becomes [0.1]. M
        is [10.0] and V is [100.0], so the parameter changes by lr * 10 / 10, which is lr.
        """
        ...
