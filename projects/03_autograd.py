"""Project 3: Gradients. Where the derivative of a program comes from, and how to check it.

You will write thirteen functions. Each one says what it is given and what it should return; replace
the `...` with your code. Nothing else needs to change, and you may add functions of your own.

    python projects/03_autograd.py                       runs everything and prints a report
    python -m classroom grade projects/03_autograd.py    100 points, and a hint for each miss

Run the file as often as you like: a task you have not written yet is simply called open. You need
parts 1 to 6 of the course, and about four hours.

Where a Tensor is asked for, it is a tinyframe Tensor, not a NumPy array; tasks 4 to 6 are the other
way round. `x`, `grad` and the like always hold floats. A list is as good as a tuple.
"""

import numpy as np

from tinyframe import Tensor, TinyJit
from tinyframe.rewrite.matcher import PatternMatcher
from tinyframe.rewrite.pattern import UPat
from tinyframe.tensor import gradient as gradient_module
from tinyframe.uop import Ops

# ---- measuring a gradient ------------------------------------------------------------------------


def finite_difference(f, x, eps=0.01):
    """Task 1 (8 points). The gradient of f at x, measured: a Tensor of x's shape.

    f: a function from a Tensor of x's shape to a Tensor with one number. x: a Tensor of any shape.
    Nudge one element at a time, up and down: (f(x + nudge) - f(x - nudge)) / (2 * eps). You wrote
    this for vectors in exercise 6.5; here, x has any shape.

    finite_difference(lambda t: (t * t).sum(), Tensor([1.0, 3.0])) is close to [2, 6]. Don't use
    gradient() or backward() here: this function is going to be their examiner.
    """
    ...


def slope(name, x, w):
    """Task 2 (8 points). A derivative that you can work out on paper, of each element, as a Tensor.

    "square"    the derivative of x * x with respect to x
    "product"   the derivative of x * w with respect to x
    "sigmoid"   the derivative of x.sigmoid() with respect to x

    x, w: Tensors of the same shape. Return the formula's graph, not computed, and without
    gradient(): the one for "product" needs no arithmetic at all, "square" needs one operation, and
    "sigmoid" two or three more than x.sigmoid() itself.
    """
    ...


def is_gradient(f, claimed, x):
    """Task 3 (8 points). True if `claimed` really is the gradient of f at x, and False if not.

    f: as in task 1. claimed: a function from x to a Tensor of x's shape, where somebody has written
    down what they think the gradient is. It counts as right if no element is off by more than 2%
    of the largest slope. Measure with your task 1. Return Python's own True or False, not NumPy's.
    """
    ...


# ---- three rows of the table, in NumPy -----------------------------------------------------------

# To see whether you know what a row of the table does, write it in a different language. Everything
# in these three tasks is a NumPy array. `grad` is what has arrived at the node.


def mul_row(grad, x, y):
    """Task 4 (4 points). The row of MUL: what flows back to x and to y through z = x * y.

    All three have the same shape, and so do the two arrays that you return.
    mul_row(np.array([1.0]), np.array([2.0]), np.array([5.0])) is (array([5.]), array([2.])).
    """
    ...


def expand_row(grad, shape):
    """Task 5 (6 points). The row of EXPAND: what flows back to a source of this shape.

    shape: of the source. It has as many axes as grad, and is 1 along each axis that was expanded.
    expand_row(np.ones((3, 4)), (3, 1)) is an array of shape (3, 1), and each element of it is 4.
    """
    ...


def max_row(grad, x):
    """Task 6 (8 points). The row of REDUCE_AXIS by MAX: what flows back to x.

    grad: has as many axes as x, and is 1 along each axis that the maximum was taken over. Return an
    array of x's shape: the largest element gets what has arrived, the others get 0, and where
    several are the largest, they share it equally.
    max_row(np.array([[6.0]]), np.array([[1.0, 5.0, 5.0]])) is [[0, 3, 3]].
    """
    ...


