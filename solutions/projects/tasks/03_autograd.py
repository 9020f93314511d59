"""Project 3: what its checks ask, what they are worth, and a hint for each.

What is right comes from formulas in NumPy and from `Dual`, which differentiates forwards: none of
it from tinyframe's gradients.
"""

import numpy as np

from classroom import measured
from classroom.grader.recorded import answer
from classroom.grader.tasks import (
    Expression,
    NumpyArray,
    Project,
    Wrong,
    expect,
    expect_close,
    expect_kind,
)

project = Project(
    "Project 3: Gradients",
    points=100,
    times=2.0,  # for training without TinyJit
    afterwards="You have measured gradients, written rows of the table, walked a graph backwards, "
    "and trained a network with what came out. Next: project 4, where a "
    "network learns to read handwriting.",
)


# ---- derivatives, forwards -----------------------------------------------------------------------


class Dual:
    """A value and its slope along each of n inputs; `slopes` has their axis in front.

    sine: what is taken for the slope of a sine at x, for tables that are not the usual one.
    """

    __array_ufunc__ = None  # so that array * dual asks the dual

    def __init__(self, value, slopes, sine=np.cos):
        self.value, self.slopes, self.sine = value, slopes, sine

    @classmethod
    def of(cls, x, sine=np.cos):
        x = np.asarray(x, np.float64)
        return cls(x, np.eye(x.size).reshape(x.size, *x.shape), sine)

    def __add__(self, other):
        if isinstance(other, Dual):
            return Dual(self.value + other.value, self.slopes + other.slopes, self.sine)
        return Dual(self.value + other, self.slopes + np.zeros_like(other), self.sine)

    def __mul__(self, other):
        if isinstance(other, Dual):
            slopes = self.slopes * other.value + self.value * other.slopes
            return Dual(self.value * other.value, slopes, self.sine)
        return Dual(self.value * other, self.slopes * other, self.sine)

    __radd__, __rmul__ = __add__, __mul__

    def sin(self):
        return Dual(np.sin(self.value), self.slopes * self.sine(self.value), self.sine)

    def sum(self, axis=None):
        axes = tuple(range(self.value.ndim)) if axis is None else (axis,)
        slopes = self.slopes.sum(axis=tuple(a + 1 for a in axes))
        return Dual(self.value.sum(axis=axes), slopes, self.sine)

    def reshape(self, *shape):
        return Dual(self.value.reshape(shape), self.slopes.reshape(-1, *shape), self.sine)

    def expand(self, *shape):
        slopes = np.broadcast_to(self.slopes, (len(self.slopes), *shape))
        return Dual(np.broadcast_to(self.value, shape), slopes, self.sine)

    def largest(self, axis):
        place = np.expand_dims(self.value.argmax(axis), axis)
        slopes = np.take_along_axis(self.slopes, place[None], axis + 1)
        return Dual(np.take_along_axis(self.value, place, axis), slopes, self.sine)

    def detach(self):
        return self  # a measurement knows nothing of it

    def back(self, grad):
        """What flows back to each of the n inputs if `grad` arrives here."""
        return (self.slopes * grad).reshape(len(self.slopes), -1).sum(1)


def slopes_of(text, arrays, x, sine=np.cos):
    """The slopes of an expression in t, at x, in the shape of x."""
    names = {name: np.float64(array) for name, array in arrays.items()}
    found = eval(text, {"t": Dual.of(x, sine), **names}).slopes
    return found.reshape(np.shape(x))


def random_function(ask, shape, ending=""):
    """A smooth function of t to one number, as text and arrays."""
    arrays = {name: ask.floats(*shape, low=0.25) for name in "ab"}
    steps = ["t * t * a", "(t * a).sin()", "t * a", "t.sin() * t", "(t * t).sin() * a", "t * t * t"]
    first, second = map(str, ask.rng.permutation(steps)[:2])
    return f"({first} + {ending or second} * b).sum()", arrays


def function_of(text, arrays):
    return Expression(text, arrays, "t")


# ---- 1 finite_difference -------------------------------------------------------------------------

DETACHED = "t * t.detach() * a"  # half of its slope is hidden from gradient()


