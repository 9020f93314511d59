"""Project 6: what its checks ask, what they are worth, and a hint for each.

What is right comes from formulas in NumPy, in 64 bits. What is scheduled and timed is composed at
random, and so are the numbers everywhere. Ops for the learner's test are drawn and compiled: in
machine code, an honest one and one that lies look the same to whoever doesn't call them. C that was
handed in is compiled and run by the referee.
"""

import math

import numpy as np

from classroom.grader.channel import NumpyArray
from classroom.grader.recorded import answer
from classroom.grader.tasks import (
    Expression,
    Project,
    Wrong,
    described,
    expect,
    expect_close,
    expect_equal,
    expect_kind,
    or_known,
)
from classroom.mini.graphs import TENSOR, graph_of, sent
from tinyframe import dtypes
from tinyframe.codegen import get_program
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.runtime.clang import ClangCompiler, find_compiler
from tinyframe.uop.node import GroupOp, Ops

project = Project(
    "Project 6: Operations of your own",
    points=100,
    times=2.0,  # for compiling mini's C
    afterwards="You wrote the layers that language models run on, you know what they cost, and "
    "your own framework has an op that it didn't come with. Next: project 7, a device.",
)

erf = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)), 1) / (1 + np.exp(-np.abs(x)))


def normal_density(x):
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def gelu(x):
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def gelu_slope(x):
    return 0.5 * (1 + erf(x / math.sqrt(2))) + x * normal_density(x)


def rms(x, eps):
    return np.sqrt((x * x).mean(-1, keepdims=True) + eps)


def rms_slope(grad, x, eps):
    """The gradient of (grad * x / rms).sum() with respect to x."""
    y = x / rms(x, eps)
    return (grad - y * (grad * y).mean(-1, keepdims=True)) / rms(x, eps)


def expect_graph(graph, count, name):
    reads = f"the graph of {name} reads {len(graph.inputs)} of the {count} Tensors given"
    expect(graph.inputs == list(range(count)), f"{reads}. Did you compute something already?")


def expect_at(got, wanted, x, what, rtol=1e-5):
    """Close everywhere; the first element that is not is told with the x that it belongs to."""
    expect(got.shape == wanted.shape, f"{what} has shape {got.shape}, not {wanted.shape}")
    with np.errstate(all="ignore"):
        wrong = ~(np.abs(got - wanted) <= rtol * np.maximum(1, np.abs(wanted)))
    if wrong.any():
        at = tuple(map(int, np.argwhere(wrong)[0]))
        raise Wrong(f"{what} at {x[at]:g} is {got[at]:.7g}, and should be {wanted[at]:.7g}")


# ---- 1 gelu --------------------------------------------------------------------------------------


def by_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def expect_gelu(ask, x):
    graph = ask.graph("gelu", ask.floats(*x.shape))
    expect_graph(graph, 1, "gelu(x)")
    x = x.astype(np.float32)
    wide = x.astype(np.float64)
    got = graph.run(x)
    with ask.part("values"):
        approximate = "this is the approximation by tanh; it's up to 0.0005 off"
        with or_known(got, {approximate: by_tanh(wide)}):
            expect_at(got, gelu(wide), x, "gelu")
    with ask.part("gradient", "values"):
        expect_at(graph.gradient(0, x), gelu_slope(wide), x, "the gradient of gelu", 1e-4)


@project.check("gelu", 4, "from -4 to 4", "(x / math.sqrt(2)).erf() is a Tensor.")
def _(ask):
    shape = ask.integer(2, 3), ask.integer(5, 8)
    expect_gelu(ask, ask.rng.uniform(-4, 4, shape))


# ---- 2 rms_norm ----------------------------------------------------------------------------------


def slips(x, eps):
    """What somebody else divides by."""
    squares = x * x
    return {
        "takes the mean of all elements, not of each row": np.sqrt(squares.mean() + eps),
        "takes the mean of each column, not of each row": np.sqrt(
            squares.mean(0, keepdims=True) + eps
        ),
        "takes the sum of the squares, not their mean": np.sqrt(
            squares.sum(-1, keepdims=True) + eps
        ),
        "adds eps to the root; it belongs below it": rms(x, 0) + eps,
        "leaves out eps": rms(x, 0),
    }


