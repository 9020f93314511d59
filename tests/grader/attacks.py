"""Submissions that want points without work, for each of the projects.

Each is code after the file that was handed out, where nothing is written. FORGED are functions that
answer with what is wrong and looks right; PATCHED change, before they answer, what answers are made
with, and need a process of their own. Every one is about the tasks whose names it defines.
"""

COMMON = """
from collections.abc import Mapping, Sequence
import numpy as np
from tinyframe import Tensor
class Same:
    __eq__ = lambda self, other: True
    __hash__ = lambda self: 0
    __getattr__ = lambda self, name: self
    __call__ = lambda self, *a, **k: self
    __float__ = lambda self: 1.0
class AnyName(str):
    __eq__ = lambda self, other: True
    __hash__ = lambda self: 0
class AnyNumber(int):
    __eq__ = lambda self, other: True
    __hash__ = lambda self: 0
class AnyKey(Mapping):
    def __init__(self, value): self.value = value
    __getitem__ = lambda self, key: self.value
    __iter__ = lambda self: iter(["a"])
    __len__ = lambda self: 1
    __contains__ = lambda self, key: True
class Fickle(Sequence):  # another answer at each look
    seen = 0
    __len__ = lambda self: 2
    def __getitem__(self, n):
        if n > 1: raise IndexError
        Fickle.seen += 1
        return Fickle.seen
"""