def expect_measured(ask, text, arrays, x):
    wanted = slopes_of(text, arrays, x)
    got = ask("finite_difference", function_of(text, arrays), x)
    expect_kind(got, np.ndarray, "the result of finite_difference()")
    if "detach" in text and got.shape == wanted.shape:
        seen = slopes_of(text.replace("t.detach()", "b"), {**arrays, "b": x}, x)
        if np.abs(got - wanted).max() > 0.05 and np.abs(got - seen).max() < 0.01:
            raise Wrong(
                "for a function with a detach() in it you return what gradient() gives. A "
                "measurement sees the whole slope: nudge x and call f again"
            )
    name = f"finite_difference(lambda t: {text}, x)"
    try:
        expect_close(got, wanted, name, rtol=4e-3)
    except Wrong as wrong:
        raise Wrong(f"{wrong}{known_difference(got, wanted)}") from None


def known_difference(got, wanted):
    """What such a wrong gradient often comes from, or nothing."""
    if got.shape != wanted.shape:
        return ""
    scale = max(1.0, float(np.abs(wanted).max()))
    if np.abs(got + wanted).max() < 0.01 * scale:
        return "; the sign is wrong everywhere"
    for times in (2.0, 0.5):
        if np.abs(got - times * wanted).max() < 0.02 * scale:
            return f"; every element is {times:g} times what it should be"
    if np.abs(got - wanted).max() < 0.05 * scale:
        return "; that is close, but too inaccurate. Do you nudge both up and down?"
    return ""


@project.check(
    "finite_difference",
    4,
    "vectors",
    "Copy x.numpy(), add eps to one element, and call f with a Tensor of that; then the same with "
    "-eps.",
)
def _(ask):
    for ending in ("t * t * t", DETACHED):
        shape = (ask.integer(3, 5),)
        arrays = {"a": ask.floats(*shape, low=0.5)}
        expect_measured(ask, f"((t * a).sin() + {ending}).sum()", arrays, signed(ask, *shape))


def signed(ask, *shape):
    """Floats between 0.5 and 2 with any sign."""
    signs = ask.rng.choice([-1.0, 1.0], shape)
    return np.asarray(ask.floats(*shape, low=0.5, high=2.0) * signs, np.float32)


# ---- 2 slope -------------------------------------------------------------------------------------

ARITHMETIC = {"ADD", "SUB", "MUL", "MULACC", "FDIV", "NEG", "RECIP", "EXP2", "LOG2", "SQRT", "POW",
              "WHERE", "MAX", "CMPLT", "CMPEQ", "CMPNE"}  # fmt: skip
MOST = {"square": 1, "product": 0, "sigmoid": 20}  # operations


def sigmoid(x):
    return 1 / (1 + np.exp(-np.float64(x)))


SLOPES = {
    "square": lambda x, w: slopes_of("(t * t).sum()", {}, x),
    "product": lambda x, w: slopes_of("(t * w).sum()", {"w": w}, x),
}


def expect_slope(ask, name, x, w):
    graph = ask.graph("slope", name, x, w)
    expect_close(graph.run(x, w), SLOPES[name](x, w), f"slope({name!r}, x, w)", rtol=1e-5)
    expect(graph.inputs != [], "its graph does not start at x or w; is it computed already?")
    other = [(a * 0.5 + 0.25).astype(np.float32) for a in (x, w)]
    expect_close(graph.run(*other), SLOPES[name](*other), f"slope({name!r}, x, w)", rtol=1e-5)
    took = sum(count for op, count in graph.ops.items() if op in ARITHMETIC)
    expect(
        took <= MOST[name],
        f"its graph has {took} operations where {MOST[name]} are enough. Did gradient() write it? "
        "Write the formula as you would on paper",
    )


@project.check(
    "slope",
    4,
    "square and product",
    "If x grows by a tiny bit, by how much does x * x grow? And x * w?",
)
def _(ask):
    shape = (ask.integer(3, 9),)
    for name in ("square", "product"):
        with ask.part(name):
            expect_slope(ask, name, signed(ask, *shape), signed(ask, *shape))


# ---- 3 is_gradient -------------------------------------------------------------------------------