def expect_normed(ask, x, eps, rtol=1e-4):
    weight = ask.floats(x.shape[-1], low=0.5, high=2.0)
    graph = ask.graph("rms_norm", ask.floats(*x.shape), weight, eps)
    expect_graph(graph, 2, "rms_norm(x, weight, eps)")
    wide, name = x.astype(np.float64), f"rms_norm of shape {x.shape}, with eps {eps:g},"
    wanted = wide / rms(wide, eps) * weight
    got = graph.run(x, weight)
    with ask.part("values"):
        with np.errstate(all="ignore"):
            mistakes = {f"{name} {why}": wide / by * weight for why, by in slips(wide, eps).items()}
        centred = wide - wide.mean(-1, keepdims=True)
        subtracted = f"{name} has the mean subtracted first: that's a LayerNorm"
        mistakes[subtracted] = centred / rms(centred, eps) * weight
        with or_known(got, mistakes):
            expect_close(got, wanted, name, rtol=rtol)
    with ask.part("gradients", "values"):
        grad = np.broadcast_to(weight.astype(np.float64), x.shape)
        what = f"of {name} the gradient with respect to"
        got = graph.gradient(0, x, weight)
        expect_close(got, rms_slope(grad, wide, eps), f"{what} x", rtol=1e-3)
        of_weight = (wide / rms(wide, eps)).reshape(-1, x.shape[-1]).sum(0)
        expect_close(graph.gradient(1, x, weight), of_weight, f"{what} the weight", rtol=1e-3)


@project.check(
    "rms_norm",
    5,
    "rows of a matrix",
    "(x * x).mean(axis=-1, keepdim=True) has a mean for each row, in a shape that broadcasts.",
)
def _(ask):
    expect_normed(ask, ask.floats(ask.integer(2, 4), ask.integer(5, 8)), 2.0**-4)


# ---- 3 swiglu ------------------------------------------------------------------------------------


def expect_gated(ask, x, gate):
    graph = ask.graph("swiglu", ask.floats(*x.shape), ask.floats(*x.shape))
    expect_graph(graph, 2, "swiglu(x, gate)")
    wide, g = x.astype(np.float64), gate.astype(np.float64)
    s = sigmoid(g)
    got = graph.run(x, gate)
    with ask.part("values"):
        mistakes = {
            "this is a GLU: it lacks a factor `gate`": wide * s,
            "it's the gate that goes through the sigmoid, not x": wide * sigmoid(wide) * g,
        }
        with or_known(got, mistakes):
            expect_at(got, wide * g * s, gate, "swiglu with a gate", 1e-4)
    with ask.part("gradients", "values"):
        what = "the gradient of swiglu with respect to"
        expect_at(graph.gradient(0, x, gate), g * s, gate, f"{what} x, with a gate", 1e-4)
        slope = wide * (s + g * s * (1 - s))
        expect_at(graph.gradient(1, x, gate), slope, gate, f"{what} the gate,", 1e-4)


@project.check("swiglu", 3, "gates around 0", "gate.sigmoid() opens the gate; x * gate goes in.")
def _(ask):
    shape = ask.integer(2, 4), ask.integer(3, 6)
    expect_gated(ask, ask.floats(*shape, low=0.5, high=2.0), ask.floats(*shape, low=-3, high=3))


# ---- 4 compare_gradients -------------------------------------------------------------------------

# A function of t and w, what gradient() says, and what is true.
ALIKE = {
    "t * t * w": lambda t, w: 2 * t * w,
    "t.exp() * w": lambda t, w: np.exp(t) * w,
    "t / ((t * t).mean(axis=-1, keepdim=True) + 1e-6).sqrt() * w": lambda t, w: rms_slope(
        np.broadcast_to(w, t.shape), t, 1e-6
    ),
    "(t * w).sigmoid()": lambda t, w: w * sigmoid(t * w) * (1 - sigmoid(t * w)),
}
# In each of these NumPy computes a part, which no gradient() of anybody's can see.
APART = {
    "t.exp() * w + Tensor(np.sin(t.numpy()))": (lambda t, w: np.exp(t) * w,
                                                lambda t, w: np.exp(t) * w + np.cos(t)),
}  # fmt: skip


def values_of(got, what):
    """Of a Tensor or of a NumPy array."""
    fits = isinstance(got, (np.ndarray, NumpyArray))
    expect(fits, f"{what} is {described(got)}, but should be a Tensor or a NumPy array")
    values = got.values if isinstance(got, NumpyArray) else got
    expect(values.dtype.kind in "fiub", f"{what} has dtype {values.dtype}")
    return values.astype(np.float64)