def old_names():
    """Task 7 (6 points). What became of the names in older texts: a dict from theirs to ours.

    Many texts about small frameworks describe an older design: a `class Function` for each
    operation, with a method `forward`, which computes it, and a method `backward`, which turns the
    gradient of its result into those of its inputs. In tinyframe nothing has a backward: there's
    one table, `gradient_rules`, with a row for each op that a graph is made of. And because many
    operations are composed of others, several of those classes have no op of their own any more.

    For each name, give the op whose row replaces that `backward`, as text, such as "MUL":

    "Sum", "Max"      of all elements
    "Exp", "Log"      with base e
    "Neg"             -x
    "Relu"            the op that lets the gradient through or not
    "Less"            x < y; None if there is no row, since no gradient gets through
    "_broadcasted"    no class, but the function that made two shapes equal before a Mul or an Add;
                      give the op that repeats a value, and whose row adds up what flows back

    Look at graphs to find out: [u.op.name for u in x.exp().uop.toposort()].
    """
    ...


# ---- a loss, and a row of your own ---------------------------------------------------------------


def huber(error, below, above):
    """Task 8 (10 points). A Huber loss with two sides, of each element: a Tensor of error's shape.

    error**2 / 2                    from -below to above, both included
    above * (error - above / 2)     for errors above that
    below * (-error - below / 2)    for errors below that

    So it is round at the bottom and straight on both sides: an outlier pulls no harder than `above`
    or `below`. huber(Tensor([0.5, 3.0, -3.0]), 2.0, 1.0) is [0.125, 2.5, 4]. below and above are
    floats greater than 0.

    Return the graph, not computed. It's differentiated afterwards, and the gradient has to be right
    as well, even where an error is exactly 0, or exactly on one of the two borders.
    """
    ...


def lesser(x, y):
    """Given: the smaller of x and y, by an op that tinyframe can compute but not differentiate."""
    return Tensor(x.uop.alu(Ops.MIN, y.uop))


def minimum_row():
    """Task 9 (10 points). The missing row of the gradient table: a pattern and a function.

    tinyframe has no row for Ops.MIN, because its own Tensor.minimum is made of other ops. Ask for
    the gradient of lesser(x, y), and you get a GradientError. Write the row, in the form that the
    rows of tinyframe/tensor/gradient.py have. The smaller of the two gets all that has arrived and
    the other one gets 0; where they are equal, each gets half, as it is with MAX.
    """
    ...


def slope_with_row(f, x):
    """Given: the gradient of f(x).sum() with respect to x, with your row in the table meanwhile."""
    row = minimum_row()
    if row is None or row is ...:
        return None
    table = gradient_module.gradient_rules
    gradient_module.gradient_rules = PatternMatcher([row]) + table
    try:
        return f(x).sum().gradient(x)[0]
    finally:
        gradient_module.gradient_rules = table


# ---- the walk ------------------------------------------------------------------------------------


def walk(f, x, rules):
    """Task 10 (12 points). The gradient of f(x) with respect to x, by a walk of your own: a Tensor.

    f: a function from x to a Tensor with one number. rules: a dict from the name of an op, such as
    "MUL", to a function of two UOps, what has arrived at a node and the node itself. It returns a
    tuple of UOps, one for each of the node's sources: rules[u.op.name](grad, u). Nothing flows back
    through an op that isn't in it.

    You wrote this walk in mini/part6.py for UOps of your own. Now write it for tinyframe's, and for
    any table. Start with 1 at the result, `u.const_like(1)`, and go backwards through
    `u.toposort()`. The source of a node may have other users, too: what arrives there from all of
    them is added up.
    `Tensor(u)` makes a Tensor of a UOp. Return that, not computed. Take every rule from `rules`:
    it isn't always the table you know, and then gradient() gives a different answer.
    """
    ...


# ---- gradients at work ---------------------------------------------------------------------------


def hessian(f, x):
    """Task 11 (6 points). All second derivatives of f at x: a Tensor of shape (n, n).

    f: a function from a Tensor of shape (n,) to a Tensor with one number. Row i is the gradient of
    element i of the gradient. hessian(lambda t: t[0] * t[1], x) is [[0, 1], [1, 0]] for an x of two
    elements. Differentiate twice: f is computed in 32 bits, and a second difference of
    such numbers, measured, is far from right.
    """
    ...


