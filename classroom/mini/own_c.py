"""What part 8a measures with package `mini`, whoever wrote its stages, and the pictures of it.

    on(CRunner)                  inside `with`, Tensors are computed by a device; None: by NumPy
    kept_by(name)                the same, by C whose programs are kept under names
    faded(fade)                  a picture that becomes another one, by a call of C
    program_of(tensor)           the loops of an expression that is one kernel
    one_step(device)             one step of learning digits, timed
    race()                       the same by NumPy, by C, and by C without building the graph
    climb({"as lowered": p})     programs for a product of 512 × 512, how fast each is
    painted(paint)               a picture that is nothing but a formula

Each of the last three gives a picture that has its numbers, too; figures.py puts them on a page.
All times are those of this thread on a core: what it waits for one doesn't count, so a machine that
is busy with something else tells nearly the same.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from time import thread_time
from typing import Any
from unittest import mock

import numpy as np

from classroom.learner import kept
from classroom.mini import compiler, digits, loader, stages
from classroom.plots import pictures
from classroom.race import least
from classroom.speed import Card, cards, faster, rate, seconds_of, time_of
from classroom.yours import yours_or
from tinyframe.viz.drawing import MUTED, PAGE, Drawing
from tinyframe.viz.picture import DrawnPicture

N = 512  # rows and columns of a climb's matrices
OPERATIONS = 2.0 * N**3
STEPS = 30  # timed, of learning digits, on each device
SIDE = 480  # pixels of a painting
MINE, THEIRS, BEST = "#cfe0f5", "#e6e6e6", "#bfe3b9"  # fills of bars
COLOURS = "twilight_shifted"  # a colour map of matplotlib


def module(name: str) -> Any:
    """A module of mini, such as "part8": the stages in use, chosen now if none are."""
    if f"mini.{name}" not in sys.modules:
        loader.use(stages.STAGES[-1])
    return importlib.import_module(f"mini.{name}")


def on(device: Any) -> AbstractContextManager[Any]:
    """Inside, Tensors are computed by this device, and by NumPy if it is None."""
    part8 = module("part8")
    return mock.patch.object(part8.Tensor, "run", part8.run_on(device))


def program_of(tensor: Any) -> Any:
    """The loops of a Tensor that one kernel computes, as stage 7b lowers them. ValueError if it
    takes several."""
    part4, part4b, part7b = module("part4"), module("part4b"), module("part7b")
    kernels = part4b.cut(part4.UOp(part4.Ops.SINK, (tensor.uop,)))
    if len(kernels) != 1:
        raise ValueError(f"this takes {len(kernels)} kernels")
    return part7b.lower(kernels[0])[0]


def kept_by(name: Callable[[Any], Any]) -> AbstractContextManager[Any]:
    """Inside, C computes the Tensors, and a graph with the name of an earlier one is taken for it.

    Names that are too loose give wrong results here, and are asked for nothing outside of memory:
    shapes are compared.
    """
    part8 = module("part8")
    kept: dict[Any, Any] = {}

    def run(sink: Any) -> Any:
        graph, memory = part8.numbered(sink)
        graph = kept.setdefault((name(sink), *(slot.arg for slot in memory)), graph)
        arrays = {slot.arg: array for slot, array in memory.items()}
        slots = [u for u in graph.toposort() if u.op is part8.Ops.DEFINE_GLOBAL]
        return part8.call(graph, {slot: arrays[slot.arg] for slot in slots}, part8.CRunner)

    return mock.patch.object(part8.Tensor, "run", staticmethod(run))


# ---- a call by hand ------------------------------------------------------------------------------

FADE = """void fade(float* out, const float* from, const float* to, float t, int n) {
  for (int i = 0; i < n; i++) out[i] = (1 - t) * from[i] + t * to[i];
}
"""


@cache
def fade_in_c() -> Any:
    """The C function, as ctypes gives it."""
    folder = Path(tempfile.mkdtemp())
    command = [*compiler.command(), "-shared", "-fPIC", "-x", "c", "-", "-o", "fade.so"]
    subprocess.run(command, cwd=folder, input=FADE.encode(), check=True, capture_output=True)
    return ctypes.CDLL(str(folder / "fade.so"))["fade"]


def fade(function: Any, one: np.ndarray, other: np.ndarray, t: float) -> np.ndarray:
    arrays = [np.empty(one.shape, np.float32), *map(np.ascontiguousarray, (one, other))]
    out = arrays[0]
    addresses = (ctypes.c_void_p(array.ctypes.data) for array in arrays)
    function(*addresses, ctypes.c_float(t), out.size)
    return out


def faded(yours: Any, steps: int = 7) -> None:
    """A 3 that becomes an 8, in matplotlib's figure."""
    chosen = yours_or("call-c-by-hand", yours, fade)
    images, labels = digits.data()[:2]
    three, eight = (images[labels == label][0].reshape(8, 8) for label in (3, 8))
    shown = [chosen(fade_in_c(), three, eight, n / (steps - 1)) for n in range(steps)]
    pictures(shown, [f"{n / (steps - 1):.2f}" for n in range(steps)])