def expect_compared(ask, text, said, true, shape):
    """said, true: what gradient() says, and what can be measured."""
    x = (ask.floats(*shape, low=0.5, high=1.5) * ask.rng.choice([-1, 1], shape)).astype(np.float32)
    w = ask.floats(shape[-1], low=0.5, high=2.0)
    within = f"(lambda w, np: {text})(w.cast(t.dtype), __import__('numpy'))"
    function = Expression(within, {"w": w}, "t")
    found = ask("compare_gradients", function, NumpyArray(x))
    expect_kind(found, dict, "the result of compare_gradients()")
    wide = x.astype(np.float64), w.astype(np.float64)
    both = []
    for name, right, rtol in (("graph", said(*wide), 1e-4), ("measured", true(*wide), 1e-2)):
        with ask.part(name):
            expect(name in found, f"there is no {name!r} in the dict")
            what = f"for f = lambda t: {text}, {name!r}"
            got = values_of(found[name], what)
            expect(got.shape == x.shape, f"{what} has shape {got.shape}, and x has {x.shape}")
            both.append(got)
            other = true(*wide) if name == "graph" else said(*wide)
            mixed = "is the other one: what gradient() says and what is measured differ here"
            near = np.allclose(got, other, rtol=1e-2)
            with or_known(near, {f"{what} {mixed}": True}):
                expect_close(got, right, what, rtol=rtol)
    with ask.part("apart", "measured"):  # twice what gradient() says is never apart
        got = found.get("apart")
        expect_kind(got, float, "'apart'")
        if len(both) == 2:
            wanted = float(np.abs(both[0] - both[1]).max())
            expect(abs(got - wanted) < 1e-5 + 1e-3 * wanted,
                   f"'apart' is {got:.4g}, and the two differ by {wanted:.4g} at most")  # fmt: skip


@project.check(
    "compare_gradients",
    6,
    "rms_norm and others, and a function in which NumPy has a part",
    "np.ndindex(*x.shape) goes through all places. With 64-bit numbers, a step of 0.001 is fine; "
    "with 32-bit ones, take 1/64.",
)
def _(ask):
    texts = list(ALIKE)
    for text in (texts[2], texts[ask.integer(0, 1)]):
        expect_compared(ask, text, ALIKE[text], ALIKE[text], (2, ask.integer(3, 4)))
    for text, both in APART.items():
        expect_compared(ask, text, *both, (ask.integer(2, 4),))


# ---- 5 bill --------------------------------------------------------------------------------------


@answer
def bills_of(each):
    """operations, reduces, bytes of each kernel; and how many nodes there are with integers."""
    found = []
    for item in each.argument().schedule():
        nodes = [u for u in item.ast.toposort() if u.op in GroupOp.ALU]
        operations: dict[str, int] = {}
        for u in nodes:
            if dtypes.is_float(u.dtype):
                operations[u.op.name] = operations.get(u.op.name, 0) + 1
        reduces = len([u for u in item.ast.toposort() if u.op is Ops.REDUCE])
        moved = get_program(item.ast, CStyleLanguage()).mem_estimate
        found.append([operations, reduces, moved, len(nodes)])
    return found


BILL = ("operations", "reduces", "bytes")
MOVES = ["({} * {k}.0)", "({} + b)", "{}.sqrt()", "{}.exp()", "{}.flip(0)", "{}.relu()", "({} @ w)"]


def expect_bills(ask, starts, steps, last):
    while True:  # until there are a sum, two kernels, and what doesn't count
        asked = []
        for count in range(3):
            n, m = ask.integer(40, 60), ask.integer(40, 60)
            arrays = {"a": ask.floats(n, m), "b": ask.floats(n, m), "w": ask.floats(m, m)}
            text = ask.composed(starts, steps, 1 + count, last)
            asked.append(Expression(text, arrays, None))
        bills = [bills_of(each) for each in asked]
        kernels = [kernel for bill in bills for kernel in bill]
        uncounted = any(sum(kernel[0].values()) < kernel[3] for kernel in kernels)
        if uncounted and any(kernel[1] for kernel in kernels) and 3 < len(kernels) < 8:
            break
    answers = []
    for each, right in zip(asked, bills, strict=True):
        found, name = ask("bill", each), f"bill({each.text})"
        expect_kind(found, list, name)
        many = f"{name} has {len(found)} kernels, and its schedule {len(right)}"
        expect(len(found) == len(right), many)
        for kernel in found:
            expect_kind(kernel, dict, f"a kernel of {name}")
            for key in BILL:
                expect(key in kernel, f"there is no {key!r} in a kernel of {name}")
        answers.append((name, found, right))
    for place, key in enumerate(BILL):
        with ask.part(key):
            for name, found, right in answers:
                for number, (kernel, wanted) in enumerate(zip(found, right, strict=True)):
                    got, what, counted = kernel[key], f"{name}[{number}][{key!r}]", 0
                    if isinstance(got, dict):
                        counted = sum(n for n in got.values() if type(n) is int)
                        got = {op: n for op, n in got.items() if n != 0}
                    whole = f"{what} counts integers or bools as well"
                    more = isinstance(got, dict) and sum(wanted[place].values()) < wanted[3]
                    with or_known(counted, {whole: wanted[3]} if more else {}):
                        expect_equal(got, wanted[place], what)


