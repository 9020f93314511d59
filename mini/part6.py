"""Stage 6: gradients, row by row, and optimizers that are expressions like any other.

A gradient is a graph too. So it is lazy, it can be compiled, and it has a gradient of its own.
"""

import math

from mini.part4 import Ops, Tensor
from mini.part5 import broadcast

GRADIENT = {}  # op: from the gradient of a node to one gradient for each of its sources


def gradient_rule(op):
    """Puts the function below it into GRADIENT, as the row of an op.

    Each gets `grad`, the gradient of the loss with respect to `node`; `node`; and its sources. It
    returns a tuple: the gradient of the loss with respect to each source, or None for one that has
    none.
    """

    def add(function):
        GRADIENT[op] = function
        return function

    return add


# ---- elementwise ---------------------------------------------------------------------------------


@gradient_rule(Ops.ADD)
def add_gradient(grad, node, x, y):
    """x + y grows as fast as x does, and as fast as y. This row is a present; the rest is yours."""
    return grad, grad


@gradient_rule(Ops.MUL)
def mul_gradient(grad, node, x, y):
    """If x grows by 1, x * y grows by y.

    Example: x = 3, y = 5, grad = 2. The result is (10, 6).
    """
    ...


@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    """All of grad goes to the larger one. If they are equal, half of it goes to each.

    `x < y` is 1.0 where that is so and 0.0 elsewhere, and x.eq(y) likewise.

    Example: x = [1, 5, 4], y = [2, 2, 4], grad = [10, 10, 10]: ([0, 10, 5], [10, 0, 5]).
    """
    ...


@gradient_rule(Ops.RECIP)
def recip_gradient(grad, node, x):
    """The derivative of 1/x is -1/x², and `node` is 1/x already.

    Example: x = 2, grad = 8. The result is (-2,): a tuple, although there is one source only.
    """
    ...


@gradient_rule(Ops.SQRT)
def sqrt_gradient(grad, node, x):
    return (grad / (node * 2),)


@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    """The derivative of 2**x is 2**x times the natural logarithm of 2; `node` is 2**x already.

    Example: x = 3, grad = 1. The result is (8 * 0.6931,).
    """
    ...


@gradient_rule(Ops.LOG2)
def log2_gradient(grad, node, x):
    return (grad / (x * math.log(2)),)


@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    """Each element of grad goes to the one that was chosen there, and 0 to the other one. A
    condition has no gradient: None.

    Example: condition = [1, 0], grad = [7, 9]: (None, [7, 0], [0, 9]).
    """
    ...


# ---- movement: every element of the gradient goes back to where its element came from ------------


@gradient_rule(Ops.RESHAPE)
def reshape_gradient(grad, node, x):
    """Back to the shape of x."""
    ...


@gradient_rule(Ops.PERMUTE)
def permute_gradient(grad, node, x):
    """The permutation that undoes node.arg.

    Example: x of shape (2, 3, 4) and node.arg (2, 0, 1), so grad has the shape (4, 2, 3). The
    permutation that makes (2, 3, 4) of it again is (1, 2, 0).
    """
    ...


@gradient_rule(Ops.EXPAND)
def expand_gradient(grad, node, x):
    """An element that was read many times collects what comes back from all of them.

    Example: x of shape (1, 4) expanded to (3, 4). grad has the shape (3, 4), and its sum over axis
    0, kept as an axis of size 1, is the gradient of x.
    """
    ...


@gradient_rule(Ops.SHRINK)
def shrink_gradient(grad, node, x):
    """What was cut off had no influence: its gradient is 0.

    Example: x of shape (5,), node.arg ((1, 3),). grad has 2 elements, and padded with (1, 2) it
    has 5 again.
    """
    ...


@gradient_rule(Ops.PAD)
def pad_gradient(grad, node, x):
    """The zeros that were added are nobody's: cut them off.

    Example: x of shape (3,), node.arg ((1, 2),). grad has 6 elements, and those of x are from 1 to
    4.
    """
    ...


@gradient_rule(Ops.FLIP)
def flip_gradient(grad, node, x):
    return (grad.flip(*node.arg),)