# ---- one step of learning ------------------------------------------------------------------------


@dataclass
class Step:
    """seconds: that a step took, at best. loss: of the first."""

    seconds: float
    loss: float


def one_step(device: Any, steps: int = 1, captured: bool = False, rows: int = 32) -> Step:
    """Some steps of the network that reads digits, on a device, each with a graph of its own; or
    captured by mini's jit."""
    part6, part8 = module("part6"), module("part8")
    images, labels, _, _ = digits.data()
    images = images.reshape(-1, 1, 8, 8)
    params, model = digits.two_layers(np.random.default_rng(1))
    adam = part6.Adam(params, lr=0.01)

    def step(x: Any, target: Any) -> Any:
        return adam.step(-(model(x).log_softmax() * target).sum() * (1 / rows))

    took, losses = [], []
    with on(device):
        for number in range(steps + captured):
            part = slice(number * rows, (number + 1) * rows)
            x, target = part6.Tensor(images[part]), part6.Tensor(np.eye(10)[labels[part]])
            with digits.changes_of(adam) as changed:
                start = thread_time()
                losses.append(float(step(x, target).numpy()))
                took.append(thread_time() - start)
            if captured and number == 0:
                step = part8.jit(step, changed, device)
    return Step(min(took), losses[0])


class Race(DrawnPicture):
    """seconds: of a step, by the name of the way."""

    seconds: dict[str, float]


def race() -> Race:
    """A step by NumPy, by C, and by C that the jit replays; the best of several, in turns."""
    device = module("part8").CRunner
    ways: dict[str, tuple[Any, bool]] = {
        "NumPy": (None, False), "your C": (device, False), "your C and your jit": (device, True)
    }  # fmt: skip
    seconds = dict.fromkeys(ways, float("inf"))
    for _ in range(3):
        for name, (where, captured) in ways.items():
            took = one_step(where, STEPS, captured).seconds
            seconds[name] = min(seconds[name], took)
    first = seconds["NumPy"]
    row = [
        Card(name, time_of(took), faster(first / took, number))
        for number, (name, took) in enumerate(seconds.items())
    ]
    drawn = cards(row)
    found = Race("one step of learning digits, three ways", drawn.text, drawn.drawing)
    found.seconds = seconds
    return found


# ---- a product, faster and faster ----------------------------------------------------------------

BESIDE = """
import sys, time
import numpy as np
n = int(sys.argv[1])
a, b = np.random.default_rng(0).standard_normal((2, n, n)).astype(np.float32)
best = float("inf")
for _ in range(30):
    start = time.thread_time()
    a @ b
    best = min(best, time.thread_time() - start)
print(best)
"""


class Climb(DrawnPicture):
    """seconds: of each program. numpy: of NumPy's product, on one core."""

    seconds: dict[str, float]
    numpy: float

    @property
    def best(self) -> float:
        return min(self.seconds.values())


def climb(programs: Mapping[str, Any]) -> Climb:
    """How fast programs for a product of 512 × 512 are, as bars, with NumPy's on one core below.

    A program that computes anything else is a ValueError. What is not a program yet (`...`) is left
    out.
    """
    part7b, device = module("part7b"), module("part8").CRunner
    a, b = np.random.default_rng(0).standard_normal((2, N, N)).astype(np.float32)
    out = np.empty((N, N), np.float32)
    runs: dict[str, Callable[[], Any]] = {}
    for name, program in programs.items():
        if program is not ...:
            _expect_a_product(name, program)
            runs[name] = partial(device(part7b.linearize(program)), out, a, b)
            out.fill(np.nan)
            runs[name]()
            if not np.allclose(out, a @ b, atol=1e-2):
                raise ValueError(f"the program {name!r} computes something else than a @ b")
    beside = numpy_on_one_core()
    own = {name: partial(seconds_of, run, thread_time) for name, run in runs.items()}
    seconds = least(own)  # without those of other programs
    beside = min(beside, numpy_on_one_core())
    found = _bars(seconds, beside)
    rates = {name: OPERATIONS / took / 1e9 for name, took in seconds.items()}
    if rates and loader.is_learners(stages.STAGES[-1]):
        entry = {"rates": rates, "numpy": OPERATIONS / beside / 1e9}
        kept.keep("own c", max(rates.values()), entry)
    found.seconds, found.numpy = seconds, beside
    return found


def _expect_a_product(name: str, program: Any) -> None:
    """ValueError unless a program has three parameters of 512 × 512: C would not ask."""
    Ops = module("part4").Ops
    found = sorted(node.arg for node in program.toposort() if node.op is Ops.DEFINE_GLOBAL)
    if found != [(number, (N, N)) for number in range(3)]:
        raise ValueError(f"the program {name!r} is not one for a @ b, both of {N} × {N}")