@project.check(
    "bill",
    6,
    "arithmetic, sums and two kernels",
    "[u for u in item.ast.toposort() if u.op in GroupOp.ALU and dtypes.is_float(u.dtype)] are the "
    "nodes that count; a Counter of their u.op.name counts them.",
)
def _(ask):
    expect_bills(ask, ["a", "(a * b)", "(a - b)"], MOVES, ["{}", "{}.sum(1)"])


# ---- 6 gelu_steps --------------------------------------------------------------------------------

ARITHMETIC = {"ADD", "SUB", "MUL", "MULACC", "FDIV", "NEG", "RECIP", "EXP2", "LOG2", "SQRT", "POW",
              "WHERE", "MAX", "CMPLT", "CMPEQ", "CMPNE", "SIN", "TRUNC"}  # fmt: skip
COUNT = Expression("len(steps)", {}, "steps")
ALL = Expression(
    "__import__('functools').reduce(lambda t, step: step(x, t), steps, x)", {}, "steps, x"
)
ONE = Expression("steps[n](x, t)", {}, "steps, n, x, t")


def is_difference(new, t, x):
    """Whether this is t - x, x - t or c - t: one operation, which the IR has as two."""
    if new.shape != t.shape or t.shape != x.shape:
        return False
    found = t - x, x - t, new.flat[0] + t.flat[0] - t
    return any(np.allclose(new, each, atol=1e-5) for each in found)


def expect_steps(ask, x):
    steps = ask.keep("gelu_steps")
    count = ask(COUNT, steps)
    expect_kind(count, int, "the number of steps")
    wide = x.astype(np.float64)
    with ask.part("all together"):
        graph = ask.graph(ALL, steps, ask.floats(*x.shape))
        expect_at(graph.run(x), gelu(wide), x, "what the last step returns")
    with ask.part("one at a time", "all together"):
        expect(4 <= count <= 40, f"there are {count} steps; gelu has about five")
        t, large = x, False
        for n in range(count):
            graph = ask.graph(ONE, steps, n, ask.floats(*x.shape), ask.floats(*x.shape))
            before, t = t.astype(np.float64), graph.run(x, t).astype(np.float32)
            took = sum(number for op, number in graph.ops.items() if op in ARITHMETIC)
            expect(took > 0, f"step {n + 1} computes nothing")
            if took > 1 and not is_difference(t, before, x):
                done = f"step {n + 1} does {took} operations at once, and only erf may be more than"
                is_erf = t.shape == before.shape and np.allclose(t, erf(before), atol=1e-5)
                expect(is_erf and not large, f"{done} one")
                large = True
        expect_at(t, gelu(wide), x, "what comes out, one step after the other,")


@project.check(
    "gelu_steps",
    4,
    "each step is one operation, and all of them are gelu",
    "The steps of t: / sqrt(2), erf, + 1, * x, * 0.5.",
)
def _(ask):
    shape = ask.integer(2, 3), ask.integer(4, 7)
    expect_steps(ask, ask.rng.uniform(-3, 3, shape).astype(np.float32))


# ---- 7 compare -----------------------------------------------------------------------------------

SECONDS = "the seconds, and how often the steps ran"
LOG, READ = Expression("[]"), Expression("log", {}, "log")
# With how many Tensors each reads, where t isn't x.
STEPS = {"t * 2.0": 1, "t + x": 2, "t.exp()": 1, "t * x": 2, "t.relu()": 1, "t - 0.5": 1,
         "x.sqrt() * t": 2}  # fmt: skip


