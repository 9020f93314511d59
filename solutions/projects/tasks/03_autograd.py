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
    described,
    expect,
    expect_close,
    expect_kind,
    or_known,
)
from classroom.mini.graphs import TENSOR, graph_of, plain, sent

project = Project(
    "Project 3: Gradients",
    points=100,
    times=2.0,  # for training
    afterwards="You have walked a graph forwards, caught a table that lied, differentiated a whole "
    "training run, and fitted a picture into 80 numbers. Next: project 4, where a network learns "
    "to read handwriting.",
)


# ---- derivatives, forwards -----------------------------------------------------------------------


class Dual:
    """A value and its slope along each of n inputs; `slopes` has their axis in front.

    rules: for tables that are not the usual one, what is taken for the slope of each sine, and what
    the slopes of an ADD, MUL or EXPAND are multiplied by.
    """

    __array_ufunc__ = None  # so that array * dual asks the dual

    def __init__(self, value, slopes, rules):
        self.value, self.slopes, self.rules = value, slopes, rules

    @classmethod
    def of(cls, x, rules=None):
        x = np.asarray(x, np.float64)
        return cls(x, np.eye(x.size).reshape(x.size, *x.shape), rules or {})

    def by(self, op, value, slopes):
        return Dual(value, slopes * self.rules.get(op, 1), self.rules)

    def __add__(self, other):
        if isinstance(other, Dual):
            return self.by("ADD", self.value + other.value, self.slopes + other.slopes)
        return self.by("ADD", self.value + other, self.slopes + np.zeros_like(other))

    def __mul__(self, other):
        if isinstance(other, Dual):
            slopes = self.slopes * other.value + self.value * other.slopes
            return self.by("MUL", self.value * other.value, slopes)
        return self.by("MUL", self.value * other, self.slopes * other)

    __radd__, __rmul__ = __add__, __mul__

    def sin(self):
        slope = self.rules.get("SIN", np.cos(self.value))
        return Dual(np.sin(self.value), self.slopes * slope, self.rules)

    def sum(self, axis=None):
        axes = tuple(range(self.value.ndim)) if axis is None else (axis,)
        slopes = self.slopes.sum(axis=tuple(a + 1 for a in axes))
        return Dual(self.value.sum(axis=axes), slopes, self.rules)

    def reshape(self, *shape):
        return Dual(self.value.reshape(shape), self.slopes.reshape(-1, *shape), self.rules)

    def expand(self, *shape):
        slopes = np.broadcast_to(self.slopes, (len(self.slopes), *shape))
        return self.by("EXPAND", np.broadcast_to(self.value, shape), slopes)


def slopes_of(text, arrays, x):
    """The slopes of an expression in t, at x, in the shape of x."""
    names = {name: np.float64(array) for name, array in arrays.items()}
    found = eval(text, {"t": Dual.of(x), **names}).slopes
    return found.reshape(np.shape(x))


def function_of(text, arrays):
    return Expression(text, arrays, "t")


def signed(ask, *shape):
    """Floats between 0.5 and 2 with any sign."""
    signs = ask.rng.choice([-1.0, 1.0], shape)
    return np.asarray(ask.floats(*shape, low=0.5, high=2.0) * signs, np.float32)


# ---- 1 slope -------------------------------------------------------------------------------------

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
        f"its graph has {took} operation{'s' * (took != 1)}, and needs {MOST[name] or 'none'}. Did "
        "gradient() write it? Write the formula as you would on paper",
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


# ---- 2 old_names ---------------------------------------------------------------------------------

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
            got = got.removeprefix("Ops.").upper()
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


# ---- 3 huber -------------------------------------------------------------------------------------


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


# ---- 4 straight_row ------------------------------------------------------------------------------