def numpy_on_one_core(n: int = N) -> float:
    """The seconds of a @ b in NumPy, in a process that has one thread for it."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    said = subprocess.run(
        [sys.executable, "-c", BESIDE, str(n)], env=os.environ | dict.fromkeys(names, "1"),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(said.stdout)


def _bars(seconds: Mapping[str, float], beside: float) -> Climb:
    """A bar for each, as long as it is fast, and NumPy's below them."""
    label, high, gap = 210.0, 24.0, 8.0
    room, shortest = PAGE - label - 150, min([beside, *seconds.values()])
    first, best = next(iter(seconds.values()), beside), min(seconds.values(), default=beside)
    sheet = Drawing()
    before, after = (rate(OPERATIONS, s).removesuffix(" GFLOP/s") for s in (first, best))
    sheet.words(0, 30, f"{before} → {after} GFLOP/s", 30, bold=True, colour=MUTED)
    y = 48.0
    rows = [(name, took, BEST if took == best else MINE) for name, took in seconds.items()]
    for name, took, fill in [*rows, ("NumPy, on one core", beside, THEIRS)]:
        sheet.words(label - 10, y + 16, name, 12, anchor="end", colour=MUTED)
        sheet.box(label, y, max(2.0, room * shortest / took), high, fill)
        said = rate(OPERATIONS, took)
        sheet.words(label + room * shortest / took + 8, y + 17, said, 13, bold=True, colour=MUTED)
        y += high + gap
    wide = max(map(len, [*seconds, "NumPy, on one core"]))
    text = "\n".join(f"{name:{wide}}  {rate(OPERATIONS, took):>15}" for name, took, _ in
                     [*rows, ("NumPy, on one core", beside, THEIRS)])  # fmt: skip
    return Climb(f"{len(seconds)} programs for one product, and NumPy's", text, sheet)


# ---- a painting ----------------------------------------------------------------------------------


def julia(x: Any, y: Any) -> Any:
    """Ours: for how long a place stays near while it is squared, and moved by the same step."""
    a, b, count = 1.6 * x, 1.6 * y, x * 0
    for _ in range(24):
        a, b = (a * a - b * b - 0.8).maximum(-9), (2 * a * b + 0.156).maximum(-9)
        count = count + (a * a + b * b < 4)
    return count


class Painting(DrawnPicture):
    """brightness: from 0 to 1, of each pixel. seconds: to compute it, in C and in NumPy."""

    brightness: np.ndarray
    seconds: dict[str, float]


def places(side: int = SIDE) -> tuple[np.ndarray, np.ndarray]:
    """The x and the y of each pixel, from -1 at the left and at the bottom to 1."""
    along = np.linspace(-1, 1, side, dtype=np.float32)
    x, y = np.meshgrid(along, -along)
    return np.ascontiguousarray(x), np.ascontiguousarray(y)


def painted(paint: Callable[[Any, Any], Any]) -> Painting:
    """The picture of a formula, and how long C and NumPy took for it, building its graph aside."""
    chosen, Tensor = yours_or("paint-in-c", paint, julia), module("part6").Tensor
    arrays, seconds = places(), {}

    def run() -> tuple[float, np.ndarray]:
        made = chosen(*map(Tensor, arrays))
        made = made if isinstance(made, Tensor) else Tensor(made)
        start = thread_time()
        values = made.numpy()
        return thread_time() - start, values

    for name, device in (("NumPy", None), ("your C", module("part8").CRunner)):
        with on(device), np.errstate(all="ignore"):
            run()  # compiles it
            tries = [run() for _ in range(3)]
        seconds[name], values = min(took for took, _ in tries), tries[0][1]
    brightness = between_0_and_1(values)
    sheet = Drawing()
    sheet.width = PAGE
    sheet.image(0, 0, 330, 330, np.rint(brightness * 255), palette())
    for number, (name, took) in enumerate(seconds.items()):
        sheet.words(350, 40 + 80 * number, name, 13, colour=MUTED)
        sheet.words(350, 76 + 80 * number, time_of(took), 32, bold=True, colour=MUTED)
    text = "\n".join(f"{name:8} {time_of(took):>12}" for name, took in seconds.items())
    found = Painting(f"a formula, at {SIDE} × {SIDE} places", text, sheet)
    found.brightness, found.seconds = brightness, seconds
    return found


def between_0_and_1(values: np.ndarray) -> np.ndarray:
    values = np.nan_to_num(values.astype(float), posinf=0, neginf=0)
    return (values - values.min()) / max(float(np.ptp(values)), 1e-9)


def palette() -> list[str]:
    import matplotlib as mpl
    from matplotlib.colors import to_hex

    return [to_hex(mpl.colormaps[COLOURS](shade)) for shade in range(256)]
