"""Project 3: Gradients. What else a table of derivatives can do, and how to catch one that lies.

You will write ten functions. Each one says what it is given and what it should return; replace the
`...` with your code. Nothing else needs to change, and you may add functions of your own.

    python projects/03_autograd.py                       runs everything and prints a report
    python -m classroom grade projects/03_autograd.py    100 points, and a hint for each miss

Run the file as often as you like: a task you have not written yet is simply called open. You need
parts 1 to 6 of the course, and about five hours.

In tasks 1 to 7, a Tensor is one of tinyframe's. Tasks 8 to 10 are written with mini, your own
framework, and a `Mini` is its Tensor. At home this runs on your own mini where its checks pass. The
grader lends you ours. `x`, `grad` and the like always hold floats. A list is as good as a tuple.
"""

import numpy as np

from classroom import use_mini
from tinyframe import Tensor
from tinyframe.rewrite.matcher import PatternMatcher, UPat
from tinyframe.tensor import gradient as gradient_module
from tinyframe.uop import Ops

use_mini(6)  # for the last three tasks: your own where its checks pass, else ours

from mini.part4 import Ops as MiniOps
from mini.part6 import GRADIENT, Adam
from mini.part6 import Tensor as Mini

# ---- on paper ------------------------------------------------------------------------------------


def slope(name, x, w):
    """Task 1 (8 points). A derivative that you can work out on paper, of each element, as a Tensor.

    "square"    the derivative of x * x with respect to x
    "product"   the derivative of x * w with respect to x
    "sigmoid"   the derivative of x.sigmoid() with respect to x

    x, w: Tensors of the same shape. Return the formula's graph, not computed, and without
    gradient(): the one for "product" needs no arithmetic at all, "square" needs one operation, and
    "sigmoid" two or three more than x.sigmoid() itself.
    """
    ### BEGIN SOLUTION
    if name == "square":
        return 2 * x
    if name == "product":
        return w
    s = x.sigmoid()
    return s * (1 - s)
    ### END SOLUTION