def gradient_of_all(loss, start, batches):
    """Task 12 (6 points). The gradient of the mean loss over all samples, batch by batch: a Tensor.

    loss: loss(w, batch) is the mean loss over the rows of one batch. start: start() is the weight
    w, whose requires_grad is True. batches: a list of Tensors, and not all have the same number of
    rows. Together they don't fit into memory, so only one of them may go into loss() at a time.

    backward() adds to w.grad, which is what you want here. But look out: somebody may have called
    backward() on w before you, and the mean of all rows is not the sum of the means.
    """
    ...


def predict(x, weights):
    """Given: a network of two layers. x has shape (n, 2), the result has shape (n, 1)."""
    hidden = (x @ weights["w1"] + weights["b1"]).tanh()
    return (hidden @ weights["w2"] + weights["b2"]).sigmoid()


def train(x, y, weights):
    """Task 13 (8 points). Train `predict` until it has learned ten samples: (weights, losses).

    x: ten points, of shape (10, 2). y: 0 or 1 for each, of shape (10, 1). weights: a dict of the
    Tensors to start from. Return a dict of the trained ones, with the same names and shapes, and a
    list with the loss of every step as a float, beginning with the loss of the weights you were
    given. The loss is ((predict(x, weights) - y) ** 2).mean(), and it has to get below 0.005.

    Write the loop yourself: gradient, update, realize. The points form an XOR, as in part 6b, but
    noisy: no straight line separates them. A learning rate of 2 is not too large here, and 200
    steps are enough. You have 10 seconds, which is plenty with TinyJit and tight without.
    """
    ...


# ---- run everything ------------------------------------------------------------------------------


def show(title, answer, look=lambda answer: answer):
    """Print an answer, or that there is none yet."""
    is_open = answer is None or answer is ...
    print(f"   {title:<34}{'open' if is_open else look(answer)}")


def rounded(tensor):
    return str(np.round(tensor.numpy(), 3) + 0.0).replace("\n", "\n" + " " * 37)


def in_numbers(arrays):
    """NumPy arrays, or one of them, on one line."""
    each = arrays if isinstance(arrays, (tuple, list)) else [arrays]
    return "  and  ".join(str(array.tolist()) for array in each)


SHADES = " ·:-=+*#%@"


def drawn(weights, x, y):
    """The plane as the network sees it, from light (0) to dark (1), and the samples as 0 and 1."""
    side = np.linspace(-2, 2, 17, dtype=np.float32)
    plane = np.array([(a, b) for b in side[::-1] for a in np.repeat(side, 2)], np.float32)
    heights = predict(Tensor(plane), weights).numpy().reshape(17, 34)
    picture = [[SHADES[int(9.99 * height)] for height in row] for row in heights]
    for (a, b), kind in zip(x.numpy(), y.numpy().flat, strict=True):
        picture[round((2 - float(b)) * 4)][round((float(a) + 2) * 8.25)] = str(int(kind))
    return "".join("\n      |" + "".join(row) + "|" for row in picture)


def falling(losses):
    """The first loss, bars for the steps 1, 2, 4 and so on, and the last loss."""
    chosen = [losses[int(n) - 1] for n in np.geomspace(1, len(losses), 30)]
    bars = "".join("▁▂▃▄▅▆▇█"[min(7, int(8 * loss / max(losses)))] for loss in chosen)
    return f"{losses[0]:.3f} {bars} {losses[-1]:.5f}"


def xor(seed):
    """Ten noisy samples of an XOR, and weights to start from."""
    random = np.random.default_rng(seed)
    corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]] * 3)[:10]
    x = corners + random.normal(0, 0.15, corners.shape)
    y = corners.prod(axis=1, keepdims=True) < 0
    turn = np.arange(8) * np.pi / 4
    weights = {
        "w1": np.stack([np.cos(turn), np.sin(turn)]),
        "b1": random.uniform(-1, 1, 8),
        "w2": random.normal(0, 0.5, (8, 1)),
        "b2": np.zeros(1),
    }
    return as_tensor(x), as_tensor(y), {name: as_tensor(array) for name, array in weights.items()}