def expect_costs(ask, count, repeats):
    log = ask.keep(LOG)
    texts = [str(t) for t in ask.rng.permutation(list(STEPS))[:count]]
    first = Expression(f"lambda x, t: (log.append(1), {texts[0]})[1]", {}, "log")
    steps = [ask.keep(first, log), *(Expression(text, {}, "x, t") for text in texts[1:])]
    x = ask.floats(ask.integer(20, 40), ask.integer(20, 40), low=0.25)
    found = ask("compare", steps, x, repeats)
    expect_kind(found, dict, "the result of compare()")
    # in the first step, t is x: one Tensor
    moved = [x.nbytes * (1 + (n and STEPS[text] or 1)) for n, text in enumerate(texts)]
    wanted = {"together": (1, 2 * x.nbytes), "apart": (count, sum(moved))}
    named = f"for {count} steps on {x.nbytes} bytes"
    for way in wanted:
        expect(way in found, f"there is no {way!r} in the dict")
        expect_kind(found[way], dict, repr(way))
    for place, key in enumerate(("kernels", "bytes")):
        with ask.part(key):
            for way, right in wanted.items():
                got = found[way].get(key)
                many = [right[place] * times for times in (repeats, repeats + 1, repeats + 2)]
                what = f"{named}, {key!r} of {way!r}"
                all_runs = f"{what} is {got}: that's for all runs; count one"
                with or_known(got in many, {all_runs: True}):
                    expect_equal(got, right[place], what)
    with ask.part("seconds", "kernels", "bytes"):
        both = [found[way].get("seconds") for way in wanted]
        for each in both:
            expect_kind(each, float, "'seconds'")
            expect(each > 0, f"'seconds' is {each}")
        expect(both[0] != both[1], "both ways took the same, to the last digit")
        ran = len(ask(READ, log))
        often = f"for {repeats} repeats, the first step ran {ran} times in all"
        expect(ran >= 2 * repeats, f"{often}: too few for both ways")
        expect(ran <= 2 * repeats + 8, f"{often}: more than it takes to measure both ways")


@project.check(
    "compare",
    6,
    "four steps",
    "GlobalCounters.reset(), one run, then read kernel_count and global_mem. perf_counter() before "
    "and after all repeats.",
    trusts=SECONDS,
)
def _(ask):
    expect_costs(ask, 4, 12)


# ---- 8 erf_op ------------------------------------------------------------------------------------

ROW = Expression(
    f"(lambda node: {TENSOR}(row['gradient'](grad.uop, node, x.uop)[0]))"
    "(__import__('mini.part4', fromlist=['UOp']).UOp('ERF', (x.uop,)))",
    {},
    "row, grad, x",
)
COMPUTED = Expression("row['compute'](x)", {}, "row, x")
LENGTH = Expression("len(row['gradient'](grad.uop, x.uop, x.uop))", {}, "row, grad, x")
TEXT = Expression("row['C']", {}, "row")
SOURCE = """#include <math.h>
void kernel_entry(void** bufs, const long long* vals, int start, int stop) {
  float *out = bufs[0], *in = bufs[1];
  for (int n = start; n < stop; n++) { float x = in[n]; out[n] = TERM * 2 + 1; }
}
"""
# With a submission's term of x, on the CPU.
IN_C = Expression(
    "(lambda cpu, memory, out: (cpu.runner('kernel', cpu.compiler.compile("
    "source.replace('TERM', term.format('x'))))(*map(memory, (out, x)), "
    "global_size=(x.size, 1, 1), local_size=(1, 1, 1), wait=True), out)[1])"
    "(__import__('tinyframe').Device['CPU'], "
    "__import__('tinyframe.runtime.host', fromlist=['x']).HostMemory, x * 0)",
    {},
    "source, term, x",
)


def expect_op(ask, x, grad, with_c):
    row = ask.keep("erf_op")
    wide = x.astype(np.float64)
    with ask.part("compute"):
        got = ask(COMPUTED, row, NumpyArray(x))
        expect_kind(got, NumpyArray, "what 'compute' returns")
        expect_at(values_of(got, "what 'compute' returns"), erf(wide), x, "'compute'", 1e-6)
    with ask.part("gradient"):
        given = [sent(ask, grad), sent(ask, x)]
        expect(ask(LENGTH, row, *given) == 1, "'gradient' returns one gradient, in a tuple")
        graph = graph_of(ask, given, ROW, row, *given)
        slope = grad * 2 / math.sqrt(math.pi) * np.exp(-wide * wide)
        expect_at(graph.run(grad, x), slope, x, "'gradient'", 1e-4)
    if with_c:
        with ask.part("C"):
            text = ask(TEXT, row)
            expect_kind(text, str, "'C'")
            expect("{}" in text or "{0}" in text, f"'C' is {text!r}, with no {{}} for its source")
            got = values_of(ask.apart(IN_C, SOURCE, text, NumpyArray(x)), "what the kernel stores")
            expect_at(got, 2 * erf(wide) + 1, x, "compiled, erf(x) * 2 + 1", 1e-5)