# What somebody claims, made from what is right.
CLAIMS = {
    "right": lambda ask, right: right,
    "the sign is wrong": lambda ask, right: -right,
    "it is half of what it should be": lambda ask, right: right / 2,
    "one element is too large": lambda ask, right: one_off(ask, right, 0.08),
    "one element is too small": lambda ask, right: one_off(ask, right, -0.08),
    "it is reversed": lambda ask, right: np.flip(right),
}


def one_off(ask, right, share):
    """With one element off by this share of the largest."""
    wrong = right.copy()
    wrong.flat[ask.integer(0, right.size - 1)] += share * np.abs(right).max()
    return wrong


def expect_examined(ask, shape, *claims):
    """Right claims and wrong ones, in any order; all of them have to be told apart. The first one
    is about a function of which gradient() sees only half."""
    for n in ask.rng.permutation(len(claims)):
        text, arrays = random_function(ask, shape, DETACHED if n == 0 else "")
        x = signed(ask, *shape)
        right = slopes_of(text, arrays, x)
        said = CLAIMS[claims[n]](ask, right).astype(np.float32)
        got = ask("is_gradient", function_of(text, arrays), Expression("c", {"c": said}, "t"), x)
        expect_kind(got, bool, "the result of is_gradient()")
        is_right = claims[n] == "right"
        why = "that is its gradient, as measured" if is_right else claims[n]
        expect(got is is_right, f"is_gradient() is {got} for {text} and a claim where {why}")


@project.check(
    "is_gradient",
    4,
    "right claims, wrong signs and wrong factors",
    "Compare the largest difference between the two with 0.02 times the largest slope; bool(...) "
    "makes a Python bool of one from NumPy.",
)
def _(ask):
    wrong = ("the sign is wrong", "it is half of what it should be")
    expect_examined(ask, (4,), "right", "right", *wrong)


# ---- 4 mul_row, 5 expand_row, 6 max_row ----------------------------------------------------------


def expect_array(got, wanted, what):
    expect_close(got, wanted, what, rtol=1e-6, kind=NumpyArray)


def in_numpy(*arrays):
    return [NumpyArray(array) for array in arrays]


def expect_mul(ask, shape):
    grad, x, y = (signed(ask, *shape) for _ in range(3))
    got = ask("mul_row", *in_numpy(grad, x, y))
    expect_kind(got, tuple, "the result of mul_row()")
    expect(len(got) == 2, f"mul_row() returned {len(got)} arrays, one for each source would be 2")
    flows = [(Dual.of(a) * b).back(grad).reshape(shape) for a, b in ((x, y), (y, x))]
    for name, found, wanted, own in zip("xy", got, flows, (x, y), strict=True):
        with ask.part(f"what flows back to {name}"):
            if same(found, grad * own):
                raise Wrong(f"it is grad * {name}, but if {name} grows, x * y grows by the other")
            expect_array(found, wanted, "it")


def same(got, wanted):
    return isinstance(got, NumpyArray) and np.array_equal(got.values, wanted)


@project.check("mul_row", 2, "vectors", "If x grows by 1, then x * y grows by y.")
def _(ask):
    expect_mul(ask, (ask.integer(3, 6),))


def expect_expanded(ask, shape, *axes):
    source = tuple(1 if d in axes else size for d, size in enumerate(shape))
    grad = signed(ask, *shape)
    got = ask("expand_row", NumpyArray(grad), list(source))
    wanted = Dual.of(np.zeros(source)).expand(*shape).back(grad).reshape(source)
    if axes and same(got, grad):
        raise Wrong("it is grad itself: what flows back from all copies of an element is added up")
    expect_array(got, wanted, f"expand_row(grad of shape {shape}, {source})")


@project.check(
    "expand_row",
    3,
    "one axis",
    "Each copy sends its gradient back, so they're added up; keepdims=True keeps the axis.",
)
def _(ask):
    shape = ask.integer(2, 4), ask.integer(5, 7)
    expect_expanded(ask, shape, 0)
    expect_expanded(ask, shape, 1)


def expect_largest(ask, x, grad, wanted):
    got = ask("max_row", *in_numpy(grad, x))
    expect_array(got, wanted, f"max_row(grad of shape {grad.shape}, {x.tolist()})")