def expect_straight(ask, text, arrays, x, limit, wanted):
    function = function_of(text, arrays)
    row = ask.keep("straight_row", limit)
    graph = ask.graph(Expression("gradient_with_row(row, f, x)", {}, "row, f, x"), row, function, x)
    what = f"with limit {limit:g}, the gradient of {text} with respect to t"
    got = graph.run(x)
    expect(got.shape == wanted.shape, f"{what} has shape {got.shape}, not {wanted.shape}")
    apart = ~(np.abs(got - wanted) <= 1e-4)
    if apart.any():
        place = tuple(map(int, np.argwhere(apart)[0]))
        at = f"at {x[place]:g} it is {got[place]:.6g}, and should be {wanted[place]:.6g}"
        raise Wrong(f"{what}: {at}")


def scattered(ask, limit, *shape):
    """Floats on both sides of both limits, and none too close to one."""
    x = signed(ask, *shape) * limit / 1.25
    return np.where(np.abs(np.abs(x) - limit) < 0.05, x * 0.5, x).astype(np.float32)


@project.check(
    "straight_row",
    5,
    "inside and outside of the limits",
    "A row is a pair: UPat(Ops.TRUNC, src=(UPat.var('x'),)), and a function of grad and x that "
    "returns a tuple. On UOps, condition.where(a, b) works as it does on Tensors.",
)
def _(ask):
    limit, shape = ask.integer(2, 6) / 2, (ask.integer(7, 9),)
    x, a = scattered(ask, limit, *shape), signed(ask, *shape)
    wanted = np.where(np.abs(x) <= limit, a, 0.0)
    expect_straight(ask, "t.trunc() * a", {"a": a}, x, limit, wanted)


# ---- 5 forwards ----------------------------------------------------------------------------------

RULES = {
    "ADD": "speeds[0] + speeds[1]",
    "MUL": "speeds[0] * u.src[1] + u.src[0] * speeds[1]",
    "SIN": "speeds[0] * u.src[0].cos()",
    "RESHAPE": "speeds[0].reshape(u.shape)",
    "EXPAND": "speeds[0].expand(u.shape)",
    "REDUCE_AXIS": "speeds[0].reduce_axis(*u.arg)",
}


def expect_forwards(ask, text, arrays, shape, is_usual=False):
    """With the usual rules, or with a number as the slope of a sine, and three others changed."""
    other = {} if is_usual else {op: ask.integer(2, 5) for op in ("SIN", "ADD", "MUL", "EXPAND")}
    changed = {op: f"({RULES[op]}) * {number}.0" for op, number in other.items()}
    changed |= {op: f"speeds[0] * {number}.0" for op, number in other.items() if op == "SIN"}
    rules = {op: Expression(rule, {}, "u, speeds") for op, rule in (RULES | changed).items()}
    given = signed(ask, *shape), signed(ask, *shape)
    graph = ask.graph("forwards", function_of(text, arrays), *given, rules)
    x, direction = signed(ask, *shape), signed(ask, *shape)
    got = graph.run(x, direction)

    def speed(rules):
        names = {name: np.float64(array) for name, array in arrays.items()}
        slopes = eval(text, {"t": Dual.of(x, rules), **names}).slopes
        return np.tensordot(direction.ravel(), slopes, 1)

    still = (
        "with rules that say something else about SIN, ADD, MUL and EXPAND, the result is still "
        "the usual one. Take each rule from `rules`"
    )
    only = "the rule of SIN is taken from `rules`, and the others aren't"
    table = f"with other rules ({', '.join(changed.values())}), " if changed else ""
    with or_known(got, {} if is_usual else {still: speed({}), only: speed({"SIN": other["SIN"]})}):
        expect_close(got, speed(other), f"{table}forwards(lambda t: {text}, x, direction, rules)")


