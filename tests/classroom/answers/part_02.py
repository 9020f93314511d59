"""Part 2: what somebody might answer, and what they are told."""

from __future__ import annotations

import numpy as np

from tinyframe import GlobalCounters, Tensor
from tinyframe.codegen.optimize.loops import Opt, OptOps
from tinyframe.dtype import dtypes
from tinyframe.observe import Observer, observing
from tinyframe.uop import Ops

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = set()

# for each prediction what is right, and what somebody might think
GUESSES = {
    "2.2": ("r_4_3", "r_3_4", "E_3_4", "r_4", "r_12"),
    "2.6": ((250, 251), (250, 250), (250, 252), (1000, 1002), (250, 250.5)),
    "2.7": (2, 1, 5, 3, 0),
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


# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("2.1", total_count, "from before"),
    ("2.1", counted_twice, "too many"),
    ("2.1", counted_before, "too few"),
    ("2.1", lambda run: 1, "`run` does nothing"),
    ("2.3", never_watched, "was never called"),
    ("2.3", lambda run: watched(run)[0][0], "You gave the first"),
    ("2.3", lambda run: watched(run)[-1][0], "You gave the last"),
    ("2.3", lambda run: min(watched(run), key=lambda pair: pair[1])[0], "You gave the last"),
    ("2.3", lambda run: max(watched(run), key=lambda pair: pair[1]), "the name of a kernel"),
    ("2.3", lambda run: max(watched(run))[0], "compared the names"),
    ("2.3", lambda run: max(watched(run), key=lambda pair: pair[1])[1], "the name of a kernel"),
    ("2.4", lambda x: (x * x).sum(axis=1).sqrt(), "shape"),
    ("2.4", lambda x: (x * x).sum(axis=0), "Element [0] is 25 and should be 5"),
    ("2.4", lambda x: x.sum(axis=0), "Element [0] is 7 and should be 5"),
    ("2.4", lambda x: (x * x).sum().sqrt(), "0 axes"),
    ("2.4", lambda x: (x * x).sum(axis=0).contiguous().sqrt(), "It takes 2 kernels"),
    ("2.5", lambda sink: sink, "nothing changed"),
    ("2.5", lambda sink: sink.substitute({}), "nothing changed"),
    ("2.5", replaced(Ops.MUL, dtype=dtypes.int), "Spoil something else"),
    ("2.5", replaced(Ops.MUL, op=Ops.ADD), "still a legal one"),
    ("2.5", lambda sink: list(sink.toposort()), "has to be a graph"),
    ("2.5", lambda sink: Opt(OptOps.VECTOR, 0, 4), "has to be a graph"),
    ("2.8", signed, "can be negative"),
    ("2.8", mean, "0.5"),
    ("2.8", total, "2.5"),
    ("2.8", same_device_twice, "it was called on CPU"),
    ("2.8", mixed_devices, "on the same device"),
    ("2.8", lambda formula, *arrays: 0.0, "on neither"),
    ("2.8", lambda formula, *arrays: formula(*arrays), "called with Tensors"),
]
