"""Part 2: what somebody might answer, and what they are told."""

from __future__ import annotations

import numpy as np

from tinyframe import GlobalCounters, Tensor, TinyJit
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.dtype import dtypes
from tinyframe.jit.jit import JitError
from tinyframe.observe import Observer, observing
from tinyframe.uop import Ops

# exercises that ask for an object, and not for a function
OBJECTS = {"2.1", "2.6"}

# for each prediction what is right, and what somebody might think
GUESSES = {
    "2.2": ("r_4_3", "r_3_4", "E_3_4", "r_4", "r_12"),
    "2.4": ("same", "right", "other"),
    "2.12": ((2, 15), (1, 15), (5, 15), (2, 1), (2, 0), (2, 10)),
}


class Times(Observer):
    def __init__(self):
        self.kernels = []

    def ran(self, work):
        self.kernels.append((work.spec.name, work.seconds))


def watched(run):
    times = Times()
    with observing(times):
        run()
    return times.kernels


def total_count(run):
    run()
    return GlobalCounters.kernel_count


def counted_twice(run):
    GlobalCounters.reset()
    run()
    run()
    return GlobalCounters.kernel_count


def counted_before(run):
    GlobalCounters.reset()
    count = GlobalCounters.kernel_count
    run()
    return count


def never_watched(run):
    return "r_160_160_160"


def replaced(old, **changed):
    """A stage that replaces something in every node of an op."""
    return lambda sink: sink.substitute(
        {u: u.replace(**changed) for u in sink.toposort() if u.op is old}
    )


def on(device, formula, arrays):
    return formula(*[Tensor(a, device=device) for a in arrays]).numpy()


def signed(formula, *arrays):
    return (on("PYTHON", formula, arrays) - on("CPU", formula, arrays)).max()


def mean(formula, *arrays):
    return np.abs(on("CPU", formula, arrays) - on("PYTHON", formula, arrays)).mean()


def total(formula, *arrays):
    return np.abs(on("CPU", formula, arrays) - on("PYTHON", formula, arrays)).sum()


def same_device_twice(formula, *arrays):
    return np.abs(on("CPU", formula, arrays) - on("CPU", formula, arrays)).max()


def mixed_devices(formula, a, b):
    return formula(Tensor(a), Tensor(b, device="PYTHON")).numpy().max()


def differs(node):
    return any(s.dtype is not node.dtype for s in node.src)


def first_source_differs(node):
    return node.op is Ops.MUL and node.src[0].dtype is not node.dtype


def same(function, fast, x):
    return np.array_equal(fast(x).numpy(), function(x).numpy())


def always_tried(function, inputs):
    fast = TinyJit(function)
    return all(same(function, fast, x) for x in inputs)


def first_three(function, inputs):
    fast = TinyJit(function)
    try:
        return all([same(function, fast, x) for x in inputs][:3])
    except JitError:
        return False


def only_the_first(function, inputs):
    fast = TinyJit(function)
    try:
        return same(function, fast, inputs[0])
    except JitError:
        return False


def never_replayed(function, inputs):
    try:
        return all(same(function, TinyJit(function), x) for x in inputs)
    except JitError:
        return False


def refusals_are_fine(function, inputs):
    try:
        return always_tried(function, inputs)
    except JitError:
        return True


# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("2.1", ([2.0], [1.0]), "The till gets this one right"),
    ("2.1", ([0.0], [0.5]), "The till gets this one right"),
    ("2.1", ([1.0, 1.0], [0.5, 1.0]), "isn't the smallest"),
    ("2.1", ([1.0, 1.0, 1.0, 1.0], [0.5, 2.25, 1.0, 4.0]), "isn't the smallest"),
    ("2.1", ([1.0, 2.0], [0.5]), "2 quantities and 1 prices"),
    ("2.1", 0.5, "has to be two lists"),
    ("2.1", ([1.0], ["half"]), "has to be two lists"),
    ("2.1", ([], []), "has to be two lists"),
    ("2.1", ([[1.0]], [[0.5]]), "has to be two lists"),
    ("2.1", ([float("nan")], [0.5]), "have to be numbers"),
    ("2.1", ([1e30], [1.0]), "have to be numbers"),
    ("2.3", lambda q, p: (q * p).sum(axis=1), "Nothing is cut off the prices"),
    ("2.3", lambda q, p: (q * p).int().sum(axis=1), "multiply first and cut off"),
    ("2.3", lambda q, p: (q * p).sum(axis=1).int(), "cut off afterwards"),
    ("2.3", lambda q, p: (q * p.int()).sum(axis=1), "Nothing is cut off the quantities"),
    ("2.3", lambda q, p: (q.floor() * p.floor()).sum(axis=1), "You round down"),
    ("2.3", lambda q, p: (q.round() * p.round()).sum(axis=1), "nearest whole number"),
    ("2.3", lambda q, p: (q.int() * p.int()).sum(axis=0), "shape"),
    ("2.3", lambda q, p: (q.int() * p.int()).sum(axis=1).tolist(), "has to be a Tensor"),
    ("2.5", signed, "can be negative"),
    ("2.5", mean, "0.5"),
    ("2.5", total, "2.5"),
    ("2.5", same_device_twice, "it was called on CPU"),
    ("2.5", mixed_devices, "on the same device"),
    ("2.5", lambda formula, *arrays: 0.0, "on neither"),
    ("2.5", lambda formula, *arrays: formula(*arrays), "called with Tensors"),
    ("2.6", "simplify", "one heading further up"),
    ("2.6", "expand lanes", "one heading further up"),
    ("2.6", "linearize", "one heading further up"),
    ("2.6", "lower to ranges", "still says `MUL float`"),
    ("2.6", "tensor graph", "still says `MUL float`"),
    ("2.6", "MUL", "No heading"),
    ("2.6", "canonicalize loops", "one heading further up"),
    ("2.6", 4, "has to be the name of a stage"),
    ("2.7", lambda node: True, "accuses an innocent"),
    ("2.7", lambda node: False, "lets this one go"),
    ("2.7", differs, "accuses an innocent"),
    ("2.7", lambda node: node.op is Ops.MUL, "accuses an innocent"),
    ("2.7", lambda node: node.op is Ops.MUL and node.dtype is dtypes.int, "accuses an innocent"),
    ("2.7", first_source_differs, "a `MUL` of a float and an int that says it's a float"),
    ("2.7", lambda node: node.op is Ops.MUL and [s.dtype for s in node.src], "True or False"),
    ("2.7", lambda node: node.op.name, "True or False"),
    ("2.8", lambda sink: sink, "nothing changed"),
    ("2.8", lambda sink: sink.substitute({}), "nothing changed"),
    ("2.8", replaced(Ops.MUL, dtype=dtypes.int), "Spoil something else"),
    ("2.8", replaced(Ops.MUL, op=Ops.ADD), "still a legal one"),
    ("2.8", lambda sink: list(sink.toposort()), "has to be a graph"),
    ("2.8", lambda sink: Opt(OptOps.VECTOR, 0, 4), "has to be a graph"),
    ("2.9", lambda stages, name: stages, "is still there"),
    ("2.9", lambda stages, name: stages[1:], "the culprit is in the middle"),
    ("2.9", lambda stages, name: [s for s in stages if s[0] != "tidy numbers"], "`shortcut` is"),
    ("2.9", lambda stages, name: [s for s in stages if s[0] == name], "is still there"),
    ("2.9", lambda stages, name: [], "`simplify` is gone"),
    ("2.9", lambda stages, name: [n for n, _ in stages if n != name], "(name, function) pairs"),
    ("2.9", lambda stages, name: sorted((s for s in stages if s[0] != name), key=lambda s: s[0]),
     "in its place"),
    ("2.9", lambda stages, name: {n: f for n, f in stages if n != name}, "has to be a list"),
    ("2.9", lambda stages, name: name, "has to be a list"),
    ("2.10", total_count, "from before"),
    ("2.10", counted_twice, "ran it 2 times"),
    ("2.10", counted_before, "too few"),
    ("2.10", lambda run: 1, "`run` does nothing"),
    ("2.11", never_watched, "was never called"),
    ("2.11", lambda run: watched(run)[0][0], "You gave the first"),
    ("2.11", lambda run: watched(run)[-1][0], "You gave the last"),
    ("2.11", lambda run: min(watched(run), key=lambda pair: pair[1])[0], "You gave the last"),
    ("2.11", lambda run: max(watched(run), key=lambda pair: pair[1]), "the name of a kernel"),
    ("2.11", lambda run: max(watched(run))[0], "compared the names"),
    ("2.11", lambda run: max(watched(run), key=lambda pair: pair[1])[1], "the name of a kernel"),
    ("2.13", lambda function, inputs: True, "has to be False"),
    ("2.13", lambda function, inputs: False, "has to be True"),
    ("2.13", always_tried, "raised JitError"),
    ("2.13", first_three, "the fourth input"),
    ("2.13", only_the_first, "x.sum().item()"),
    ("2.13", never_replayed, "x.sum().item()"),
    ("2.13", refusals_are_fine, "refuses"),
    ("2.13", lambda function, inputs: [function(x) for x in inputs], "True or False"),
]  # fmt: skip