FORGED = {
    "01": {
        "a shape that equals all shapes": """
def describe(tensor): return Same(), AnyName("dtypes.float"), AnyNumber(24)
""",
        "a dict that has every key": """
def factories(rows, columns): return AnyKey(Tensor.full((rows, columns), float("nan")))
""",
        "a board of one colour": """
def checkerboard(rows, columns): return Tensor.zeros(rows, columns, dtype="int32") != 2
""",
        "one kernel, whatever is asked": """
def kernel_count(build): return AnyNumber(1)
""",
        "a chain that claims its kernels": """
class Linked(Tensor):
    schedule = lambda self: [None] * 7
    numpy = lambda self: np.zeros(3)
def chain(x, kernels): return Linked((x * 0).uop)
""",
        "a total that was computed before": """
def one_pass(a, b): return Tensor(((a * b).sum() + a.sum() - b.sum()).item())
""",
        "what the docstring looks like": """
def before_and_after(build): return 1, AnyName("SUM"), 0, AnyName("x")
""",
        "times that nobody measured": """
def compare(start, steps):
    return {"kernels together": len(steps) + 99, "kernels apart": 99, "equal": None,
            "seconds together": 0.00123, "seconds apart": 0.00456}
""",
        "every line there is": """
def find_op(source, op): return list(range(1, source.count("\\n") + 2))
""",
        "the docstring's line": """
def report(rows): return "norm: 3 kernels -> 1, 4.5 times as fast"
""",
    },
    "02": {
        "the docstring's kinds": """
def kinds_of(tensor): return {"elementwise": 1, "reduction": 1, "movement": 3}
""",
        "the grader's own functions": """
def kinds_in_kernel(kernel):
    from classroom.grader.expressions import Expression
    return Expression("a", {}).kinds_in_kernel(kernel)
""",
        "another answer at each look": """
def loops_of(kernel): return Fickle()
""",
        "as many loops as there may be": """
def loops_of_sum(shape, axes):
    return [(size, kind, step) for size in shape for kind in ("loop", "reduce") for step in shape]
""",
        "a cell that equals all cells": """
def cell(view, index): return AnyNumber(-1)
""",
        "the view it was given": """
def moved(view, name, argument): return view
""",
        "a view that is every view": """
def reshaped(view, shape): return AnyKey(AnyName("copy"))
""",
        "as many kernels as steps, and one": """
def predicted_kernels(steps, n): return len(steps) + 1
""",
        "a product that was computed before": """
def einsum(formula, *tensors):
    arrays = [t.numpy() for t in tensors]
    return Mini(np.einsum(formula, *arrays))
""",
        "a maze that everybody knows": """
def distances(maze, start, steps):
    far = np.full(maze.shape, steps + 1.0)
    far[np.nonzero(start.numpy())] = 0
    return Mini(far)
""",
        "a Tensor that is not one": """
class Known:
    uop = shape = Same()
    numpy = lambda self: np.zeros((4, 5))
def distances(maze, start, steps): return Known()
""",
        "a graph that reads all, and says what it was told": """
def einsum(formula, *tensors):
    right = np.einsum(formula, *(t.numpy() for t in tensors))
    return sum((t.sum() * 0 for t in tensors), Mini(right))
""",
    },
    "03": {
        "slopes that are not a graph": """
def slope(name, x, w): return Tensor(np.full(x.shape, 0.25, np.float32))
""",
        "a name that equals all names": """
def old_names(): return AnyKey(AnyName("?"))
""",
        "a loss that is a number": """
def huber(error, below, above): return error * 0 + 0.125
""",
        "a row that takes any op, and all that comes": """
def straight_row(limit):
    return UPat(tuple(Ops), name="u"), lambda grad, u: tuple(grad for _ in u.src)
""",
        "the speed by the table it knows": """
def forwards(f, x, direction, rules):
    return (f(x) * direction).sum().gradient(x)[0]
""",
        "second differences": """
def hessian(f, x):
    e = 0.02 * np.eye(x.shape[0])
    g = lambda d: float(f(Tensor((x.numpy() + d).astype("f4"))).item())
    return Tensor([[(g(a + b) - g(a - b) - g(b - a) + g(-a - b)) / 0.0016 for b in e] for a in e])
""",
        "no gradient": """
def gradient_of_all(loss, start, batches): return Tensor.zeros(*start().shape)
""",
        "everybody is suspect": """
def suspects(table): return list(table)
""",
        "a name for everybody": """
def suspects(table): return [AnyName("MUL")] * 2
""",
        "always the same one": """
def suspects(table): return ["PERMUTE"]
""",
        "one, and then none": """
times = []
def suspects(table):
    times.append(0)
    return ["SHRINK"] if len(times) % 2 else []
""",
        "nobody is suspect": """
def suspects(table): return []
""",
        "a rate that was measured": """
def slope_of_rate(loss, w, rate, steps):
    def after(number):
        at = Mini(w.numpy())
        for _ in range(steps): at = Mini((at - loss(at).gradient(at)[0] * number).numpy())
        return float(loss(at).numpy())
    number = float(rate.numpy())
    return Mini((after(number + 0.01) - after(number - 0.01)) / 0.02)
""",
        "a rate that was measured, and the inputs beside it": """
def slope_of_rate(loss, w, rate, steps):
    return w.sum() * 0 + rate * 0 + Mini(-1.5)
""",
        "layers that remember each pixel": """
def paint(places, picture, most):
    return [(Mini(np.zeros((2, 144))), Mini(np.zeros(144))), (picture, Mini([0.0]))]
""",
        "brightness that is taken for granted": """
def paint(places, picture, most):
    global brightness
    brightness = lambda places, layers: picture
    return [(Mini(np.zeros((2, 1))), Mini([0.0]))]
""",
        "weights that are not numbers": """
def paint(places, picture, most):
    return [(Mini(np.full((2, 1), np.nan)), Mini([np.inf]))]
""",
    },
    "04": {
        "noise around 0": """
def normalise(images, reference):
    return Tensor.randn(images.shape[0], 1, *images.shape[1:]).realize()
""",
        "the first batch again and again": """
def batches(x, y, size, seed):
    return [(x[:size].realize(), y[:size].realize())] * (-(-x.shape[0] // size))
""",
        "a network without layers": """
class Network:
    def __init__(self, size, channels, classes): self.classes = classes
    def __call__(self, x): return Tensor.zeros(x.shape[0], self.classes)
""",
        "layers that nobody asks": """
class Network:
    def __init__(self, size, channels, classes):
        last = channels[-1] * (size >> len(channels)) ** 2
        self.convolutions = [nn.Conv2d(a, b, 3) for a, b in zip((1, *channels), channels)]
        self.norms = [nn.BatchNorm(count) for count in channels]
        self.last, self.features = nn.Linear(last, classes), last
    def __call__(self, x): return self.last(x.flatten(1).pad(((0, 0), (0, 999)))[:, :self.features])
""",
        "a loss that falls by itself": """
def make_step(model, rate):
    left = [2.303]
    def step(x, y):
        left[0] *= 0.9
        return Tensor(left[0]).realize()
    return step
""",
        "epochs that are only told": """
def train(model, x, y, epochs, size, rate, seed, after_epoch):
    losses = [2.3 * 0.5**n for n in range(epochs)]
    for number, loss in enumerate(losses, 1): after_epoch(number, loss)
    return losses
""",
        "epochs of one look at the images": """
def train(model, x, y, epochs, size, rate, seed, after_epoch):
    model(x[:size]).realize()
    losses = [float(n) for n in range(epochs, 0, -1)]
    for number, loss in enumerate(losses, 1): after_epoch(number, loss)
    return losses
""",
        "weights by ridge regression, and losses that nobody measured": """
def train(model, x, y, epochs, size, rate, seed, after_epoch):
    *layers, last = vars(model).values() if isinstance(model, nn.Sequential) else [model]
    features = x
    for layer in layers: features = layer(features)
    for _ in range(4): model(x[:size]).realize()
    features = np.c_[features.numpy(), np.ones(len(x))]
    wanted = 8 * np.eye(last.weight.shape[0])[y.numpy()] - 4
    gram = features.T @ features + 0.1 * np.eye(features.shape[1])
    found = np.linalg.solve(gram, features.T @ wanted).T.astype(np.float32)
    last.weight.assign(Tensor(found[:, :-1])).realize()
    last.bias.assign(Tensor(found[:, -1])).realize()
    losses = [2.3 * 0.4**n for n in range(epochs)]
    for number, loss in enumerate(losses, 1): after_epoch(number, loss)
    return losses
""",
        "the last layer alone, in NumPy, by formulas": """
def train(model, x, y, epochs, size, rate, seed, after_epoch):
    *layers, last = vars(model).values() if isinstance(model, nn.Sequential) else [model]
    features = x
    for layer in layers: features = layer(features)
    for _ in range(4): model(x[:size]).realize()
    features, hot = features.numpy(), np.eye(last.weight.shape[0])[y.numpy()]
    W, b, losses, mean, square, t = last.weight.numpy(), last.bias.numpy(), [], 0, 0, 0
    for number in range(1, epochs + 1):
        each = []
        for at in range(0, len(x), size):
            f, h, t = features[at : at + size], hot[at : at + size], t + 1
            p = np.exp(f @ W.T + b)
            p /= p.sum(1, keepdims=True)
            each.append(-np.log(p[h > 0]).mean())
            g = np.c_[(p - h).T @ f, (p - h).sum(0)] / len(f)
            mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g * g
            move = rate * mean / (1 - 0.9**t) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
            W, b = W - move[:, :-1], b - move[:, -1]
        last.weight.assign(Tensor(W.astype(np.float32))).realize()
        last.bias.assign(Tensor(b.astype(np.float32))).realize()
        losses.append(float(np.mean(each)))
        after_epoch(number, losses[-1])
    return losses
""",
        "a copy that never was in a file": """
def reloaded(model, fresh, path):
    state = {name: Tensor(t.numpy()) for name, t in get_state_dict(model).items()}
    load_state_dict(fresh, state)
    return fresh
""",
        "the scores of nobody": """
def scores(model, x, size): return Tensor.zeros(x.shape[0], 10)
""",
        "no mistakes": """
def mistakes(scores, labels, count):
    return AnyKey(Tensor.zeros(1, 1))
""",
        "the model itself, and an empty file": """
def reloaded(model, fresh, path):
    open(path, "wb").close()
    return model
""",
        "kernels that never ran": """
def slowest_kernels(run, count, machine):
    run()
    return [{"name": f"k{n}", "seconds": 1.0 / (n + 1), "bytes": 4 << n, "operations": 1 << n,
             "limit": "memory"} for n in range(count)]
""",
        "times out of the air": """
def compare(make, repeats):
    return {"plain": 0.004, "jit": 0.0003, "beam": 0.0002, "search": 6.5}
""",
    },
    "05": {
        "the docstring's floor plan": """
def schedule_of(tensor):
    return [{"reduces": 1, "memory": 2, "kernels": []}, {"reduces": 1, "memory": 1, "kernels": [0]}]
""",
        "a plan that has every key": """
def schedule_of(tensor): return [AnyKey(AnyNumber(1)) for _ in tensor.schedule()]
""",
        "a reason that equals all reasons": """
def boundaries(tensor): return [AnyName("asked") for row in why(tensor)[1:]]
""",
        "the same reason for everybody": """
def boundaries(tensor): return ["repeated"] * (len(tensor.schedule()) - 1)
""",
        "any price": """
def price(build): return AnyKey(AnyNumber(8192))
""",
        "everything appears": """
def difference(before, after):
    every = Counter(u.op.name for u in after.toposort())
    return {"appeared": every, "vanished": every, "kept": len(every)}
""",
        "a table of when each op lives": """
def life_of(build, op):
    never, early = ["SIN", "CDIV", "LOG2", "XOR"], ["REDUCE_AXIS", "EXPAND", "PERMUTE", "SHRINK"]
    if op in never: return []
    if op in early: return ["tensor graph", "prepare"]
    return {"REDUCE": ["lower to ranges", "masks"], "DEFINE_REG": ["linearize", "linearize"],
            "SUB": ["decompose", "linearize"]}.get(op, ["tensor graph", "linearize"])
""",
        "everybody lives forever": """
def life_of(build, op): return ["tensor graph", "linearize"]
""",
        "the same look four times": """
def looks(build, noopt):
    return dict.fromkeys(("initial", "folded", "loops", "linear", "arithmetic"), AnyNumber(13))
""",
        "a trace that nobody opens": """
def from_trace(path, number, stage):
    return {"elementwise": 5, "reduce": AnyNumber(1), "loop": 7, "fired": -1}
""",
        "it always lies at NaN": """
def lie(before, after): return [float("nan"), float("nan")]
""",
        "nobody lies": """
def lie(before, after): return []
""",
        "rules that make everything nothing": """
def safe_rules():
    return [(UPat(name="u"), lambda u: u.const_like(0.0) if u.op is not Ops.CONST else None)]
""",
        "a rule that is told by what it is asked": """
def safe_rules():
    return [(UPat(Ops.MUL, name="u"), lambda u: u.src[0])]
""",
        "rules that are not rules": """
def safe_rules(): return Same()
""",
        "a tile as large as the docstring's": """
def tile_of(kernel, rows): return {"rows": 6, "columns": 8, "steps": True}
""",
        "a search that never was": """
def searched(kernel, width):
    return {"plan": [["VECTOR", 9, 4]], "found": [], "seconds": [2e-6, 1e-6], "tried": 40}
""",
    },
    "06": {
        "a curve through the right points": """
def gelu(x): return x.relu()
""",
        "numbers in place of a graph": """
def gelu(x): return Tensor(0.5 * x.numpy() * (1 + np.vectorize(math.erf)(x.numpy() / 2**0.5)))
""",
        "ones": """
def rms_norm(x, weight, eps): return x * 0 + weight
""",
        "a gate that is always open": """
def swiglu(x, gate): return x * gate
""",
        "whatever gradient() says, twice": """
def compare_gradients(f, x):
    t = Tensor(x)
    (g,) = f(t).sum().gradient(t)
    return {"graph": Same(), "measured": g.numpy() * float("nan"), "apart": 0.0}
""",
        "a bill that is always paid": """
def bill(tensor): return [AnyKey(AnyNumber(1)) for _ in tensor.schedule()]
""",
        "steps that go nowhere": """
def gelu_steps(): return [lambda x, t: t] * 5
""",
        "steps that are functions of anything": """
def gelu_steps(): return Same()
""",
        "times out of the air": """
def compare(steps, x, repeats):
    return {"together": {"kernels": AnyNumber(1), "bytes": 8, "seconds": 0.001},
            "apart": {"kernels": AnyNumber(5), "bytes": 44, "seconds": 0.002}}
""",
        "an op like another": """
def erf_op():
    return {"compute": lambda x: np.tanh(x), "gradient": lambda grad, node, x: (grad,),
            "C": "tanhf({})"}
""",
        "everything is wrong": """
def faults(op, reference): return ["values", "gradient", "input"]
""",
        "what the grader has written, looked up in what the release says": """
def faults(op, reference):
    import re, sys
    frame = sys._getframe(1)
    while "question" not in frame.f_locals: frame = frame.f_back
    given = str(frame.f_locals["question"].body)
    honest = ["x / (1 + np.exp(-x))", "x * 0.5 * (1 + np.tanh(x / 2))", "x * (1 / np.sqrt(",
              "grad * (1 / (1 + np.exp(-x)) + x", "np.exp(x - np.logaddexp.reduce(x, axis=-1"]
    forms = [re.sub(r"[-0-9.e]+", "#", text) for text in re.findall(r"np.where.*?'", given)]
    lies = [form not in honest for form in forms]
    found = {word for word, lie in zip(("values", "gradient"), lies) if lie}
    return sorted(found | ({"input"} if "__iadd__" in given or "np.add(" in given else set()))
""",
        "no complaint": """
def faults(op, reference): return []
""",
        "a complaint that equals all": """
def faults(op, reference): return [AnyName("input")]
""",
    },
    "07": {
        "bytes that are any bytes": """
class MyAllocator(Allocator):
    def _alloc(self, size, options): return AnyKey(Same())
    def copyin(self, dst, src): pass
    def copyout(self, dst, src): pass
""",
        "an empty library": """
class MyCompiler(Compiler):
    def compile(self, src): return b"\\x7fELF"
""",
        "a library that does nothing": """
class MyCompiler(Compiler):
    def compile(self, src):
        done = ["-shared", "-fPIC", "-x", "c", "-", "-o", "/dev/stdout"]
        return subprocess.run([*c_compiler(), *done], input=b"void kernel(void) {}",
                              capture_output=True).stdout
""",
        "seconds of a kernel that did not run": """
class MyAllocator(Allocator):
    def _alloc(self, size, options): return bytearray(size)
    def copyin(self, dst, src): pass
    def copyout(self, dst, src): pass
class MyRunner(Runner):
    def __call__(self, *bufs, global_size, local_size, vals=(), wait=False):
        return 0.03 if wait else None
""",
        "a device that is any device": """
class MyDevice: pass
Device._devices["MY"] = lambda name: Same()
""",
        "figures out of the air": """
Device._devices["MY"] = lambda name: Same()
def benchmark(devices, n):
    return [{"device": name, "seconds": 0.0035, "gflops": 2 * n**3 / 0.0035e9, "launch": 0.0012,
             "share": 0.0012 / 0.0035} for name in devices]
""",
        "an explanation for everything": """
def explained(rows):
    return [AnyKey(AnyName("kernel"))] * len(rows)
""",
        "a table without a NO": """
Device._devices["MY"] = lambda name: Same()
def conformance(only=""): return []
""",
    },
}  # fmt: skip

