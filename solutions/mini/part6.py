"""Stage 6: a table of gradients, row by row, and two optimizers.

A gradient is one more graph. So it is lazy, it can be compiled, and it has a gradient of its own.

Nodes have the methods of stages 4 and 5. These take sizes and axes one by one, so put a star before
a tuple: x.reshape(*shape), x.permute(*order), x.expand(*shape), x.shrink(*bounds), x.pad(*widths),
x.flip(*axes), x.sum(*axes, keepdim=True).
"""

import math

import numpy as np

from mini.part4 import COMPUTE, Ops, Tensor, method, methods_of
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
    """z = x * y. How much does the loss change when x does, and when y does?

    Examples:
    - For x = 3, y = 5 and grad = 1, the result is (5, 3).
    - For grad = 2, it is (10, 6).
    """
    ### BEGIN SOLUTION
    return grad * y, grad * x
    ### END SOLUTION


@gradient_rule(Ops.MAX)
def max_gradient(grad, node, x, y):
    """z is the larger of x and y, element by element. Where they are equal, they share.

    Examples:
    - For x = [1, 5], y = [2, 2] and grad = [10, 10], the result is ([0, 10], [10, 0]).
    - For x = y = [4] and grad = [10], it is ([5], [5]).
    """
    ### BEGIN SOLUTION
    tie = x.eq(y) * 0.5
    return grad * ((y < x) + tie), grad * ((x < y) + tie)
    ### END SOLUTION


@gradient_rule(Ops.RECIP)
def recip_gradient(grad, node, x):
    """z = 1 / x.

    Examples:
    - For x = 1 and grad = 1, the result is (-1,): a tuple, even for a single source.
    - For x = 2 and grad = 8, it is (-2,).
    """
    ### BEGIN SOLUTION
    return (-grad * node * node,)
    ### END SOLUTION


@gradient_rule(Ops.SQRT)
def sqrt_gradient(grad, node, x):
    """z is the square root of x.

    Examples:
    - For x = 4 and grad = 1, the result is (0.25,).
    - For x = 9 and grad = 12, it is (2,).
    """
    ### BEGIN SOLUTION
    return (grad / (node * 2),)
    ### END SOLUTION


@gradient_rule(Ops.EXP2)
def exp2_gradient(grad, node, x):
    """z = 2**x.

    Examples, to seven digits, since that is what 32 bits hold:
    - For x = 0 and grad = 1, the result is (0.6931472,).
    - For x = 3 and grad = 1, it is (5.545177,).
    """
    ### BEGIN SOLUTION
    return (grad * node * math.log(2),)
    ### END SOLUTION


@gradient_rule(Ops.LOG2)
def log2_gradient(grad, node, x):
    """z is the logarithm of x to base 2.

    Examples:
    - For x = 1 and grad = 1, the result is (1.442695,).
    - For x = 2 and grad = 1, it is half of that.
    """
    ### BEGIN SOLUTION
    return (grad / (x * math.log(2)),)
    ### END SOLUTION


@gradient_rule(Ops.WHERE)
def where_gradient(grad, node, condition, x, y):
    """z is x where the condition is true (1), and y elsewhere. The condition has no gradient: None.

    Examples:
    - For condition = [1, 0] and grad = [7, 9], the result is (None, [7, 0], [0, 9]).
    - For condition = [1, 1] and grad = [7, 9], it is (None, [7, 9], [0, 0]).
    """
    ### BEGIN SOLUTION
    return None, condition.where(grad, 0), condition.where(0, grad)
    ### END SOLUTION


# ---- movement: each element of the gradient goes back to where the value came from ---------------


@gradient_rule(Ops.RESHAPE)
def reshape_gradient(grad, node, x):
    """z has the elements of x, in their order, in a different shape: node.arg.

    Examples:
    - x of shape (2, 3) became (3, 2). grad is (3, 2) too, and the result is (2, 3).
    - x of shape (4,) became (1, 4). For grad = [[1, 2, 3, 4]], the result is ([1, 2, 3, 4],).
    """
    ### BEGIN SOLUTION
    return (grad.reshape(*x.shape),)
    ### END SOLUTION