@project.check(
    "erf_op",
    8,
    "what it is, and its gradient",
    "np.vectorize(math.erf, otypes=[np.float32]) is a function of arrays. On nodes, (x * x * "
    "-1).exp() is a graph, and a row with one source returns a tuple of one.",
)
def _(ask):
    shape = ask.integer(2, 3), ask.integer(3, 6)
    x, grad = ask.floats(*shape, low=-2, high=2), ask.floats(*shape, low=0.5, high=2.0)
    expect_op(ask, x, grad, with_c=False)


# ---- 9 faults ------------------------------------------------------------------------------------

# Each with the numbers that a lie may change.
OPS = {"swish": ["b"], "rms_norm": ["axis", "eps"], "softmax": ["b", "axis"], "wave": ["b"],
       "layer_norm": ["axis", "eps"]}  # fmt: skip
# Where a lie may be off; nowhere is the first.
PLACES = {
    "values": ["", "x < 0", "x == 0", "far out"],
    "gradient": ["", "x < 0", "x == 0", "far out", "grad < 0"],
}
# All ops, along rows or (`across`) along columns. A function is the number of one of `ops`, and
# returns what is written to afterwards: a copy of x, x itself, or grad.
COMPILED = """
#include <math.h>
typedef struct { int op, slope, across, place, writes; double b, eps, far, off; } Op;
static const Op ops[] = { OPS };
#define SUM(what) ({ double total = 0; for (long j = 0; j < n; j++) { \
  double x = X[j * step], g = G[j * step]; total += what; } total; })
int run(int number, const double* xs, const double* gs, double* out, long rows, long columns) {
  Op o = ops[number];
  long lines = o.across ? columns : rows, n = o.across ? rows : columns;
  long step = o.across ? columns : 1, apart = o.across ? 1 : columns;
  for (long i = 0; i < lines; i++) {
    const double *X = xs + i * apart, *G = gs + i * apart;
    double top = X[0];
    for (long j = 0; j < n; j++) top = fmax(top, X[j * step]);
    double z = SUM(exp(o.b * (x - top))), dot = SUM(g * exp(o.b * (x - top)) / z);
    double mean = o.op == 4 ? SUM(x) / n : 0, g_mean = o.op == 4 ? SUM(g) / n : 0;
    double root = sqrt(SUM((x - mean) * (x - mean)) / n + o.eps);
    double along = SUM(g * (x - mean) / root) / n;
    for (long j = 0; j < n; j++) {
      double x = X[j * step], g = G[j * step];
      double s = 1 / (1 + exp(-o.b * x)), p = exp(o.b * (x - top)) / z, y = (x - mean) / root;
      double norm = (g - g_mean - y * along) / root;
      double value[] = {x * s, y, p, sin(o.b * x), y};
      double slope[] = {g * (s + o.b * x * s * (1 - s)), norm, o.b * p * (g - dot),
                        g * o.b * cos(o.b * x), norm};
      int at[] = {0, x < 0, x == 0, fabs(x) > o.far, g < 0};
      out[i * apart + j * step] = (o.slope ? slope : value)[o.op] + o.off * at[o.place];
    }
  }
  return o.writes;
}
"""
LOAD = Expression(
    "(lambda ctypes, folder: (open(folder.name + '/ops.so', 'wb').write(data.tobytes()), "
    "ctypes.CDLL(folder.name + '/ops.so'))[1])"
    "(__import__('ctypes'), __import__('tempfile').TemporaryDirectory())",
    {},
    "data",
)
# Of (x) or (grad, x).
FUNCTION = Expression(
    "(lambda np, c: lambda *given: (lambda x, grad, out: ((given[-1].copy(), given[-1], given[0])"
    "[library.run(number, *(c.c_void_p(each.ctypes.data) for each in (x, grad, out)), "
    "*map(c.c_long, out.shape))].__iadd__(0.5), out)[1])"
    "(*(np.ascontiguousarray(each, 'f8') for each in (given[-1], given[0])), "
    "np.empty(given[-1].shape)))(__import__('numpy'), __import__('ctypes'))",
    {},
    "library, number",
)