def old_names():
    """Task 2 (6 points). What became of the names in older texts: a dict from theirs to ours.

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
    ### BEGIN SOLUTION
    return {
        "Sum": "REDUCE_AXIS",
        "Max": "REDUCE_AXIS",
        "Exp": "EXP2",
        "Log": "LOG2",
        "Neg": "MUL",
        "Relu": "WHERE",
        "Less": None,
        "_broadcasted": "EXPAND",
    }
    ### END SOLUTION


# ---- a loss, and a row of your own ---------------------------------------------------------------


def huber(error, below, above):
    """Task 3 (10 points). A Huber loss with two sides, of each element: a Tensor of error's shape.

    error**2 / 2                    from -below to above, both included
    above * (error - above / 2)     for errors above that
    below * (-error - below / 2)    for errors below that

    So it is round at the bottom and straight on both sides: an outlier pulls no harder than `above`
    or `below`. huber(Tensor([0.5, 3.0, -3.0]), 2.0, 1.0) is [0.125, 2.5, 4]. below and above are
    floats greater than 0.

    Return the graph, not computed. It's differentiated afterwards, and the gradient has to be right
    as well, even where an error is exactly 0, or exactly on one of the two borders.
    """
    ### BEGIN SOLUTION
    loss = (error > above).where(above * (error - above / 2), error * error / 2)
    return (error < -below).where(below * (-error - below / 2), loss)
    ### END SOLUTION


def straight_row(limit):
    """Task 4 (10 points). A row that lies, for a good reason: a pattern and a function.

    t.trunc() cuts off the fraction: 1.7 becomes 1. Its slope is 0 nearly everywhere, which is what
    tinyframe's row for Ops.TRUNC says, and which means that nothing behind a trunc() ever learns.
    People who want networks with whole numbers for weights cheat. They compute with t.trunc(), and
    on the way back they pretend that it was t.

    Write that row, in the form that the rows of tinyframe/tensor/gradient.py have. What has arrived
    is passed on where x is from -limit to limit, both included. Everywhere else the gradient is 0,
    so that no weight runs away. It is used in place of tinyframe's own.
    """
    ### BEGIN SOLUTION

    def pass_on(grad, x):
        is_inside = ((x < -limit) | (x > limit)).logical_not()
        return (is_inside.where(grad, grad.const_like(0)),)

    return UPat(Ops.TRUNC, src=(UPat.var("x"),)), pass_on
    ### END SOLUTION


def slope_with_row(f, x, limit):
    """Given: the gradient of f(x).sum() with respect to x, with your row in the table meanwhile."""
    row = straight_row(limit)
    if row is None or row is ...:
        return None
    table = gradient_module.gradient_rules
    gradient_module.gradient_rules = PatternMatcher([row]) + table
    try:
        return f(x).sum().gradient(x)[0]
    finally:
        gradient_module.gradient_rules = table


# ---- the other way through the graph -------------------------------------------------------------


def forwards(f, x, direction, rules):
    """Task 5 (14 points). How fast f changes if x moves in one direction: a Tensor of f(x)'s shape.

    Going backwards gives you the slopes of one number with respect to a million. If you have one
    input that moves, and a million results, you would have to go back a million times. So go
    forwards instead, and hand on, from sources to users, how fast each node changes.

    f: a function from x to a Tensor of any shape. direction: a Tensor of x's shape, how fast each
    element of x moves. rules: a dict from the name of an op, such as "MUL", to a function of a node
    u and the list of its sources' speeds, which are UOps: rules[u.op.name](u, speeds) is the UOp
    that says how fast u changes. The speed of a source that x has no part in is 0 everywhere, and
    `source.const_like(0)` is that.

    For f(t) = t * t, with x = [3, 5] and direction = [1, 0], the result is [6, 0]. `Tensor(u)`
    makes a Tensor of a UOp. Return that, not computed. Take every rule from `rules`: it isn't
    always what you would expect it to be, so gradient() can't help you here.
    """
    ### BEGIN SOLUTION
    speeds = {}
    for u in f(x).uop.toposort():
        if u is x.uop:
            speeds[u] = direction.uop
        elif u.op.name in rules:
            found = [speeds.get(source, None) for source in u.src]
            if any(speed is not None for speed in found):
                pairs = zip(u.src, found, strict=True)
                given = [source.const_like(0) if s is None else s for source, s in pairs]
                speeds[u] = rules[u.op.name](u, given)
    return Tensor(speeds[u])
    ### END SOLUTION


# ---- gradients at work ---------------------------------------------------------------------------


def hessian(f, x):
    """Task 6 (8 points). All second derivatives of f at x: a Tensor of shape (n, n).

    f: a function from a Tensor of shape (n,) to a Tensor with one number. Row i is the gradient of
    element i of the gradient. hessian(lambda t: t[0] * t[1], x) is [[0, 1], [1, 0]] for an x of two
    elements. Differentiate twice: f is computed in 32 bits, and a second difference
    that you measure from such numbers is far from right.
    """
    ### BEGIN SOLUTION
    (first,) = f(x).gradient(x)
    rows = [first[i].gradient(x)[0] for i in range(x.shape[0])]
    return Tensor.stack(*rows)
    ### END SOLUTION


def gradient_of_all(loss, start, batches):
    """Task 7 (8 points). The gradient of the mean loss over all samples, batch by batch: a Tensor.

    loss: loss(w, batch) is the mean loss over the rows of one batch. start: start() is the weight
    w, whose requires_grad is True. batches: a list of Tensors, and not all have the same number of
    rows. Together they don't fit into memory, so only one of them may go into loss() at a time, and
    it goes in whole: the loss of a row may depend on the rows around it, as with a BatchNorm.

    backward() adds to w.grad, which is what you want here. But look out: somebody may have called
    backward() on w before you, and the mean of all rows is not the sum of the means.
    """
    ### BEGIN SOLUTION
    w = start()
    w.grad = None
    rows = sum(batch.shape[0] for batch in batches)
    for batch in batches:
        (loss(w, batch) * (batch.shape[0] / rows)).backward()
    return w.grad
    ### END SOLUTION


# ---- in your own framework -----------------------------------------------------------------------


def measured(f, x):
    """Given: the gradient of f at x, measured. You wrote this for vectors in exercise 6.5.

    f: a function from a NumPy array of x's shape to a number. x: a NumPy array of any shape. Each
    number is nudged by 1/64, so two that are closer than that, but not equal, change places.
    """
    found = np.zeros(x.shape)
    for place in np.ndindex(*x.shape):
        nudge = np.zeros(x.shape)
        nudge[place] = 1 / 64
        found[place] = (f(x + nudge) - f(x - nudge)) * 32
    return found


def suspects(table):
    """Task 8 (14 points). Somebody has tampered with a gradient table. Which rows are wrong?

    table: a dict with a row for each of these ten ops, by name:

        "MUL", "MAX", "RECIP", "EXP2", "WHERE"
        "PERMUTE", "EXPAND", "SHRINK", "PAD", "REDUCE_AXIS"

    The rows have the form of those in mini/part6.py: table["MUL"](grad, node, x, y) takes nodes of
    mini and returns a tuple. Return a list of the names of those that are wrong, in any order.

    The rows won't tell you. So build a small node of each op, hand its row some `grad`, and compare
    what comes back with what you measure. (If t is a Mini, t.uop is its node. If u is a node,
    Mini(u) is a Tensor of it, u.src its sources, and u.alu(MiniOps.EXP2) an EXP2 on top of it.)

    What you try them on is the whole game. Some rows are only wrong where two numbers are equal
    (then each gets half), some only for more than two axes, and some only if one edge isn't like
    the other. A row that returns the wrong shape, or raises an error, is wrong too.
    """
    ### BEGIN SOLUTION
    one, two = np.array([[0.5, 1.0, 3.0]]), np.array([[2.0, 1.0, -1.0]])
    block = np.arange(24.0).reshape(2, 3, 4) / 8
    probes = {
        "MUL": [(lambda x, y: x * y, one, two)],
        "MAX": [(lambda x, y: x.maximum(y), one, two)],
        "RECIP": [(lambda x: x.recip(), one)],
        "EXP2": [(lambda x: x.alu(MiniOps.EXP2), one)],
        "WHERE": [(lambda x, y: (y > 0).where(x, y), one, two)],
        "PERMUTE": [(lambda x: x.permute(2, 0, 1), block)],
        "EXPAND": [(lambda x: x.expand(2, 3, 2), block[:1, :, :1])],
        "SHRINK": [(lambda x: x.shrink((0, 1), (1, 3), (2, 3)), block)],
        "PAD": [(lambda x: x.pad((0, 2), (1, 0)), one)],
        "REDUCE_AXIS": [
            (lambda x: x.sum(0, 2, keepdim=True), block),
            (lambda x: x.max(1, keepdim=True), np.array([[1.0, 5.0, 5.0], [4.0, 0.0, 2.0]])),
        ],
    }
    return [name for name, row in table.items() if not all(is_right(row, *p) for p in probes[name])]


def node_of(build, arrays):
    return build(*(Mini(array).uop for array in arrays))


def is_right(row, build, *arrays):
    """Whether a row hands back what is measured, for the node that is built of these arrays."""
    node = node_of(build, arrays)
    weights = np.random.default_rng(0).uniform(1, 2, node.shape)
    try:
        given = row(Mini(weights).uop, node, *node.src)
        found = [Mini(grad).numpy() for grad in given if grad is not None]
    except Exception:
        return False
    if len(found) != len(arrays):
        return False
    for n, array in enumerate(arrays):

        def total(changed, n=n):
            others = [changed if k == n else array for k, array in enumerate(arrays)]
            return float((Mini(node_of(build, others)).numpy() * weights).sum())

        right = measured(total, array)
        if found[n].shape != right.shape or not np.allclose(found[n], right, rtol=0.01, atol=0.01):
            return False
    return True
    ### END SOLUTION


def slope_of_rate(loss, w, rate, steps):
    """Task 9 (10 points). Is the learning rate too small? By how much the loss after training
    changes if the rate grows: a Mini with one number.

    loss: a function from a Mini to a Mini with one number. w: the weights to start from, a Mini.
    rate: the learning rate, a Mini of shape (). Take `steps` steps of plain gradient descent, and
    return the derivative of the loss after the last step with respect to the rate.

    A gradient is one more graph, which is why this works: training is a graph as well, with the
    rate somewhere at the bottom of it. So nothing may be computed on the way (SGD.step computes,
    so write the step yourself), and the result isn't computed either.

    For loss(w) = w * w, one step from w = 3 with rate 0.1 leads to 3 - 0.1 * 6 = 2.4. The loss
    there is 5.76, and its derivative with respect to the rate is 2 * 2.4 * -6 = -28.8.
    """
    ### BEGIN SOLUTION
    for _step in range(steps):
        (slope,) = loss(w).gradient(w)
        w = w - rate * slope
    return loss(w).gradient(rate)[0]
    ### END SOLUTION


def brightness(places, layers):
    """Given: how bright a network says places of shape (n, 2) are: (n, 1), from 0 to 1."""
    *hidden, (weight, bias) = layers
    for w, b in hidden:
        places = (places @ w + b).relu()
    score = (places @ weight + bias).maximum(-30)  # exp(30) is still a number
    return ((-score).exp() + 1).recip()


def paint(places, picture, most):
    """Task 10 (12 points). A picture as a network: its layers, a list of pairs (weight, bias).

    places: a Mini of shape (n, 2), where each pixel is: row and column, from -1 to 1. picture: a
    Mini of shape (n, 1), how bright each pixel is, 0 or 1. Find layers with which
    brightness(places, layers) looks like it. The mean of the squared differences has to get below
    0.06, and all weights and biases together may be at most `most` numbers, which is 80 for a
    picture of 144 pixels.

    How many layers, how wide, which numbers to begin with, how many steps and how large: you
    decide. Train with your own Adam. You have 10 seconds, and 1 is enough. If all pixels come out
    the same, look at the numbers that you began with: too large, or all alike?
    """
    ### BEGIN SOLUTION
    width = (most - 1) // 4
    for seed in range(5):  # some numbers to begin with are unlucky
        rng = np.random.default_rng(seed)
        layers = [
            (Mini(rng.normal(0, 2, (2, width))), Mini(rng.normal(0, 1, width))),
            (Mini(rng.normal(0, 0.1, (width, 1))), Mini([0.0])),
        ]
        adam = Adam([part for layer in layers for part in layer], lr=0.1)
        for _ in range(200):
            apart = brightness(places, layers) - picture
            loss = adam.step((apart * apart).mean()).numpy()
            if loss < 0.02:
                return layers
        if loss < 0.05:
            break
    return layers
    ### END SOLUTION


# ---- run everything ------------------------------------------------------------------------------


def show(title, answer, look=lambda answer: answer):
    """Print an answer, or that there is none yet."""
    is_open = answer is None or answer is ...
    print(f"   {title:<34}{'open' if is_open else look(answer)}")


def rounded(tensor):
    return str(np.round(tensor.numpy(), 3) + 0.0).replace("\n", "\n" + " " * 37)


def report_on_rows(x, w):
    print("1. Derivatives worked out on paper")
    for name in ("square", "product", "sigmoid"):
        show(name, slope(name, x, w), rounded)

    print("2. Older names")
    for name, op in (old_names() or {"all of them": None}).items():
        none = "no row" if old_names() else None
        show(name, none if op is None else op)

    error = Tensor([-3.0, -1.5, 0.0, 0.5, 3.0])
    loss = huber(error, 2.0, 1.0)
    print("3. The Huber loss")
    show("values", loss, rounded)
    show("gradient", loss, lambda loss: rounded(loss.sum().gradient(error)[0]))

    print("4. A row that lies")
    show("t.trunc() * 3, honestly", (x.trunc() * 3).sum().gradient(x)[0], rounded)
    show("and by your row, limit 1", slope_with_row(lambda t: t.trunc() * 3, x, 1.0), rounded)


# From the speeds of its sources, the speed of a node.
RULES = {
    "ADD": lambda u, speeds: speeds[0] + speeds[1],
    "MUL": lambda u, speeds: speeds[0] * u.src[1] + u.src[0] * speeds[1],
    "SIN": lambda u, speeds: speeds[0] * u.src[0].cos(),
    "RESHAPE": lambda u, speeds: speeds[0].reshape(u.shape),
    "EXPAND": lambda u, speeds: speeds[0].expand(u.shape),
}


def report_on_graphs(x):
    print("5. Forwards: one input moves, and every result says how fast it changes")
    turn = Tensor([0.0, 0.5, 1.0, 1.5]).realize()
    time, one = Tensor([1.0]).realize(), Tensor([1.0]).realize()
    show("sin(t + turn), at t = 1", forwards(lambda t: (t + turn).sin(), time, one, RULES), rounded)

    print("6. Second derivatives")
    show("t[0] * t[1] * t[2]", hessian(lambda t: t[0] * t[1] * t[2], x), rounded)

    print("7. Batch by batch")
    batches = [Tensor([[1.0], [2.0]]), Tensor([[6.0]])]
    start = Tensor([0.0], requires_grad=True)
    found = gradient_of_all(lambda w, b: ((w - b) ** 2).mean(), lambda: start, batches)
    show("(w - b)**2, -6 is right", found, rounded)


SUSPECTS = {"MUL", "MAX", "RECIP", "EXP2", "WHERE", "PERMUTE", "EXPAND", "SHRINK", "PAD",
            "REDUCE_AXIS"}  # fmt: skip


def report_on_suspects():
    print("8. Suspects")
    ops = [op for op in GRADIENT if isinstance(op, MiniOps) and op.name in SUSPECTS]
    table = {op.name: GRADIENT[op] for op in ops}
    show("of the table that you know", suspects(table))
    table["MUL"] = lambda grad, node, x, y: (grad * x, grad * y)
    table["PERMUTE"] = lambda grad, node, x: (grad.permute(*node.arg),)
    show("with MUL and PERMUTE changed", suspects(table))


def bowl(w):
    """A loss that is steep along one axis and flat along the other."""
    return (w * w * Mini([4.0, 0.25])).sum()


def report_on_rate():
    print("9. A learning rate that learns: the rate, and the loss after 5 steps with it")
    rate = 0.01
    for number in range(10):
        w, now = Mini([1.0, 2.0]), Mini(rate)
        found = slope_of_rate(bowl, w, now, 5)
        if found is None or found is ...:
            return show("the slope of the rate", found)
        for _ in range(5):
            (grad,) = bowl(w).gradient(w)
            w = w - now * grad
        loss, uphill = float(bowl(w).numpy()), float(found.numpy())
        print(f"   rate {rate:.4f}   loss {loss:.4f}   its slope {uphill:8.3f}")
        rate -= 0.03 * np.sign(uphill) * 0.8**number


SHADES = " .:-=+*#%@"


def grid(side):
    """The places of side x side pixels, from -1 to 1."""
    along = np.linspace(-1, 1, side)
    return np.stack(np.meshgrid(along, along, indexing="ij"), -1).reshape(-1, 2)


def heart(places):
    y, x = -places[:, 0], abs(places[:, 1])
    return (x * x + (1.1 * y + 0.25 - 0.9 * x**0.5) ** 2 < 0.7)[:, None] * 1.0


def drawn(pixels, side):
    lines = (pixels * 9.99).astype(int).reshape(side, side)
    return "\n".join("      " + "".join(SHADES[pixel] * 2 for pixel in line) for line in lines)


def report_on_painting():
    print("10. A picture as a network")
    picture = heart(grid(12))
    layers = paint(Mini(grid(12)), Mini(picture), 80)
    if layers is None or layers is ...:
        return show("painted", layers)
    numbers = sum(part.numpy().size for layer in layers for part in layer)
    print(f"{drawn(picture, 12)}\n   These were 144 pixels. In {numbers} numbers, and enlarged:")
    print(drawn(brightness(Mini(grid(24)), layers).numpy(), 24))


def main():
    x, w = Tensor([0.5, -1.0, 2.0]).realize(), Tensor([3.0, -1.0, 0.25]).realize()
    report_on_rows(x, w)
    report_on_graphs(x)
    report_on_suspects()
    report_on_rate()
    report_on_painting()


if __name__ == "__main__":
    main()