@gradient_rule(Ops.PERMUTE)
def permute_gradient(grad, node, x):
    """Axis k of z is axis node.arg[k] of x.

    Examples:
    - x has the shape (2, 3) and node.arg is (1, 0). grad is (3, 2), and the result is (2, 3).
    - x has the shape (2, 3, 4) and node.arg is (2, 0, 1). grad is (4, 2, 3), and element [i, j, k]
      of the result is element [k, i, j] of grad.
    """
    ### BEGIN SOLUTION
    return (grad.permute(*(node.arg.index(axis) for axis in range(len(node.arg)))),)
    ### END SOLUTION


@gradient_rule(Ops.EXPAND)
def expand_gradient(grad, node, x):
    """Axes of size 1 in x were stretched to the sizes of node.shape: read many times.

    Examples:
    - x of shape (1, 2) became (3, 2). For grad = [[1, 2], [3, 4], [5, 6]], the result is
      ([[9, 12]],).
    - x of shape (1, 2, 1) became (3, 2, 4), and the result is (1, 2, 1) again.
    """
    ### BEGIN SOLUTION
    axes = [axis for axis, size in enumerate(x.shape) if size != node.shape[axis]]
    return (grad.sum(*axes, keepdim=True),)
    ### END SOLUTION


@gradient_rule(Ops.SHRINK)
def shrink_gradient(grad, node, x):
    """z is the part of x within node.arg, which has a (start, end) for each axis.

    Examples:
    - x has the shape (5,) and node.arg is ((1, 3),). For grad = [7, 8], the result is
      ([0, 7, 8, 0, 0],).
    - If node.arg is ((0, 5),), nothing was cut off, and the result is grad.
    """
    ### BEGIN SOLUTION
    widths = [(start, size - end) for size, (start, end) in zip(x.shape, node.arg, strict=True)]
    return (grad.pad(*widths),)
    ### END SOLUTION


@gradient_rule(Ops.PAD)
def pad_gradient(grad, node, x):
    """z is x with zeros around it: node.arg has a (before, after) for each axis.

    Examples:
    - x has the shape (3,) and node.arg is ((1, 2),). For grad = [1, 2, 3, 4, 5, 6], the result is
      ([2, 3, 4],).
    - For node.arg = ((0, 3),), it would be ([1, 2, 3],).
    """
    ### BEGIN SOLUTION
    bounds = [(before, before + size) for size, (before, _) in zip(x.shape, node.arg, strict=True)]
    return (grad.shrink(*bounds),)
    ### END SOLUTION


@gradient_rule(Ops.FLIP)
def flip_gradient(grad, node, x):
    """z is x with the axes in node.arg reversed.

    Examples:
    - For node.arg = (0,) and grad = [1, 2, 3], the result is ([3, 2, 1],).
    - For node.arg = (1,) and grad = [[1, 2], [3, 4]], it is ([[2, 1], [4, 3]],).
    """
    ### BEGIN SOLUTION
    return (grad.flip(*node.arg),)
    ### END SOLUTION


# ---- reduce --------------------------------------------------------------------------------------


@gradient_rule(Ops.REDUCE_AXIS)
def reduce_gradient(grad, node, x):
    """z is the sum or the largest of the elements along some axes: node.arg is (op, axes), with
    Ops.ADD or Ops.MAX. The reduced axes of node and grad are still there, with size 1.

    Examples, for x = [[1, 4, 4]] and grad = [[6]]:
    - For ADD, the result is ([[6, 6, 6]],).
    - For MAX, it is ([[0, 3, 3]],): equals share.
    """
    ### BEGIN SOLUTION
    op, axes = node.arg
    if op is Ops.ADD:
        return (grad.expand(*x.shape),)
    is_largest = x.eq(node.expand(*x.shape))
    share = grad / is_largest.sum(*axes, keepdim=True)
    return (is_largest * share,)
    ### END SOLUTION