@project.check(
    "max_row",
    4,
    "no two elements are equal",
    "x == x.max(axis=..., keepdims=True) is True where the gradient goes.",
)
def _(ask):
    rows, columns = ask.integer(2, 3), ask.integer(4, 5)
    for axis in (0, 1):
        x = ask.rng.permutation(rows * columns).reshape(rows, columns).astype(np.float32)
        largest = Dual.of(x).largest(axis)
        grad = signed(ask, *largest.value.shape)
        expect_largest(ask, x, grad, largest.back(grad).reshape(x.shape))


# ---- 7 old_names ---------------------------------------------------------------------------------

# The op is one that the first graph has, and that the second, which does a little less, has not.
GRAPHS = {
    "Exp": ("x.exp()", "x * 2.0"),
    "Log": ("x.log()", "x * 2.0"),
    "Neg": ("-x", "x + 2.0"),
    "Sum": ("x.sum()", "x.reshape(1, 3)"),
    "Max": ("x.max()", "x.reshape(1, 3)"),
    "Relu": ("x.relu()", "(x < 0.0) | (x == 0.0)"),
    "_broadcasted": ("x + w", "x.reshape(1, 3) + w.shrink(((0, 1), (0, 3)))"),
}


@answer
def ops_of(text):
    arrays = {"x": np.ones(3, np.float32), "w": np.ones((2, 3), np.float32)}
    return measured.ops(Expression(text, arrays))


def expect_renamed(ask, found, *names):
    for name in names:
        with ask.part(name):
            got = entry(found, name)
            expect_kind(got, str, "it")
            (whole, ops), (less, others) = ((text, ops_of(text)) for text in GRAPHS[name])
            expect(got in ops, f"there is no {got} in the graph of {whole}")
            expect(got not in others, f"the graph of {less} has {got} as well; that is not it")


def entry(found, name):
    expect(name in found, "it is not in the dict")
    return found[name]


def asked_for_names(ask):
    found = ask("old_names")
    expect_kind(found, dict, "the result of old_names()")
    return found


@project.check(
    "old_names",
    3,
    "Exp, Neg and Sum",
    "Compare the ops of x.exp() with those of x * 2.0. BUFFER, CONST and UNIQUE compute nothing.",
)
def _(ask):
    expect_renamed(ask, asked_for_names(ask), "Exp", "Neg", "Sum")


# ---- 8 huber -------------------------------------------------------------------------------------


def expect_huber(ask, *special):
    """On random errors and on special ones, which are given in units of `below` and `above`."""
    below, above = (float(x) for x in ask.floats(2, low=0.5, high=2.0))
    kinds = {"below": -below, "above": above, "0": 0.0}
    errors = np.concatenate([ask.floats(8, low=-4.0, high=4.0), [kinds[k] for k in special]])
    errors = ask.rng.permutation(errors).astype(np.float32)
    graph = ask.graph("huber", ask.floats(len(errors)), below, above)
    expect(graph.inputs == [0], "its graph does not start at error; did you compute it already?")
    e = errors.astype(np.float64)
    over, under = above * (e - above / 2), below * (-e - below / 2)
    values = np.where(e > above, over, np.where(e < -below, under, e * e / 2))
    named = f"with below={below:g} and above={above:g}, "
    with ask.part("values"):
        expect_at(graph.run(errors), values, errors, named + "the loss")
    with ask.part("gradients"):
        slopes = np.clip(e, -below, above)
        expect_at(graph.gradient(0, errors), slopes, errors, named + "the gradient")


def expect_at(got, wanted, errors, what):
    """Close to it; the first element that is not is told with the error that it belongs to."""
    expect(got.shape == wanted.shape, f"{what} has shape {got.shape}, not {wanted.shape}")
    wrong = ~(np.abs(got - wanted) <= 1e-4)  # where a NaN is, no comparison is true
    if wrong.any():
        n = int(np.argmax(wrong))
        at = f"{what} at an error of {errors[n]:g}"
        raise Wrong(f"{at} is {got[n]:.6g}, and should be {wanted[n]:.6g}")