def functions(ask, name, wrong):
    """Rows of the table for what computes, for its gradient, and for the reference."""
    b, eps, far = ask.integer(60, 160) / 100, ask.integer(10, 40) / 1e7, ask.integer(50, 90)
    reference = "values", "", None
    for kind, lie, spoilt in (
        *((k, wrong.get(k, ""), wrong.get("input")) for k in PLACES),
        reference,
    ):
        place = PLACES[kind].index(lie) if lie in PLACES[kind] else 0
        off = (
            (50 if lie == "far out" else 1) * ask.integer(8, 20) / 100
        )  # values are as large there
        writes = ask.integer(1, 2) if spoilt == kind else 0
        numbers = b * (1.3 if lie == "b" else 1), eps / (100 if lie == "eps" else 1), far, off
        kinds = list(OPS).index(name), int(kind == "gradient"), int(lie == "axis"), place, writes
        yield "{" + ", ".join(map(str, (*kinds, *numbers))) + "}"


def expect_faults(ask, names, kinds):
    """kinds: for each part, what is wrong in its ops, [(name, {kind: lie}), …]. One more in each is
    in order, so that nobody gets a part for complaining."""
    asked = {part: [*wrongs, (str(ask.rng.choice(names)), {})] for part, wrongs, *_ in kinds}
    rows = [row for ops in asked.values() for op in ops for row in functions(ask, *op)]
    order = ask.rng.permutation(len(rows))
    source = COMPILED.replace("OPS", ", ".join(rows[n] for n in order))
    lib = ClangCompiler(find_compiler()).compile(source)
    library = ask.keep(LOAD, NumpyArray(np.frombuffer(lib, np.uint8)))
    numbers = iter(np.argsort(order).reshape(-1, 3).tolist())
    asked = {part: [(*op, next(numbers)) for op in ops] for part, ops in asked.items()}
    for part, _, *proofs in kinds:
        with ask.part(part, *proofs):
            for n in ask.rng.permutation(len(asked[part])):
                name, wrong, given = asked[part][n]
                expect_verdict(ask, name, wrong, [ask.keep(FUNCTION, library, n) for n in given])


def expect_verdict(ask, name, wrong, given):
    compute, gradient, reference = given
    found = ask("faults", {"compute": compute, "gradient": gradient}, reference)
    expect_kind(found, list, "the result of faults()")
    known = all(type(word) is str and word in ("values", "gradient", "input") for word in found)
    expect(known, f"the result of faults() is {described(list(found))}, with a word that is none")
    expect(len(set(found)) == len(found), f"{described(list(found))} has a word in it twice")
    for word in sorted(set(found) - set(wrong)):
        nothing = "where nothing is wrong with them"
        raise Wrong(f"it complains about the {word!r} of a {name} {nothing}")
    for word in sorted(set(wrong) - set(found)):
        raise Wrong(f"a {name} whose {word!r} is wrong got away with it: {MISSED[word]}")


MISSED = {
    "values": "where did you look? Negative, 0, far out, tiny, several rows?",
    "gradient": "where did you look, and with which grad?",
    "input": "compare your arrays with copies that you made before",
}


def lies(name, kind):
    """How it may lie: by a number, or by being off in some places."""
    return [*OPS[name], *PLACES[kind][1:]]


def drawn(ask, kind, names):
    """An op of each name, with one lie of this kind."""
    return [(str(name), {kind: str(ask.rng.choice(lies(name, kind)))})
            for name in ask.rng.permutation(names)]  # fmt: skip


@project.check(
    "faults",
    8,
    "wrong values, wrong gradients, and ops that are in order",
    "Try several arrays: ordinary ones, one with 0, 100 and -100 in it, tiny ones, and shapes with "
    "more than one row. Take random numbers for grad, and give each function copies.",
)
def _(ask):
    names = list(OPS)[:3]
    expect_faults(
        ask,
        names,
        [
            ("values", drawn(ask, "values", names)),
            ("gradients", drawn(ask, "gradient", names)),
            ("nothing wrong", [(name, {}) for name in names], "values", "gradients"),
        ],
    )


### BEGIN HIDDEN
# ---- the instructor's own checks -----------------------------------------------------------------


@project.check(
    "gelu", 4, "far out, and at 0", "exp(x) is inf for 100; does yours need one? Is anything 0 / 0?"
)
def _(ask):
    x = ask.rng.uniform(-8, 8, ask.integer(8, 12))
    x[:7] = 0.0, 30.0, -30.0, 100.0, -100.0, -6.0, ask.rng.uniform(2, 3)  # no tanh is good at 2.5
    expect_gelu(ask, ask.rng.permutation(x))