# ---- from the loss to the weights ----------------------------------------------------------------


def gradient(loss, *wanted):
    """A list with the gradient of the loss (a single number) with respect to each wanted node.

    Each is a node itself: nothing is computed here. If the loss doesn't depend on a node, its
    gradient is loss.const(0.0). Some ops have no row, and nothing flows through them: a BUFFER,
    a comparison, DETACH. Graphs are as wide and as deep as in stage 4.

    Examples, for a = 3 and b = 5:
    - gradient(a * b, a, b) gives nodes that are worth 5 and 3.
    - gradient(a * b + a, a) gives one that is worth 6: `a` is used twice.
    """
    ### BEGIN SOLUTION
    between = {}  # what lies on a way from `wanted` up to the loss, sources first
    for node in loss.toposort():
        depends = node.op in GRADIENT and any(source in between for source in node.src)
        if node in wanted or depends:
            between[node] = None
    grads = {loss: loss.const(1.0)}
    for node in reversed(between):
        if node.op not in GRADIENT or node not in grads:
            continue
        parts = GRADIENT[node.op](grads[node], node, *node.src)
        for source, part in zip(node.src, parts, strict=True):
            if source in between and part is not None:
                grads[source] = grads[source] + part if source in grads else part
    return [grads.get(node, loss.const(0.0)) for node in wanted]
    ### END SOLUTION


def tensor_gradient(loss, *wanted):
    """loss.gradient(w, b), a list of Tensors."""
    if loss.shape != ():
        raise ValueError(f"the loss has to be a single number, and its shape is {loss.shape}")
    nodes = gradient(loss.uop, *(tensor.uop for tensor in wanted))
    return [Tensor(node) for node in nodes]


Tensor.gradient = tensor_gradient


# ---- ops of your own -----------------------------------------------------------------------------


def add_op(name, compute, gradient):
    """A new elementwise op, with a row in each table. The node x.alu(name, …) is it. `compute` is
    a function of NumPy arrays, one for each source, and `gradient` is a row like those above."""
    COMPUTE[name] = lambda node, *values: compute(*values)
    GRADIENT[name] = gradient


class Mine:
    """At least three methods of your own choice, for every Tensor and every node. From this list:

        __pow__(x, n)        x ** n, for a number n, whole or not, negative or not
        __getitem__(x, key)  x[1], x[-1], x[0, 1:3], x[:, 2]; slices without a step
        __abs__(x)           abs(x)
        minimum(x, y)        the smaller one, element by element
        clip(x, low, high)   low where x is lower than that, high where it is higher
        sin(x)               the sine
        sigmoid(x)           1 / (1 + e**-x)
        tanh(x)              the hyperbolic tangent
        silu(x)              x * sigmoid(x)
        softplus(x)          log(1 + e**x)
        softmax(x)           along the last axis
        cumsum(x)            running sums along the last axis
        var(x)               the variance of all elements: the mean squared distance from their mean
        cat(x, y)            y after x, along the first axis
        max_pool(x, n)       the largest of n by n pixels, in the last two axes, side by side

    They have to be right where it hurts (tanh of 100, a power of 0 or of a negative number, softmax
    of 1000), and finite differences have to agree with their gradient. If you make them from what
    is there, the gradient comes by itself. With add_op, the rows are yours too.

    Examples:
    - Tensor([1.0, 2.0, 3.0])[1:] is [2, 3], and Tensor([-2.0]) ** 3 is [-8].
    - Tensor([0.0, 100.0]).tanh() is [0, 1].
    """

    ### BEGIN SOLUTION
    def __pow__(x, n):
        if n != int(n):
            return (x.log() * n).exp()  # of positive numbers only, like any root
        if n < 0:
            return (x**-n).recip()
        power = x if n else x * 0 + 1
        for _ in range(int(n) - 1):
            power = power * x
        return power

    def tanh(x):
        x = x.maximum(-9)  # beyond that, 32 bits can't tell it from -1, and exp overflows
        return 2 / ((x * -2).exp() + 1) - 1

    def __getitem__(x, key):
        keys = (*(key if isinstance(key, tuple) else (key,)), *[slice(None)] * len(x.shape))
        taken = [range(size)[one] for size, one in zip(x.shape, keys, strict=False)]
        ends = [
            (t, t + 1) if isinstance(t, int) else (t.start, max(t.start, t.stop)) for t in taken
        ]
        return x.shrink(*ends).reshape(*(len(t) for t in taken if not isinstance(t, int)))

    def sin(x):
        return x.alu("SIN")

    add_op("SIN", np.sin, lambda grad, node, x: (grad * (x + math.pi / 2).sin(),))
    ### END SOLUTION