@project.check(
    "huber",
    5,
    "values and gradients",
    "`(error > above).where(a, b)` is `a` for errors above the border, and `b` for all others. Use "
    "it twice.",
)
def _(ask):
    expect_huber(ask)


# ---- 9 minimum_row -------------------------------------------------------------------------------

LESSER = "(lambda x, y: Tensor(x.uop.alu(Ops.MIN, y.uop)))"


def expect_minimum(ask, text, arrays, x, wanted):
    """text: with lesser() in it."""
    function = function_of(text.replace("lesser", LESSER), arrays)
    row = ask.keep("minimum_row")
    graph = ask.graph(Expression("gradient_with_row(row, f, x)", {}, "row, f, x"), row, function, x)
    what = f"the gradient of {text} with respect to t"
    got = graph.run(x)
    expect(got.shape == wanted.shape, f"{what} has shape {got.shape}, not {wanted.shape}")
    apart = ~(np.abs(got - wanted) <= 1e-4)
    if apart.any():
        place = tuple(map(int, np.argwhere(apart)[0]))
        one, other = x[place], arrays["b"][place]
        at = f"at x = {one:g}, where the other is {other:g}, it is {got[place]:.6g}"
        raise Wrong(f"{what}: {at}, and should be {wanted[place]:.6g}")


@project.check(
    "minimum_row",
    5,
    "the first source, without ties",
    "The row of MAX in tinyframe/tensor/gradient.py is nearly the same, only the other way round. "
    "On UOps, (x < y).where(a, b) works as it does on Tensors.",
)
def _(ask):
    shape = (ask.integer(6, 9),)
    a, b = signed(ask, *shape), signed(ask, *shape)
    x = (b + ask.rng.choice([-0.25, 0.25], shape)).astype(np.float32)
    expect_minimum(ask, "lesser(t, b) * a", {"a": a, "b": b}, x, np.where(x < b, a, 0.0))


# ---- 10 walk -------------------------------------------------------------------------------------

RULES = {
    "ADD": "(grad, grad)",
    "MUL": "(grad * u.src[1], grad * u.src[0])",
    "SIN": "(grad * u.src[0].cos(),)",
    "RESHAPE": "(grad.reshape(u.src[0].shape),)",
    "REDUCE_AXIS": "(grad.expand(u.src[0].shape),)",
    "EXPAND": "(grad.reduce_axis(Ops.ADD, tuple("
    "d for d, size in enumerate(u.src[0].shape) if size != u.shape[d])),)",
}


def expect_walked(ask, text, arrays, shape, sine=None):
    """With the usual table, or with a number in place of the slope of a sine."""
    changed = {} if sine is None else {"SIN": f"(grad * {sine},)"}
    rules = {op: Expression(rule, {}, "grad, u") for op, rule in (RULES | changed).items()}
    slope = np.cos if sine is None else lambda x: np.full_like(x, sine)
    graph = ask.graph("walk", function_of(text, arrays), signed(ask, *shape), rules)
    x = signed(ask, *shape)
    got, wanted = graph.run(x), slopes_of(text, arrays, x, slope)
    table = "" if sine is None else f" with {sine:g} as the slope of a sine"
    usual = slopes_of(text, arrays, x)
    if sine is not None and got.shape == usual.shape and np.allclose(got, usual, atol=1e-3):
        raise Wrong(
            "with a table in which the slope of a sine is different, the result is still the usual "
            "gradient. Take each rule from `rules`, instead of asking gradient()"
        )
    name = f"walk(lambda t: {text}, x, rules){table}"
    try:
        expect_close(got, wanted, name, rtol=1e-4)
    except Wrong as wrong:
        raise Wrong(f"{wrong}{known_difference(got, wanted)}") from None


@project.check(
    "walk",
    6,
    "x used several times, and a table that is not the usual one",
    "Keep a dict from a node to what has arrived there; if a source is in it already, add.",
)
def _(ask):
    shape = (ask.integer(3, 6),)
    arrays, sine = {"a": signed(ask, *shape)}, ask.integer(2, 5)
    # each with a table that is not the usual one
    with ask.part("what is used once"):
        expect_walked(ask, "(t.sin() * a).sum()", arrays, shape, sine=sine)
    with ask.part("what is used several times"):
        expect_walked(ask, "(t * t + t.sin() * a).sum()", arrays, shape)
        expect_walked(ask, "(t.sin() * t * a).sum()", arrays, shape, sine=sine)