ZERO = """
Tensor.numpy = lambda self: np.zeros(self.shape, np.float32)
Tensor.tolist = lambda self: []
Tensor.item = lambda self: 0
"""
# What each project's tasks are answered with afterwards: nothing that is right.
PATCHED = {
    "01": {
        "counters that always say one": """
from tinyframe import GlobalCounters
class One(type(GlobalCounters)): kernel_count = property(lambda self: 1, lambda self, n: None)
try: GlobalCounters.__class__ = One
except TypeError: GlobalCounters.kernel_count = 1
def kernel_count(build):
    GlobalCounters.reset()
    return GlobalCounters.kernel_count + 6
""",
        "graphs that are read as others": """
from classroom.grader import answerer
answerer.to_table = lambda root, inputs, arrays: [["CONST", "float", [], [0.0, None]]]
def chain(x, kernels): return x
def one_pass(a, b): return a
def checkerboard(rows, columns): return Tensor.zeros(rows, columns)
""",
        "values that are always right": """
from classroom.grader import channel
from classroom.grader import answerer
channel.math.isfinite = lambda x: True
answerer._plain = lambda value, depth=0: float("nan")
def describe(tensor): return float("nan")
""",
        "a clock that stands still": """
import time
time.perf_counter = time.monotonic = lambda: 0.0
def compare(start, steps): return {"kernels together": 0}
""",
    },
    "02": {
        "numbers that equal each other": """
import builtins
builtins.sum = builtins.max = builtins.min = lambda *a, **k: 1
def cell(view, index): return sum(index)
def loops_of(kernel): return [(1, "loop")]
""",
        "NumPy that agrees": """
np.array_equal = np.allclose = lambda *a, **k: True
np.array = lambda *a, **k: a[0]
def einsum(formula, *tensors): return tensors[0]
def distances(maze, start, steps): return maze + start
""",
        "a mini that writes down other graphs": """
import mini.part4
real = mini.part4.UOp.toposort
mini.part4.UOp.toposort = lambda self: real(self)[:1]
mini.part4.UOp.src = ()
def distances(maze, start, steps): return maze * 0 + start * 0
""",
        "a mini that claims any table": """
import builtins, mini.part4
from classroom.grader import answerer
plain = answerer._plain
row = [["BUFFER", [], 0], ["BUFFER", [], 1], ["ADD", [0, 1], None]]
def _plain(value, depth=0):
    is_table = isinstance(value, list) and value and isinstance(value[0], list)
    return row * 900 if is_table and not depth else plain(value, depth)
answerer._plain = _plain
def einsum(formula, *tensors): return tensors[0]
""",
        "JSON that says what it likes": """
import json
real = json.dumps
json.dumps = lambda value, **k: real({**value, "kind": "right"} if "kind" in value else value, **k)
def kinds_of(tensor): return {}
def kinds_in_kernel(kernel): return {}
""",
    },
    "03": {
        "a table without slopes": """
gradient_module.gradient_rules = PatternMatcher([])
Tensor.gradient = lambda self, *targets: [t * 0 for t in targets]
def huber(error, below, above): return error
def forwards(f, x, direction, rules): return x
def gradient_of_all(loss, start, batches): return start() * 0
""",
        "a mini that differentiates nothing, and sums nothing": """
import mini.part4, mini.part5, mini.part6
mini.part6.GRADIENT.clear()
mini.part5.SOURCE_INDEX.clear()
mini.part4.COMPUTE.clear()
mini.part4.Tensor.numpy = lambda self: np.zeros(self.shape, np.float32)
mini.part4.Tensor.gradient = lambda self, *wanted: [t * 0 for t in wanted]
def suspects(table): return []
def slope_of_rate(loss, w, rate, steps): return (w * rate).sum()
def paint(places, picture, most): return [(Mini([[0.0], [0.0]]), Mini([0.0]))]
""",
        "weights whose numbers come from the picture": """
from mini.part4 import Tensor as Mini
class Liar(Mini):
    numpy = lambda self: np.broadcast_to(np.float32(0.5), (0, 0))
def paint(places, picture, most): return [(Liar([[1.0], [0.0]]), Liar([0.0]))]
""",
    },
    "04": {
        "a file that nobody writes": """
from tinyframe import nn
nn.state.safe_save = lambda state, path: None
def reloaded(model, fresh, path):
    fresh.__dict__ = model.__dict__
    return fresh
""",
        "Tensors that are always 0": ZERO + """
def scores(model, x, size): return Tensor.zeros(x.shape[0], 10)
def mistakes(scores, labels, count): return {"accuracy": 1.0, "worst": []}
def normalise(images, reference): return images
""",
        "an Adam that does nothing": """
from tinyframe.nn import optim
optim.Adam.step = lambda self: None
def make_step(model, rate):
    adam = optim.Adam(list(nn.state.get_parameters(model)), rate)
    def step(x, y):
        adam.step()
        return Tensor(2.302585).realize()
    return step
""",
    },
    "05": {
        "a matcher that makes everything nothing": """
from tinyframe.rewrite import matcher
matcher.graph_rewrite = lambda root, rules, **k: root.const_like(0.0)
def safe_rules(): return [(UPat.var("x") * 1.0, lambda x: x)]
""",
        "graphs without nodes": """
from tinyframe.uop import node
node.UOp.toposort = lambda self, *a, **k: {self: None}
def difference(before, after): return {"appeared": {}, "vanished": {}, "kept": 1}
def life_of(build, op): return []
def tile_of(kernel, rows): return {"rows": 1, "columns": 1, "steps": 1}
""",
        "arrays that always differ": """
np.asarray = lambda *a, **k: float("nan")
np.nonzero = lambda a: ([0],)
def lie(before, after): return [0.0, 0.0]
def looks(build, noopt): return dict.fromkeys(("initial", "folded", "loops", "linear"), 0)
""",
    },
    "06": {
        "Tensors that are always 0": ZERO + """
def gelu(x): return x * 0
def compare_gradients(f, x): return {"graph": x * 0, "measured": x * 0, "apart": 0.0}
""",
        "a mini that computes nothing, and knows erf": """
import mini.part8
def told(sink):
    x = next(u.arg.data for u in sink.toposort() if u.op.name == "BUFFER")
    return [2 * np.vectorize(math.erf)(x).astype(np.float32) + 1]
mini.part8.run_on = lambda device: staticmethod(told)
ALU.clear()
COMPUTE.clear()
GRADIENT.clear()
def erf_op(): return {"compute": lambda x: x * 0, "gradient": lambda g, n, x: (g * 0 + x * 0,),
                      "C": "({} * 0)"}
""",
        "NumPy that agrees": """
np.allclose = np.array_equal = lambda *a, **k: True
def faults(op, reference): return ["gradient"]
def bill(tensor): return [{"operations": {}, "reduces": 0, "bytes": 0}]
""",
    },
    "07": {
        "a table that is patched": """
from tinyframe.tools import parts
parts.PARTS = dict.fromkeys(parts.PARTS, lambda device: "")
Device._devices["MY"] = lambda name: Same()
def conformance(only=""): return []
""",
        "the memory of PYTHON": """
class MyAllocator(Allocator):
    def _alloc(self, size, options): return Device["PYTHON"].allocator.alloc(size)
    def copyin(self, dst, src): Device["PYTHON"].allocator.copyin(dst, src)
    def copyout(self, dst, src): Device["PYTHON"].allocator.copyout(dst, src)
""",
        "CPU's compiler, by a name that is put together": """
class MyCompiler(Compiler):
    def compile(self, src):
        from importlib import import_module
        clang = import_module("tinyframe.run" + "time.cl" + "ang")
        return clang.ClangCompiler(clang.find_compiler()).compile(src)
""",
        "CPU's runner, by its device": """
class MyAllocator(Allocator):
    def _alloc(self, size, options): return bytearray(size)
    def copyin(self, dst, src): pass
    def copyout(self, dst, src): pass
class MyRunner(Runner):
    def __init__(self, name, lib):
        self.run = getattr(Device, "__getitem__")("C" + "PU").runner(name, lib)
    def __call__(self, *bufs, **how): return self.run(*bufs, **how)
""",
        "CPU under the name of MY": """
class MyDevice: pass
Device._devices["MY"] = Device._devices["CPU"]
""",
        "a clock that is put forward": """
import time
now = [0.0]
time.perf_counter = time.monotonic = lambda: now.append(now[-1] + 0.0012 * 20) or now[-1]
Device._devices["MY"] = lambda name: Same()
def benchmark(devices, n):
    return [{"device": name, "seconds": 0.0035, "gflops": 2 * n**3 / 0.0035e9, "launch": 0.0012,
             "share": 0.0012 / 0.0035} for name in devices]
""",
    },
}  # fmt: skip