for _name, _function in methods_of(Mine).items():
    method(_function, _name)


# ---- optimizers ----------------------------------------------------------------------------------


class SGD:
    """Stochastic gradient descent: a step subtracts lr times the gradient from each parameter.

    SGD(params, lr=0.1) has a method step(loss). It changes every parameter, using gradients from
    before the step, realizes the loss and the parameters, and returns the loss. A parameter stays
    the same Tensor, since the model holds it too: what changes is its `uop`.

    Examples:
    - With lr = 0.1, a parameter [2.0] whose gradient is [10.0] becomes [1.0].
    - With a = [2.0], b = [3.0] and (a * b).sum(), one step makes a [1.7] and b [2.8].
    """

    ### BEGIN SOLUTION
    def __init__(self, params, lr=0.1):
        self.params, self.lr = params, lr

    def step(self, loss):
        for param, grad in zip(self.params, loss.gradient(*self.params), strict=True):
            param.uop = (param - grad * self.lr).uop
        return loss.realize(*self.params)

    ### END SOLUTION


class Adam:
    """Adam (Kingma and Ba, 2014): each element of each parameter gets a step size of its own.

    Adam(params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8) has a method step(loss), as SGD does. In
    step number t it keeps, for each parameter, two moving averages, which start at 0:

        m is b1 * m + (1 - b1) * grad
        v is b2 * v + (1 - b2) * grad * grad

    and changes the parameter by -lr * M / (sqrt(V) + eps), where M is m / (1 - b1**t) and V is
    v / (1 - b2**t). All steps have to make the same graph, so that a compiler (stage 8) sees it
    once: whatever changes from step to step, t included, is in Tensors that are realized.

    Examples, with lr = 0.5:
    - A parameter [2.0] whose gradient is [10.0] becomes [1.5]. The first step is as long as lr.
    - With the gradient [0.001], it becomes [1.5] too.
    """

    ### BEGIN SOLUTION
    def __init__(self, params, lr=0.003, b1=0.9, b2=0.999, eps=1e-8):
        self.params, self.lr, self.b1, self.b2, self.eps = params, lr, b1, b2, eps
        self.m = [Tensor(param.numpy() * 0) for param in params]
        self.v = [Tensor(param.numpy() * 0) for param in params]
        self.b1_power, self.b2_power = Tensor([1.0]), Tensor([1.0])
        self.state = [*params, *self.m, *self.v, self.b1_power, self.b2_power]

    def step(self, loss):
        grads = loss.gradient(*self.params)
        self.b1_power.uop = (self.b1_power * self.b1).uop
        self.b2_power.uop = (self.b2_power * self.b2).uop
        for param, m, v, grad in zip(self.params, self.m, self.v, grads, strict=True):
            m.uop = (m * self.b1 + grad * (1 - self.b1)).uop
            v.uop = (v * self.b2 + grad * grad * (1 - self.b2)).uop
            mean, square = m / (1 - self.b1_power), v / (1 - self.b2_power)
            param.uop = (param - mean * self.lr / (square.sqrt() + self.eps)).uop
        return loss.realize(*self.state)

    ### END SOLUTION