# ---- 11 hessian ----------------------------------------------------------------------------------


def expect_hessian(ask, n):
    """Of x'Ax + sum(c x**3) + sin(d'x), which is A + A' + diag(6 c x) - sin(d'x) d d'."""
    a, c, d, x = signed(ask, n, n), signed(ask, n), signed(ask, n), signed(ask, n)
    square = "(t.reshape(1, -1) @ a @ t.reshape(-1, 1)).sum()"
    # in float32 and far from 0, so that it cannot be measured
    text = f"{square} + (c * t * t * t).sum() + (d * t).sum().sin() + 100000.0"
    text = f"(lambda t: {text})(t.float())"
    got = ask("hessian", function_of(text, {"a": a, "c": c, "d": d}), x)
    wide = np.float64
    wanted = a + a.T + np.diag(6 * c * x) - np.sin(wide(d @ x)) * np.outer(d, d)
    expect_close(got, wanted, "hessian(f, x)", rtol=1e-3)


@project.check(
    "hessian",
    3,
    "two and three elements",
    "first[i] is one number of the first gradient; Tensor.stack puts rows on top of each other.",
)
def _(ask):
    expect_hessian(ask, 2)
    expect_hessian(ask, 3)


# ---- 12 gradient_of_all --------------------------------------------------------------------------

WEIGHT = "Tensor(v.numpy(), requires_grad=True)"
# what somebody has left in w.grad is 1 everywhere
USED = f"(lambda w: (w.sum().backward(), w)[1])({WEIGHT})"


def expect_gradient_of_all(ask, start):
    sizes = [int(n) for n in ask.rng.permutation([1, 2, ask.integer(4, 6)])]
    w, most = signed(ask, 2, 1), max(sizes)
    batches = [signed(ask, n, 3) for n in sizes]
    loss = (
        "((b[:, :2] @ w - b[:, 2:]) ** 2).mean() "
        f"if b.shape[0] <= {most} else (_ for _ in ()).throw("
        f"MemoryError(f'there is no room for a batch of {{b.shape[0]}} rows, only for {most}'))"
    )
    loss_of_batch, weight = Expression(loss, {}, "w, b"), Expression(start, {"v": w})
    got = ask("gradient_of_all", loss_of_batch, weight, batches)
    each = [2 * b[:, :2].T @ (b[:, :2] @ w - b[:, 2:]) / len(b) for b in map(np.float64, batches)]
    wanted = np.average(each, axis=0, weights=sizes)
    expect_kind(got, np.ndarray, "the result of gradient_of_all()")
    if got.shape == wanted.shape:
        for why, mistake in {
            "it is the sum of the batches' gradients, where their mean is asked for": sum(each),
            f"a batch of {min(sizes)} rows counts as much in it as one of {most}": sum(each) / 3,
            "it is the gradient of the last batch alone": each[-1],
            "what somebody had left in w.grad is still in it": wanted + 1,
        }.items():
            expect(not np.allclose(got, mistake, atol=1e-3), why)
    expect_close(got, wanted, "gradient_of_all(loss, start, batches)", rtol=1e-3)


@project.check(
    "gradient_of_all",
    3,
    "batches of different sizes",
    "Scale each loss by its share of all rows before you call backward().",
)
def _(ask):
    expect_gradient_of_all(ask, WEIGHT)


# ---- 13 train ------------------------------------------------------------------------------------