@project.check(
    "forwards",
    7,
    "one result for each element, x used several times, a rule that is not the usual one",
    "Keep a dict from a node to its speed, and go through f(x).uop.toposort(): at x.uop, the speed "
    "is direction.uop, and at a node whose op is in `rules`, ask the rule.",
)
def _(ask):
    shape = (ask.integer(3, 6),)
    arrays = {"a": signed(ask, *shape)}
    with ask.part("what is used once"):
        expect_forwards(ask, "t.sin() * a", arrays, shape)
    with ask.part("what is used several times"):
        expect_forwards(ask, "t * t + t.sin() * a", arrays, shape, is_usual=True)
        expect_forwards(ask, "t.sin() * t * a", arrays, shape)


# ---- 6 hessian ----------------------------------------------------------------------------------


def expect_hessian(ask, n):
    """Of x'Ax + sum(c x**3) + sin(d'x), which is A + A' + diag(6 c x) - sin(d'x) d d'."""
    a, c, d, x = signed(ask, n, n), signed(ask, n), signed(ask, n), signed(ask, n)
    square = "(t.reshape(1, -1) @ a @ t.reshape(-1, 1)).sum()"
    # in float32, with values and slopes far from 0, so that it cannot be measured
    text = f"{square} + (c * t * t * t).sum() + (d * t).sum().sin() + (1000000.0 * t).sum()"
    text = f"(lambda t: {text})(t.float())"
    got = ask("hessian", function_of(text, {"a": a, "c": c, "d": d}), x)
    wide = np.float64
    wanted = a + a.T + np.diag(6 * c * x) - np.sin(wide(d @ x)) * np.outer(d, d)
    expect_close(got, wanted, "hessian(f, x)", rtol=1e-3)


@project.check(
    "hessian",
    4,
    "two and three elements",
    "first[i] is one number of the first gradient; Tensor.stack puts rows on top of each other.",
)
def _(ask):
    expect_hessian(ask, 2)
    expect_hessian(ask, 3)


# ---- 7 gradient_of_all --------------------------------------------------------------------------

WEIGHT = "Tensor(v.numpy(), requires_grad=True)"
# what somebody has left in w.grad is 1 everywhere
USED = f"(lambda w: (w.sum().backward(), w)[1])({WEIGHT})"


def expect_gradient_of_all(ask, start):
    """The mean of its batch is in every row, so all rows at once have a different gradient."""
    sizes = [int(n) for n in ask.rng.permutation([1, 2, ask.integer(4, 6)])]
    w, most, part = signed(ask, 2, 1), max(sizes), ask.integer(2, 6) / 4
    batches = [signed(ask, n, 3) for n in sizes]
    # no parabola, in float32 and far from 0, so that its slope can't be measured
    loss = (
        f"((b[:, :2] + {part} * b[:, :2].mean(0, keepdim=True)) @ w - b[:, 2:]).sin().mean()"
        f".float() + 100000.0 if b.shape[0] <= {most} else (_ for _ in ()).throw("
        f"MemoryError(f'there is no room for a batch of {{b.shape[0]}} rows, only for {most}'))"
    )

    def slopes(b):
        x = b[:, :2] + part * b[:, :2].mean(0)
        return x.T @ np.cos(x @ w - b[:, 2:]) / len(b)

    loss_of_batch, weight = Expression(loss, {}, "w, b"), Expression(start, {"v": w})
    got = ask("gradient_of_all", loss_of_batch, weight, batches)
    each = [slopes(np.float64(b)) for b in batches]
    wanted = np.average(each, axis=0, weights=sizes)
    mistakes = {
        "it is the sum of the batches' gradients, and should be their mean": sum(each),
        f"a batch of {min(sizes)} row{'s' * (min(sizes) != 1)} counts as much in it as one of "
        f"{most}": sum(each) / 3,
        "it is the gradient of the last batch alone": each[-1],
        "all rows went into loss() at once, and only one batch at a time fits":
            slopes(np.float64(np.concatenate(batches))),
        "what somebody had left in w.grad is still in it": wanted + 1,
    }  # fmt: skip
    with or_known(got, mistakes):
        expect_close(got, wanted, "gradient_of_all(loss, start, batches)", rtol=1e-3)