def as_tensor(array):
    return Tensor(array.astype(np.float32)).realize()


def report_on_measuring(x, w):
    def f(t):
        return (t.sin() * t * w).sum()

    print("1. Measured, and by the table")
    show("t.sin() * t * w, measured", finite_difference(f, x), rounded)
    print(f"   {'by the table':<34}{rounded(f(x).gradient(x)[0])}")

    print("2. Derivatives worked out on paper")
    for name in ("square", "product", "sigmoid"):
        show(name, slope(name, x, w), rounded)

    print("3. The examiner")
    claims = {"x * x has slope 2 * x": lambda t: 2 * t, "x * x has slope x": lambda t: t}
    for name, claimed in claims.items():
        show(name, is_gradient(lambda t: (t * t).sum(), claimed, x))


def report_on_rows():
    print("4 to 6. Three rows of the table")
    show("MUL, of 2 and 5", mul_row(*np.array([[1.0], [2.0], [5.0]])), in_numbers)
    show("EXPAND, from (2, 1) to (2, 4)", expand_row(np.ones((2, 4)), (2, 1)), in_numbers)
    show("MAX, of 1, 5 and 5", max_row(np.array([6.0]), np.array([1.0, 5.0, 5.0])), in_numbers)

    print("7. Older names")
    for name, op in (old_names() or {"all of them": None}).items():
        none = "no row" if old_names() else None
        show(name, none if op is None else op)


def report_on_graphs(x, w):
    error = Tensor([-3.0, -1.5, 0.0, 0.5, 3.0])

    def total(t):
        return huber(t, 2.0, 1.0).sum()

    loss = huber(error, 2.0, 1.0)
    print("8. The Huber loss")
    show("values", loss, rounded)
    show("gradient", loss, lambda loss: rounded(loss.sum().gradient(error)[0]))
    measured = None if loss is None else finite_difference(total, error)
    show("gradient, measured", measured, rounded)

    print("9. A row for MIN")
    show("slopes of lesser(x, w)", slope_with_row(lambda t: lesser(t, w), x), rounded)

    print("10. The walk")
    rules = {
        "ADD": lambda grad, u: (grad, grad),
        "MUL": lambda grad, u: (grad * u.src[1], grad * u.src[0]),
        "SIN": lambda grad, u: (grad * u.src[0].cos(),),
        "RESHAPE": lambda grad, u: (grad.reshape(u.src[0].shape),),
        "REDUCE_AXIS": lambda grad, u: (grad.expand(u.src[0].shape),),
    }
    show("t.sin() * t * w, yours", walk(lambda t: (t.sin() * t * w).sum(), x, rules), rounded)


def report_on_training(x):
    print("11. Second derivatives")
    show("t[0] * t[1] * t[2]", hessian(lambda t: t[0] * t[1] * t[2], x), rounded)

    print("12. Batch by batch")
    batches = [Tensor([[1.0], [2.0]]), Tensor([[6.0]])]
    start = Tensor([0.0], requires_grad=True)
    found = gradient_of_all(lambda w, b: ((w - b) ** 2).mean(), lambda: start, batches)
    show("(w - b)**2, -6 is right", found, rounded)

    print("13. XOR")
    points, kinds, weights = xor(seed=0)
    trained = train(points, kinds, weights)
    show("loss", trained, lambda found: falling(found[1]))
    show("what it learned", trained, lambda found: drawn(found[0], points, kinds))


def main():
    x, w = Tensor([0.5, -1.0, 2.0]).realize(), Tensor([3.0, -1.0, 0.25]).realize()
    report_on_measuring(x, w)
    report_on_rows()
    report_on_graphs(x, w)
    report_on_training(x)


if __name__ == "__main__":
    main()