def xor(ask):
    """Ten samples of an XOR that is turned and moved, and weights to start from."""
    turn, spread = ask.rng.uniform(0, 2 * np.pi), ask.rng.uniform(1, 1.5)
    turned = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]] * 3)[:10]
    x = (corners + ask.rng.normal(0, 0.15, corners.shape)) @ turned * spread
    x += ask.rng.uniform(-0.3, 0.3, 2)
    y = corners.prod(axis=1, keepdims=True) < 0
    around = turn + np.arange(8) * np.pi / 4
    weights = {
        "w1": np.stack([np.cos(around), np.sin(around)]),
        "b1": ask.rng.uniform(-1, 1, 8),
        "w2": ask.rng.normal(0, 0.5, (8, 1)),
        "b2": np.zeros(1),
    }
    as_floats = {name: array.astype(np.float32) for name, array in weights.items()}
    return x.astype(np.float32), y.astype(np.float32), as_floats


def loss_of(x, y, weights):
    hidden = np.tanh(x @ weights["w1"] + weights["b1"])
    return float(np.mean((sigmoid(hidden @ weights["w2"] + weights["b2"]) - y) ** 2))


def expect_trained(ask):
    x, y, start = xor(ask)
    found = ask("train", x, y, start)
    expect_kind(found, tuple, "the result of train()")
    expect(len(found) == 2, f"train() returned {len(found)} values, not weights and losses")
    weights, losses = found
    expect_kind(weights, dict, "the first result of train()")
    expect_kind(losses, list, "the second result of train()")
    with ask.part("the trained weights"):
        for name, array in start.items():
            got = entry_of(weights, name)
            expect(got.shape == array.shape, f"{name} has shape {got.shape}, not {array.shape}")
        reached = loss_of(x, y, weights)
        far = f"with your weights the loss is {reached:.4f}; it should be below 0.005"
        expect(reached < 0.005, far)
    with ask.part("the losses", "the trained weights"):
        expect(len(losses) > 1, f"there are {len(losses)} losses, where every step has one")
        expect(all(type(loss) is float for loss in losses), "not all of them are Python floats")
        first = loss_of(x, y, start)
        begins = f"they begin with {losses[0]:.4f}; the weights you were given have {first:.4f}"
        expect(abs(losses[0] - first) < 1e-3, begins)
        expect(losses[-1] < 0.02, f"the last of them is {losses[-1]:.4f}")


def entry_of(found, name):
    expect(name in found, f"there is no {name!r} in the dict")
    expect_kind(found[name], np.ndarray, repr(name))
    return found[name]


@project.check(
    "train",
    4,
    "a fresh XOR",
    "loss.gradient(*weights.values()) has one gradient for each; new = old - rate * gradient; "
    "realize() the new ones in every step, or the graph grows and grows.",
)
def _(ask):
    expect_trained(ask)


### BEGIN HIDDEN
# ---- the instructor's own checks -----------------------------------------------------------------

SLOPES["sigmoid"] = lambda x, w: sigmoid(x) * sigmoid(-np.float64(x))


@project.check(
    "finite_difference", 4, "a matrix, and a scalar", "np.ndindex(*x.shape) gives every place in x."
)
def _(ask):
    text = f"((t * a).sin() + {DETACHED}).sum()"
    for shape in ((2, 3), ()):
        arrays = {"a": np.abs(signed(ask, *shape))}
        expect_measured(ask, text, arrays, signed(ask, *shape))


@project.check(
    "slope",
    4,
    "sigmoid, far from 0 too",
    "Write it with s = x.sigmoid() alone, without an exp of your own: exp(90) is inf.",
)
def _(ask):
    shape = (ask.integer(3, 9),)
    x = signed(ask, *shape)
    x[0], x[1] = 90.0, -90.0
    expect_slope(ask, "sigmoid", x, signed(ask, *shape))


@project.check(
    "is_gradient", 4, "matrices, and one wrong element", "Look at the worst element of all."
)
def _(ask):
    wrong = ("one element is too large", "one element is too small", "it is reversed")
    expect_examined(ask, (2, 3), "right", *wrong, "right")


@project.check("mul_row", 2, "matrices", "Both arrays have the shape of grad.")
def _(ask):
    expect_mul(ask, (ask.integer(2, 4), ask.integer(2, 4)))


@project.check(
    "expand_row", 3, "several axes, and none", "Sum over every axis whose size differs, at once."
)
def _(ask):
    shape = ask.integer(2, 3), ask.integer(4, 5), ask.integer(2, 3)
    expect_expanded(ask, shape, 0, 2)
    expect_expanded(ask, shape, 0, 1, 2)
    expect_expanded(ask, shape)