@project.check(
    "gradient_of_all",
    4,
    "batches of different sizes",
    "Scale each loss by its share of all rows before you call backward().",
)
def _(ask):
    expect_gradient_of_all(ask, WEIGHT)


# ---- 8 suspects ----------------------------------------------------------------------------------


def spelled(ask, text, factor=1.0):
    """A formula for `factor * text` that nobody has seen. It goes from one power of 2 of the factor
    to the next, so nothing is rounded."""
    terms, left = [], factor
    for _ in range(ask.integer(2, 4)):
        ways = [2 * left, left / 2, -left, 0.0] if left else [0.5, 1.0, 2.0, 4.0]
        before = float(ask.rng.choice(ways))
        part = left - before
        terms.insert(0, ask.rng.choice([f"{text} * {part}", f"{part} * ({text})"]))
        left = before
    return f"({' + '.join([f'{text} * {left}'] * (left != 0) + terms)})"


def shared(ask, first, last, share):
    """`first` where share is 1, `last` where it is 0, in whole numbers."""
    n = ask.integer(2, 40) * ask.rng.choice([-1, 1])
    return f"({share - n} * {first} + {1 - share - n} * {last} + {n} * ({first} + {last}))"


# Each row is a formula with numbers in it; here are those that make it right. A lie has others.
SAME = "x.eq(node.expand(*x.shape))"
AXES = "(d for d, size in enumerate(x.shape) if size != node.shape[d])"
TURNED = "(lambda q: [q := [node.arg[d] for d in q] for _ in range({})][-1])(range(len(node.arg)))"
ROWS = {
    "MUL": lambda ask, x=0.0, y=1.0: (
        f"grad * ({spelled(ask, 'x', x)} + {spelled(ask, 'y', y)}), "
        f"grad * ({spelled(ask, 'x', y)} + {spelled(ask, 'y', x)})"
    ),
    "MAX": lambda ask, larger=1.0, tie=0.5: ", ".join(
        f"grad * ({spelled(ask, f'({a} < {b})', larger)} + {spelled(ask, 'x.eq(y)', tie)})"
        for a, b in ("yx", "xy")
    ),
    "RECIP": lambda ask, part=1.0: spelled(ask, "node * grad * node", -part),
    "EXP2": lambda ask, part=1.0: spelled(ask, "node * grad * 0.6931471805599453", part),
    "WHERE": lambda ask, yes=1.0, no=0.0: (
        "None, "
        + ", ".join(
            f"condition.where({spelled(ask, 'grad', a)}, {spelled(ask, 'grad', b)})"
            for a, b in ((yes, no), (no, yes))
        )
    ),
    # the power -1 of the order, since its power 60 is no change, for up to six axes
    "PERMUTE": lambda ask, power=-1: spelled(
        ask, f"grad.permute(*{TURNED.format(60 * ask.integer(1, 3) + power)})"
    ),
    "EXPAND": lambda ask, part=1.0, least=1: spelled(
        ask,
        f"grad.sum(*{AXES}).reshape(*(s for s in x.shape if "
        f"s + {(n := ask.integer(3, 60))} >= {n + least}))",
        part,
    ),
    "SHRINK": lambda ask, share=1: spelled(
        ask,
        f"grad.pad(*((n, size - k - n) for size, k, (b, e) in zip(x.shape, grad.shape, node.arg) "
        f"for n in [{shared(ask, 'b', '(size - e)', share)}]))",
    ),
    "PAD": lambda ask, share=1: spelled(
        ask,
        f"grad.shrink(*((n, n + size) for size, (b, e) in zip(x.shape, node.arg) "
        f"for n in [{shared(ask, 'b', 'e', share)}]))",
    ),
    "REDUCE_AXIS": lambda ask, part=1.0, count=1.0, one=0.0: (
        f"{spelled(ask, 'grad.expand(*x.shape)', part)} if node.arg[0].name == 'ADD' else "
        f"(lambda same: same * (grad / ({spelled(ask, '1', one)} + "
        f"{spelled(ask, 'same.sum(*node.arg[1], keepdim=True)', count)})))({SAME})"
    ),
}
# Rows that anybody who tries them finds out,
PARTS = [(-1.0,), (0.5,), (2.0,)]
PLAIN_LIES = {
    "MUL": [(1.0, 0.0), (0.0, -1.0), (0.0, 0.5), (0.0, 2.0)],
    "WHERE": [(0.0, 1.0), (-1.0, 0.0), (0.5, 0.0), (2.0, 0.0)],
} | dict.fromkeys(["MAX", "RECIP", "EXP2", "EXPAND", "REDUCE_AXIS"], PARTS)


