"""How fast a kernel is with Opts of one's own, beside NumPy and under this machine's roof.

    race(a @ b, {"as written": [], "vectors": [Opt(OptOps.VECTOR, 1, 8)]})     cards
    climb(a @ b, {"as written": [], "vectors": [Opt(OptOps.VECTOR, 1, 8)]})    the roofline

Everything is timed on one core. What differs from machine to machine is in pictures, or written in
a form that tests of notebooks do not compare.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from classroom.speed import Card, cards, faster, rate, seconds_of, time_of
from classroom.tiles import workload
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.codegen.optimize.nest import Nest
from tinyframe.codegen.optimize.plans import CPU, Plan, Workload
from tinyframe.codegen.program import estimate_mem, estimate_ops
from tinyframe.device import Device
from tinyframe.run.kernel import CompiledKernel
from tinyframe.run.search import SearchResult, search_result
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.settings import Context
from tinyframe.tensor.core import Tensor
from tinyframe.viz.kernels import one_kernel
from tinyframe.viz.nests import kernel
from tinyframe.viz.picture import DrawnPicture, Picture
from tinyframe.viz.roof import COPIED, TIMES, Roof, measured_roof

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 0.4  # that a kernel is timed for
FEWEST, MOST = 3, 60  # times that it runs
ROOFS = 3  # times that the roof is measured
ONE_CORE = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

Opts = Sequence[Opt]


@dataclass(frozen=True)
class Ready:
    """A kernel that is compiled, with memory for what it reads and writes. Calling it runs it once,
    and gives the seconds."""

    kernel: CompiledKernel
    item: ScheduleItem

    def __call__(self) -> float:
        return self.kernel(self.item.bufs, {}, wait=True) or 0.0

    def values(self) -> np.ndarray:
        """What it has written, flat."""
        return self.item.bufs[self.kernel.spec.outs[0]].numpy()


def ready(x: Any, opts: Opts | None = None) -> Ready:
    """The kernel of x (`a @ b`, say) with these Opts; without any given, with those of its plan.

    KernelOptError if an Opt is not allowed.
    """
    item, _ = one_kernel(x, None, "ready")
    device = Device[item.bufs[0].device]
    with Context(NOOPT=0, BEAM=0, DEBUG=0):
        spec = get_program(item.ast, device.renderer, None if opts is None else list(opts))
        runner = device.runner(spec.function, device.compiler.compile_cached(spec.src))
    return Ready(CompiledKernel(spec, runner), item)


def lanes() -> int:
    """How many floats one vector of this machine has."""
    return Device[Device.DEFAULT].renderer.target.vector_bytes // 4


def least(runs: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """The least seconds of each, in turns, so that all of them see the same noise."""
    best = {label: run() for label, run in runs.items()}
    for turn in range(1, MOST):
        if turn >= FEWEST and turn * sum(best.values()) > SECONDS * len(runs):
            break
        best = {label: min(best[label], run()) for label, run in runs.items()}
    return best


@functools.cache
def one_core() -> Roof:
    """What one core of this machine can do at most, as NumPy does it, in a process of its own: a
    BLAS decides on its threads when it is loaded."""
    code = "from classroom.race import measured; print(*measured())"
    environment = {**os.environ, **ONE_CORE, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    flops, bandwidth = map(float, done.stdout.split()[-2:])
    return Roof(flops, bandwidth)


def measured() -> Roof:
    """The roof here and now: the best of a few times. Of memory the better of a copy and of a dot
    product, which only reads: a copy may read what it is about to overwrite, and nobody counts
    that."""
    roofs = [measured_roof.__wrapped__() for _ in range(ROOFS)]
    numbers = np.ones(COPIED // 4, np.float32)
    other = np.ones_like(numbers)
    reading = min(seconds_of(lambda: np.dot(numbers, other)) for _ in range(TIMES))
    bandwidth = max(2 * COPIED / reading, *[roof.bandwidth for roof in roofs])
    return Roof(max(roof.flops for roof in roofs), bandwidth)


def race(
    x: Tensor, ways: Mapping[str, Opts | None], *, numpy: bool = True, cores: int = 1
) -> DrawnPicture:
    """A card for each list of Opts, with GFLOP/s (None: those of the plan), and at the end one for
    NumPy, whose product of matrices is timed on one core. cores: those that a kernel may use."""
    with Context(THREADS=cores):
        times = least({label: ready(x, opts) for label, opts in ways.items()})
    operations, _ = work_of(x)
    if numpy:
        times["NumPy"] = operations / one_core().flops
    first = next(iter(times.values()))
    row = [
        Card(label, rate(operations, took), faster(first / took, n))
        for n, (label, took) in enumerate(times.items())
    ]
    return cards(row)


def steps(x: Tensor, opts: Any) -> Picture | None:
    """The loops of x before the first Opt and after each of them, and what they touch; it says so
    where there is no list of Opts yet."""
    if not isinstance(opts, (list, tuple)):
        print("There is no list of opts yet. Run this cell again when there is.")
        return None
    return kernel(x, opts, every=True)


def work_of(x: Tensor) -> tuple[float, float]:
    """How many operations the kernel of x does, and how many bytes it has to move at least."""
    item, _ = one_kernel(x, None, "work_of")
    return float(estimate_ops(item.ast)), float(estimate_mem(item.ast))


def climb(*kernels: tuple[Tensor, Mapping[str, Opts]]) -> None:
    """Draw kernels under the roof of one core: for each (x, {label: Opts}), a point for each list.

    Across: operations for each byte that has to be moved. Up: operations in a second, from the
    first label to the last. It ends in matplotlib's current figure: `plt.show()` shows it.
    """
    import matplotlib.pyplot as plt

    roof = one_core()
    _, axes = plt.subplots(figsize=(8, 4.4))
    for x, ways in kernels:
        operations, nbytes = work_of(x)
        across = operations / nbytes
        print(f"{across:.3g} operations for each byte: {', '.join(ways)}")
        times = least({label: ready(x, opts) for label, opts in ways.items()})
        rates = [operations / took / 1e9 for took in times.values()]
        (line,) = axes.plot([across] * len(rates), rates, marker="o", linestyle=":")
        for (label, height), place in zip(
            zip(times, rates, strict=True), _apart(rates), strict=True
        ):
            axes.annotate(
                f"{label}: {height:.3g}", (across, height), (across * 1.5, place), va="center",
                fontsize=8.5, color=line.get_color(),
            )  # fmt: skip
    ridge = roof.flops / roof.bandwidth
    left, right = 0.03, max(1e4, 4 * ridge)
    corners = [left * roof.bandwidth / 1e9, roof.flops / 1e9, roof.flops / 1e9]
    axes.plot([left, ridge, right], corners, color="#808080", linestyle="-", zorder=1)
    axes.annotate(f"NumPy: {roof.flops / 1e9:.3g}", (left * 1.3, roof.flops / 1e9), (0, 4),
                  textcoords="offset points", fontsize=8.5)  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylabel="GFLOP/s",
             xlabel="operations for each byte that has to be moved")  # fmt: skip
    axes.set_title(
        f"one core: {roof.flops / 1e9:.3g} GFLOP/s, memory {roof.bandwidth / 1e9:.3g} GB/s"
    )
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.grid()


CLOSEST = 1.28  # times: two labels on an axis with a logarithmic scale


def _apart(heights: Sequence[float]) -> list[float]:
    """Where labels for these heights go, none too close to the next one below."""
    places = dict.fromkeys(range(len(heights)), 0.0)
    least_free = 0.0
    for n in sorted(places, key=lambda n: heights[n]):
        places[n] = max(heights[n], least_free)
        least_free = places[n] * CLOSEST
    return list(places.values())


# ---- a plan of one's own -------------------------------------------------------------------------


def own_plan(nest: Callable[[Workload], Any]) -> Plan:
    """The plan for the kernels that a function has a Nest for; for others it gives None."""
    return Plan(
        "your own", "your function has a Nest for it",
        {"a Nest by your function": lambda k: isinstance(nest(k), Nest)}, nest,
    )  # fmt: skip


@contextmanager
def added(plan: Plan) -> Iterator[None]:
    """Inside of it, a plan is the first one of the table."""
    CPU.insert(0, plan)
    try:
        yield
    finally:
        CPU.remove(plan)


def with_own_plan(nest: Callable[[Workload], Any], x: Tensor) -> DrawnPicture | None:
    """A race between the plans as they are and with a plan of one's own; it says so where the
    function has no Nest for this kernel yet."""
    item, _ = one_kernel(x, None, "with_own_plan")
    if not isinstance(nest(workload(item.ast)), Nest):
        print(
            f"`{nest.__name__}` has no Nest for this kernel yet. Run this cell again when it does."
        )
        return None
    before = {"the plans as they are": ready(x)}
    with added(own_plan(nest)):
        before["with your plan"] = ready(x)
    times = least(before)
    first, own = times.values()
    return cards([
        Card("the plans as they are", time_of(first)),
        Card("with your plan", time_of(own), faster(first / own, 1)),
    ])  # fmt: skip


# ---- what BEAM finds -----------------------------------------------------------------------------


def searched(x: Tensor, width: int = 1) -> SearchResult:
    """What BEAM finds for the kernel of x, now or earlier; x stays lazy. ValueError where there is
    no search."""
    item, _ = one_kernel(x, None, "searched")
    with Context(NOOPT=0):
        found = search_result(item.ast, Device[x.device], width)
    if found is None:
        raise ValueError(f"there is no search on {x.device}, or no memory for one")
    return found


def price(found: SearchResult) -> DrawnPicture:
    """What a search found and what it cost, as cards; and after how many runs that is earned back.
    Its text is the same for each search."""
    gained = found.planned - found.seconds
    runs = f"{found.searched / gained:,.0f} runs" if gained > 0 else "never"
    return DrawnPicture(
        "what a search found, and what it cost",
        "what a search found, and what it cost: four numbers of this machine",
        cards([
            Card("with its plan", time_of(found.planned)),
            Card("with what BEAM found", time_of(found.seconds),
                 faster(found.planned / found.seconds, 1)),
            Card("the search", f"{found.searched:.1f} s", f"{found.tried} lists tried"),
            Card("earned back after", runs),
        ]).drawing,
    )  # fmt: skip