@project.check(
    "rms_norm",
    5,
    "three axes, tiny numbers, and a row of zeros",
    "eps stands below the root: without it, a row of zeros is 0 / 0.",
)
def _(ask):
    x = ask.floats(2, ask.integer(2, 3), ask.integer(4, 6))
    x[0] *= 2.0**-10
    x[1, 0] = 0.0
    expect_normed(ask, x, 2.0**-16)


@project.check(
    "swiglu", 3, "gates that are open or closed", "1 / (1 + exp(-gate)) has an inf in it at -100."
)
def _(ask):
    gate = ask.floats(ask.integer(6, 9), low=-3, high=3)
    gate[:5] = 0.0, 100.0, -100.0, 50.0, -88.0
    x = ask.floats(*gate.shape, low=0.5, high=2.0)
    expect_gated(ask, x, ask.rng.permutation(gate))


OTHERS = {
    "t * t.detach() * w": (lambda t, w: t * w, lambda t, w: 2 * t * w),
    "t * Tensor(np.arctan(t.numpy())) * w": (
        lambda t, w: np.arctan(t) * w, lambda t, w: (np.arctan(t) + t / (1 + t * t)) * w,
    ),
    "t * t.sum().detach() * w + Tensor(np.tanh(t.numpy()))": (
        lambda t, w: t.sum() * w, lambda t, w: t.sum() * w + (t * w).sum() + 1 / np.cosh(t) ** 2,
    ),
    "(t * w).exp() + Tensor(np.cos(t.numpy() * 1.5))": (
        lambda t, w: np.exp(t * w) * w, lambda t, w: np.exp(t * w) * w - 1.5 * np.sin(t * 1.5),
    ),
}  # fmt: skip


@project.check(
    "compare_gradients",
    6,
    "functions whose gradient is not what it seems",
    "Keep the two apart: 'measured' never asks gradient(). Does your step fit 32-bit numbers?",
)
def _(ask):
    for text in ask.rng.permutation(list(OTHERS))[:3]:
        expect_compared(ask, str(text), *OTHERS[text], (ask.integer(2, 4),))
    text = "(t * w).sigmoid()"
    expect_compared(ask, text, ALIKE[text], ALIKE[text], (1, ask.integer(2, 3), 2))


@project.check(
    "bill",
    6,
    "comparisons, padding, and what softmax takes",
    "A comparison gives a bool, and what stands in an index is an integer.",
)
def _(ask):
    starts = ["(a < b).where(a, b)", "a.softmax(1)", "a.maximum(b)", "(b / a)"]
    padded = "{}.pad(((1, 0), (0, 2))).exp().sum(0)"
    expect_bills(ask, starts, MOVES, [padded, "{}.max(1)", "{}"])


@project.check(
    "gelu_steps", 4, "at 0 and far out", "x is the first argument of each step, and t the second."
)
def _(ask):
    x = ask.rng.uniform(-3, 3, ask.integer(5, 7)).astype(np.float32)
    x[:3] = 0.0, 40.0, -40.0
    expect_steps(ask, x)


@project.check(
    "compare",
    6,
    "six steps, and more repeats",
    "What is realized costs nothing the second time: build each run anew.",
    trusts=SECONDS,
)
def _(ask):
    expect_costs(ask, 6, ask.integer(20, 30))


@project.check(
    "erf_op",
    8,
    "far out and at 0, and compiled by mini",
    "math.h has erf for doubles, and erff for floats. The {} is where the source goes.",
)
def _(ask):
    x = ask.floats(ask.integer(6, 9), low=-3, high=3)
    x[:4] = 0.0, 9.0, -9.0, 0.015625
    expect_op(ask, ask.rng.permutation(x), ask.floats(*x.shape, low=0.5, high=2.0), with_c=True)


@project.check(
    "faults",
    8,
    "every lie there is, and arrays that are written to",
    "Compare your own arrays with copies, after each call: both x and grad.",
)
def _(ask):
    every = {kind: [(name, {kind: lie}) for name in OPS for lie in lies(name, kind)]
             for kind in PLACES}  # fmt: skip
    spoiled = [(name, {"input": kind}) for name in OPS for kind in PLACES]
    both = "swish", {"values": "b", "gradient": "grad < 0"}
    expect_faults(
        ask,
        list(OPS),
        [
            ("values", every["values"]),
            ("gradients", [*every["gradient"], both]),
            ("arrays", [spoiled[n] for n in ask.rng.permutation(len(spoiled))[:4]]),
            ("nothing wrong", [(name, {}) for name in OPS], "values", "gradients", "arrays"),
        ],
    )


### END HIDDEN