def rows_of(ask, lies):
    """A table with these lies in it, as a submission gets it. lies: the numbers, by name."""
    sources = {"MUL": ", x, y", "MAX": ", x, y", "WHERE": ", condition, x, y"}
    names = list(map(str, ask.rng.permutation(list(ROWS))))
    return {
        name: Expression(
            f"({ROWS[name](ask, *lies.get(name, ()))},)",
            {},
            f"grad, node{sources.get(name, ', x')}",
        )
        for name in names
    }


def expect_suspects(ask, lies, *counts):
    """A table for each count, with so many of these lies, which are drawn."""
    for count in counts:
        chosen = list(map(str, ask.rng.permutation(list(lies))[:count]))
        told = {name: lies[name][ask.integer(0, len(lies[name]) - 1)] for name in chosen}
        got = ask("suspects", rows_of(ask, told))
        expect_kind(got, list, "the result of suspects()")
        expect(all(type(name) is str for name in got), "suspects() lists things that are not names")
        innocent, missed = sorted(set(got) - set(chosen)), sorted(set(chosen) - set(got))
        expect(not innocent, f"{', '.join(innocent)}: nothing is wrong with that row")
        expect(not missed, f"the row of {', '.join(missed)} is wrong, and nobody noticed")
        expect(len(got) == len(chosen), f"{described(list(got))} has a name in it twice")


@project.check(
    "suspects",
    7,
    "a table that is in order, and rows that are plainly wrong",
    "For z = x.maximum(y), hand table['MAX'] a grad of ones and measure the slopes of z's sum. "
    "Other numbers than ones find out more. Do that for each op, with nodes of mini.",
)
def _(ask):
    with ask.part("rows that are wrong"):
        expect_suspects(ask, PLAIN_LIES, 2, 3, 1)
    with ask.part("a table that is in order", "rows that are wrong"):
        expect_suspects(ask, PLAIN_LIES, 0, 0)


# ---- 9 slope_of_rate -----------------------------------------------------------------------------


def expect_slope_of_rate(ask, count, *lengths):
    """For sum(a w**2 + b w**3), whose gradient is 2 a w + 3 b w**2; far from 0, so that it cannot
    be measured."""
    for steps in lengths:
        a, b = ask.floats(count, low=0.25), ask.floats(count, low=-0.25, high=0.25)
        text = f"(lambda M: w * w * M({a.tolist()}) + w * w * w * M({b.tolist()}))({TENSOR}).sum()"
        given = [sent(ask, signed(ask, count)), sent(ask, np.array(0.125, np.float32))]
        loss = Expression(f"{text} + 1000000.0", {}, "w")
        graph = graph_of(ask, given, "slope_of_rate", loss, *given, steps)
        w, rate = signed(ask, count), np.array(ask.integer(2, 6) / 64, np.float32)
        found = Dual.of(rate)
        after = Dual(w.astype(np.float64), np.zeros((1, count)), {})
        for _ in range(steps):
            after = after + found * (after * (2 * a) + after * after * (3 * b)) * -1.0
        wanted = float((after * after * a + after * after * after * b).sum().slopes[0])
        told = f"slope_of_rate() after {counted(steps)} with w of shape {w.shape}"
        got = graph.run(w, rate)
        with or_known(got, {f"{told}: the sign is wrong": -wanted}):
            expect_close(got, wanted, told, rtol=1e-3)