# ---- reduce --------------------------------------------------------------------------------------


@gradient_rule(Ops.REDUCE_AXIS)
def reduce_gradient(grad, node, x):
    """node.arg is (op, axes). The reduced axes are still there, with size 1.

    ADD: every element counts once, so each gets a copy of grad. MAX: only the largest one counts,
    and if there are several, they share it equally.

    Example: x = [[1, 4, 4]], grad = [[6]]. For ADD it is [[6, 6, 6]], and for MAX [[0, 3, 3]].
    """
    ...


# ---- from the loss to the weights ----------------------------------------------------------------


def nodes_between(loss, wanted):
    """The nodes through which the loss depends on one of `wanted`, sources first: the keys of a
    dict, in which Python finds a node at once."""
    between = {}
    for node in loss.toposort():
        depends = node.op in GRADIENT and any(source in between for source in node.src)
        if node in wanted or depends:
            between[node] = None
    return between


def gradient(loss, *wanted):
    """The gradient of a loss (one number) with respect to each of the wanted nodes, as a list.

    Start from the loss, whose gradient with respect to itself is the constant 1.0, and go through
    nodes_between(loss, wanted) backwards. Every node hands its gradient down by its row of
    GRADIENT. What arrives at a node that has several users is added up. Hand nothing to sources
    that are not between, and where a row says None. loss.const(0.0) is the gradient of a node that
    the loss does not depend on.

    Example: loss = a * b + a. The ADD hands 1 to the MUL and 1 to `a`; the MUL hands b to `a` and
    `a` to b. So the gradient of `a` is 1 + b: two contributions.
    """
    ...


def tensor_gradient(loss, *wanted):
    """loss.gradient(w, b), a list of Tensors."""
    if loss.shape != ():
        raise ValueError(f"a gradient is that of one number, and this has the shape {loss.shape}")
    nodes = gradient(loss.uop, *(tensor.uop for tensor in wanted))
    return [Tensor(node) for node in nodes]


Tensor.gradient = tensor_gradient


# ---- optimizers ----------------------------------------------------------------------------------


class SGD:
    """Stochastic gradient descent: a step against the gradient, as long as `lr` times its size."""

    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr

    def step(self, loss):
        """One step of every parameter. Returns the loss, realized together with them.

        A parameter stays the same Tensor and gets a new `uop`: param.uop = (…).uop. Ask for all
        gradients at once, before any parameter changes.

        Example: a parameter [2.0] with gradient [10.0] and lr 0.1 becomes [1.0].
        """
        ...


class Adam:
    """Adam (Kingma and Ba, 2014): every parameter gets a step of its own size.

    m is a moving average of the gradient, v of its square. b1_power and b2_power are b1 and b2 to
    the power of the number of steps. They are Tensors, although they are single numbers: a number
    that changes would make every step a different graph, which stage 8 would have to compile again.
    """

    def __init__(self, params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8):
        self.params, self.lr, self.b1, self.b2, self.eps = params, lr, b1, b2, eps
        self.m = [Tensor(param.numpy() * 0) for param in params]
        self.v = [Tensor(param.numpy() * 0) for param in params]
        self.b1_power, self.b2_power = Tensor([1.0]), Tensor([1.0])
        self.state = [*params, *self.m, *self.v, self.b1_power, self.b2_power]

    def step(self, loss):
        """One step of every parameter. Returns the loss, realized together with all of self.state.

        First b1_power and b2_power are multiplied by b1 and b2. Then, for each parameter:
            m becomes b1 * m + (1 - b1) * grad
            v becomes b2 * v + (1 - b2) * grad * grad
            param becomes param - lr * M / (sqrt(V) + eps)
        where M is m / (1 - b1_power) and V is v / (1 - b2_power). The averages begin at 0 and would
        be too small at first; the divisions make up for that.

        Example: in the first step, with gradient [10.0]: m is [1.0] and v is [0.1]. M is [10.0] and
        V is [100.0], so the parameter moves by lr * 10 / 10 = lr.
        """
        ...