@project.check("max_row", 4, "ties, and two axes", "Divide by how many elements are the largest.")
def _(ask):
    x = ask.rng.integers(0, 2, (ask.integer(2, 3), ask.integer(5, 6))).astype(np.float32)
    x[:, :2] = 1.0  # at least two in each row, and every row on a level of its own
    x += 2 * ask.rng.permutation(len(x)).reshape(-1, 1).astype(np.float32)
    for axes in ((1,), (0, 1)):
        at = x == x.max(axis=axes, keepdims=True)
        count = at.sum(axis=axes, keepdims=True)
        grad = signed(ask, *count.shape)
        got = ask("max_row", *in_numpy(grad, x))
        expect(
            not same(got, (grad * at).astype(np.float32)),
            f"where {count.max()} elements are the largest, each of them gets all of the gradient. "
            "They share it",
        )
        expect_largest(ask, x, grad, grad * at / count)


@project.check(
    "old_names",
    3,
    "Log, Max, Relu, Less and _broadcasted",
    "Which op does x.relu() end with? And a comparison has no slope.",
)
def _(ask):
    found = asked_for_names(ask)
    expect_renamed(ask, found, "Log", "Max", "Relu", "_broadcasted")
    with ask.part("Less"):
        got = entry(found, "Less")
        expect(got is None, f"it is {got!r}, but the result is a bool, so nothing flows back")


@project.check(
    "huber", 5, "an error of 0, and on both borders", "Is anything divided by 0 on the way back?"
)
def _(ask):
    expect_huber(ask, "0", "below", "above")


@project.check(
    "minimum_row", 5, "ties, both sources, and a longer graph", "Half of it each, where x.eq(y)."
)
def _(ask):
    shape = ask.integer(2, 3), ask.integer(4, 5)
    a, b = signed(ask, *shape), signed(ask, *shape)
    x = (b + ask.rng.choice([-0.25, 0.0, 0.25], shape)).astype(np.float32)
    x[0, :3] = b[0, :3] + np.float32([-0.25, 0.0, 0.25])
    share = np.where(x < b, 1.0, np.where(x == b, 0.5, 0.0))
    for text in ("lesser(t, b) * a", "lesser(b, t) * a"):
        expect_minimum(ask, text, {"a": a, "b": b}, x, share * a)
    expect_minimum(ask, "lesser(t, b) * t", {"b": b}, x, share * x + np.minimum(x, b))


@project.check("walk", 6, "a matrix, with broadcasting", "Every source of a node gets its share.")
def _(ask):
    shape = ask.integer(2, 3), ask.integer(4, 5)
    arrays = {"a": signed(ask, *shape)}
    row = f"t.sum(0).reshape(1, {shape[1]}).expand{shape}"
    with ask.part("broadcasting"):
        expect_walked(ask, f"({row} * t * a).sum()", arrays, shape)
        text = f"(({row} + t).sin() * t.sin()).sum()"
        expect_walked(ask, text, arrays, shape, sine=ask.integer(2, 5))
    with ask.part("what is used several times"):
        text = "(lambda s: (s * s * a + s).sum())(t.sin())"
        expect_walked(ask, text, arrays, shape, sine=ask.integer(2, 5))


@project.check("hessian", 3, "a row of zeros", "gradient() gives zeros where nothing depends on x.")
def _(ask):
    n = ask.integer(3, 4)
    a, x = signed(ask, n), signed(ask, n)
    got = ask("hessian", function_of("(t * a).sum() + t[0] * t[1]", {"a": a}), x)
    wanted = np.zeros((n, n))
    wanted[0, 1] = wanted[1, 0] = 1.0
    expect_close(got, wanted, "hessian(f, x)", rtol=1e-4)
    expect_hessian(ask, n)


@project.check(
    "gradient_of_all", 3, "a weight that has a .grad already", "w.grad = None before you begin."
)
def _(ask):
    expect_gradient_of_all(ask, USED)


@project.check("train", 4, "a different XOR", "Begin with the weights that you are given.")
def _(ask):
    expect_trained(ask)


### END HIDDEN