def counted(steps):
    return f"{steps} step{'' if steps == 1 else 's'}"


@project.check(
    "slope_of_rate",
    5,
    "one step, and two",
    "w = w - rate * loss(w).gradient(w)[0] is a step; it makes a new node out of `rate`, so "
    "loss(w).gradient(rate) goes all the way back.",
)
def _(ask):
    expect_slope_of_rate(ask, ask.integer(2, 4), 1, 2)


# ---- 10 paint ------------------------------------------------------------------------------------


def picture_of(ask, side=12):
    """Places, and two discs of any size in any place: 1 inside, 0 outside."""
    along = np.linspace(-1, 1, side, dtype=np.float32)
    places = np.stack(np.meshgrid(along, along, indexing="ij"), -1).reshape(-1, 2)
    centres = ask.rng.uniform(-0.6, 0.6, (2, 2))
    sizes = ask.rng.uniform(0.35, 0.5, 2)
    inside = [((places - at) ** 2).sum(1) < r * r for at, r in zip(centres, sizes, strict=True)]
    return places, np.logical_or(*inside)[:, None].astype(np.float32)


def painted(places, layers):
    """What a network says of places, in NumPy. Wrong where its layers do not fit together."""
    expect_kind(layers, list, "the result of paint()")
    expect(len(layers) > 0, "there are no layers")
    for number, layer in enumerate(layers):
        expect_kind(layer, tuple, f"layer {number}")
        expect(len(layer) == 2, f"layer {number} has {len(layer)} parts, not a weight and a bias")
        for part in layer:
            expect_kind(part, NumpyArray, f"a weight or bias of layer {number}")
        weight, bias = (np.float64(part.values) for part in layer)
        is_matrix = weight.ndim == 2 and len(weight) == places.shape[1]
        fits = f"layer {number}: {places.shape[1]} numbers come in; its weight is {weight.shape}"
        expect(is_matrix, fits)
        width = weight.shape[1]
        alone = f"layer {number}: for a weight of shape {weight.shape}, its bias is {bias.shape}"
        expect(bias.shape in ((width,), (1, width), (1,), (1, 1), ()), alone)
        with np.errstate(all="ignore"):
            places = places @ weight + bias
            places = (
                np.maximum(places, 0) if number < len(layers) - 1 else 1 / (1 + np.exp(-places))
            )
    expect(places.shape[1] == 1, f"{places.shape[1]} numbers come out for each pixel, not 1")
    return places


def expect_painted(ask, most):
    places, picture = picture_of(ask)
    layers = ask.keep("paint", sent(ask, places), sent(ask, picture), most)
    layers = plain(ask, layers)
    found = painted(places, layers)
    numbers = sum(part.values.size for layer in layers for part in layer)
    expect(numbers <= most, f"the layers have {numbers} numbers; at most {most} were asked for")
    apart = float(np.mean((found - picture) ** 2))
    far = f"the mean of the squared differences is {apart:.3f}; it should be below 0.06"
    expect(apart < 0.06, far)


@project.check(
    "paint",
    6,
    "a fresh picture of 144 pixels in 80 numbers",
    "One hidden layer of 16 is 2 * 16 + 16 + 16 + 1 = 65 numbers. Begin with random ones, and take "
    "a few hundred steps with a rate of 0.05.",
)
def _(ask):
    expect_painted(ask, 80)


### BEGIN HIDDEN
# ---- the instructor's own checks -----------------------------------------------------------------

SLOPES["sigmoid"] = lambda x, w: sigmoid(x) * sigmoid(-np.float64(x))


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
    "straight_row",
    5,
    "on the limits, and in a longer graph",
    "Both limits are inside. What arrives is passed on as it is, whatever it is.",
)
def _(ask):
    limit, shape = ask.integer(2, 6) / 2, (ask.integer(2, 3), ask.integer(4, 5))
    x, a = scattered(ask, limit, *shape), signed(ask, *shape)
    x[0, :2], x[-1, :2] = (limit, -limit), (limit + 0.5, -limit - 0.5)
    inside = np.abs(x) <= limit
    expect_straight(ask, "t.trunc() * a", {"a": a}, x, limit, np.where(inside, a, 0.0))
    text, wanted = "t.trunc() * t.trunc() + t", np.where(inside, 2 * np.trunc(x), 0.0) + 1
    expect_straight(ask, text, {}, x, limit, wanted)


@project.check(
    "forwards", 7, "a matrix, sums and broadcasting", "Give each source without a speed zeros."
)
def _(ask):
    shape = ask.integer(2, 3), ask.integer(4, 5)
    arrays = {"a": signed(ask, *shape)}
    row = f"t.sum(0).reshape(1, {shape[1]}).expand{shape}"
    with ask.part("broadcasting"):
        expect_forwards(ask, f"{row} * t * a", arrays, shape, is_usual=True)
        expect_forwards(ask, f"(({row} + t).sin() * a).sum(1)", arrays, shape)
    with ask.part("what is used several times"):
        text = "(lambda s: (s * s * a + s).sum())(t.sin())"
        expect_forwards(ask, text, arrays, shape)


@project.check("hessian", 4, "a row of zeros", "gradient() gives zeros where nothing depends on x.")
def _(ask):
    n = ask.integer(3, 4)
    a, x = signed(ask, n), signed(ask, n)
    got = ask("hessian", function_of("(t * a).sum() + t[0] * t[1]", {"a": a}), x)
    wanted = np.zeros((n, n))
    wanted[0, 1] = wanted[1, 0] = 1.0
    expect_close(got, wanted, "hessian(f, x)", rtol=1e-4)
    expect_hessian(ask, n)


@project.check(
    "gradient_of_all", 4, "a weight that has a .grad already", "w.grad = None before you begin."
)
def _(ask):
    expect_gradient_of_all(ask, USED)


# and rows that are only wrong for some nodes: ties, three axes in a cycle, an axis of size 1, edges
# that differ.
FINE_LIES = {
    "MAX": [(1.0, 0.25), (1.0, 1.0), (1.0, 2.0)],
    "PERMUTE": [(1,), (3,), (7,), (9,)],
    "EXPAND": [(1.0, 2)],
    "SHRINK": [(0,)],
    "PAD": [(0,)],
    "REDUCE_AXIS": [(1.0, 0.0, 1.0), (1.0, 0.5, 0.5), (1.0, 2.0, -1.0)],
}


@project.check(
    "suspects",
    7,
    "rows that are wrong for some nodes only",
    "Try ties, three axes in a cycle, and edges that differ; sums and maxima are two cases.",
)
def _(ask):
    for part, names in (("ties", ("MAX", "REDUCE_AXIS")), ("axes", ("PERMUTE", "EXPAND")),
                        ("edges", ("SHRINK", "PAD"))):  # fmt: skip
        lies = {name: FINE_LIES[name] for name in names}
        one, other = ({name: text} for name, text in lies.items())
        with ask.part(part):  # a name that is right once is wrong the next time
            for n in ask.rng.permutation(3):
                expect_suspects(ask, (one, other, lies)[n], len((one, other, lies)[n]))
    with ask.part("several"):
        expect_suspects(ask, FINE_LIES, 4, 0, 2)


@project.check(
    "slope_of_rate", 5, "three and four steps", "Nothing on the way is realized or detached."
)
def _(ask):
    expect_slope_of_rate(ask, ask.integer(2, 4), 3, 4)


@project.check("paint", 6, "a different picture", "Begin anew for each picture.")
def _(ask):
    expect_painted(ask, 80)


### END HIDDEN
