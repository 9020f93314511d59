"""How fast a kernel is with Opts of one's own, beside NumPy and under this machine's roof.

    race(a @ b, {"as written": [], "vectors": [Opt(OptOps.VECTOR, 1, 8)]})     cards
    climb(a @ b, {"as written": [], "vectors": [Opt(OptOps.VECTOR, 1, 8)]})    the roofline

Everything is timed on one core. What differs from machine to machine is in pictures, or written in
a form that tests of notebooks do not compare.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib import import_module
from math import inf
from time import get_clock_info, thread_time
from typing import Any

import numpy as np

from classroom.learner import kept
from classroom.speed import Card, cards, faster, rate, seconds_of, time_of
from classroom.tiles import workload
from tinyframe.codegen import get_program
from tinyframe.codegen.optimize.loops import Opt
from tinyframe.codegen.optimize.plans import CPU, Nest, Plan, Workload
from tinyframe.codegen.program import estimate_mem, estimate_ops
from tinyframe.device import Device
from tinyframe.run.realize import CompiledKernel
from tinyframe.schedule.kernels import ScheduleItem
from tinyframe.search.beam import SearchResult, search_result
from tinyframe.settings import Context
from tinyframe.tensor.core import Tensor
from tinyframe.viz.kernels import one_kernel
from tinyframe.viz.nests import kernel
from tinyframe.viz.picture import DrawnPicture, Picture
from tinyframe.viz.roof import COPIED, SIZE, Roof

SECONDS = 0.4  # that a kernel is timed for
FEWEST, MOST = 3, 60  # times that it runs

INTERRUPTED = 1e-3  # seconds: what runs longer may have been
FINE_CLOCK = get_clock_info("thread_time").resolution < 1e-5

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


def planned_opts(x: Any) -> list[Opt]:
    """Those of the plan of x, on this machine."""
    item, _ = one_kernel(x, None, "planned_opts")
    with Context(NOOPT=0, BEAM=0, DEBUG=0):
        return get_program(item.ast, Device[item.bufs[0].device].renderer).opts


def lanes() -> int:
    """How many floats one vector of this machine has."""
    return Device[Device.DEFAULT].renderer.target.vector_bytes // 4


def undisturbed(run: Callable[[], float]) -> Callable[[], float]:
    """The same, without the time that other programs had the core meanwhile. That is known of what
    runs on one core, long enough to be interrupted and to be measured by such a clock."""

    def measured() -> float:
        start = thread_time()
        seconds = run()
        own = thread_time() - start
        return min(own, seconds) if seconds > INTERRUPTED and FINE_CLOCK else seconds

    return measured


def least(runs: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """The least seconds of each, in turns, so that all of them see the same noise. What is slow
    runs a few times only."""
    best = dict.fromkeys(runs, inf)
    spent = dict.fromkeys(runs, 0.0)
    for turn in range(MOST):
        for label, run in runs.items():
            if turn < FEWEST or spent[label] < SECONDS:
                took = run()
                best[label], spent[label] = min(best[label], took), spent[label] + took
    return best


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Inside of it, NumPy multiplies matrices on one core, as far as its BLAS lets itself be told
    so. scikit-learn brings what tells it."""
    try:
        limit = import_module("threadpoolctl").threadpool_limits(1)
    except ImportError:
        limit = nullcontext()
    with limit:
        yield


@functools.cache
def roof_runs() -> dict[str, Callable[[], float]]:
    """What is timed for the roof, by NumPy: a product of matrices; and for memory a copy and a dot
    product, which only reads. (A copy may read what it is about to overwrite, and nobody counts
    that.)"""
    a = np.random.default_rng(0).random((SIZE, SIZE), np.float32)
    numbers = np.ones(COPIED // 4, np.float32)
    out, other = np.empty_like(a), np.ones_like(numbers)
    runs = {
        "NumPy": lambda: np.matmul(a, a, out=out),
        "copy": lambda: np.copyto(other, numbers),
        "dot": lambda: np.dot(numbers, other),
    }
    return {label: functools.partial(seconds_of, run) for label, run in runs.items()}


def timed(
    x: Tensor, ways: Mapping[str, Opts | None], cores: int = 1
) -> tuple[dict[str, float], Roof]:
    """The seconds of x with each list of Opts, and the roof of one core, all timed in turns."""
    with Context(THREADS=cores), one_blas_thread():
        runs: dict[str, Callable[[], float]] = {**roof_runs()}
        runs |= {label: ready(x, opts) for label, opts in ways.items()}
        if cores == 1:
            runs = {label: undisturbed(run) for label, run in runs.items()}
        times = least(runs)
    reading, copying, product = (times.pop(label) for label in ("dot", "copy", "NumPy"))
    return times, Roof(2 * SIZE**3 / product, 2 * COPIED / min(reading, copying))


def race(
    x: Tensor, ways: Mapping[str, Opts | None], *, numpy: bool = True, cores: int = 1
) -> DrawnPicture:
    """A card for each list of Opts, with GFLOP/s (None: those of the plan), and at the end one for
    NumPy, whose product of matrices is timed on one core. cores: those that a kernel may use."""
    times, roof = timed(x, ways, cores)
    operations, _ = work_of(x)
    if numpy:
        times["NumPy"] = operations / roof.flops
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


def climb(*kernels: tuple[Tensor, Mapping[str, Opts]]) -> dict[str, float]:
    """Draw kernels under the roof of one core: for each (x, {label: Opts}), a point for each list;
    GFLOP/s by label, and NumPy's.

    Across: operations for each byte that has to be moved. Up: operations in a second, from the
    first label to the last. It ends in matplotlib's current figure: `plt.show()` shows it.
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogFormatter

    _, axes = plt.subplots(figsize=(8, 4.4))
    roof, heights = Roof(0, 0), list[float]()
    drawn = list[tuple[float, dict[str, float], Any]]()
    for x, ways in kernels:
        operations, nbytes = work_of(x)
        across = operations / nbytes
        print(f"{across:.3g} operations for each byte: {', '.join(ways)}")
        times, now = timed(x, ways)
        roof = Roof(max(roof.flops, now.flops), max(roof.bandwidth, now.bandwidth))
        rates = [operations / took / 1e9 for took in times.values()]
        heights += rates
        _keep(across, times, rates, roof)
        (line,) = axes.plot([across] * len(rates), rates, marker="o", linestyle=":")
        drawn.append((across, dict(zip(times, rates, strict=True)), line.get_color()))
    ridge = roof.flops / roof.bandwidth
    for across, points, color in drawn:
        taken = roof.flops / 1e9 if across > ridge else 0.0
        for (label, height), place in zip(
            points.items(), _apart([*points.values()], taken), strict=True
        ):
            axes.annotate(
                f"{label}: {height:.3g}", (across, height), (across * 1.5, place), va="center",
                fontsize=8.5, color=color,
            )  # fmt: skip
    left, right = 0.03, max(1e4, 4 * ridge)
    corners = [left * roof.bandwidth / 1e9, roof.flops / 1e9, roof.flops / 1e9]
    axes.plot([left, ridge, right], corners, color="#808080", linestyle="-", zorder=1)
    axes.annotate(f"NumPy: {roof.flops / 1e9:.3g}", (left * 1.3, roof.flops / 1e9), (0, 4),
                  textcoords="offset points", fontsize=8.5)  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylabel="GFLOP/s",
             ylim=(min(heights) / 2, 3 * max(roof.flops / 1e9, *heights)),
             xlabel="operations for each byte that has to be moved")  # fmt: skip
    axes.set_title(
        f"one core: {roof.flops / 1e9:.3g} GFLOP/s, memory {roof.bandwidth / 1e9:.3g} GB/s"
    )
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(LogFormatter())  # 20, 40, if there's no power of ten to see
    axes.grid()
    points = {label: height for _, points, _ in drawn for label, height in points.items()}
    return points | {"NumPy": roof.flops / 1e9}


def _keep(across: float, labels: Iterable[str], rates: Sequence[float], roof: Roof) -> None:
    """Keep a climb for the portfolio: the one with the most steps, and of those the highest. Only a
    product of matrices has more operations than bytes."""
    if across > 1:
        kept.keep("climb", len(rates) + 1 - 1 / (1 + max(rates)), {
            "rates": dict(zip(labels, rates, strict=True)), "intensity": across,
            "flops": roof.flops / 1e9, "bandwidth": roof.bandwidth / 1e9,
        })  # fmt: skip


CLOSEST = 1.28  # times: two labels on an axis with a logarithmic scale


def _apart(heights: Sequence[float], taken: float = 0.0) -> list[float]:
    """Where labels for these heights go, none too close to the next one below, or on a line at the
    height `taken`."""
    places = dict.fromkeys(range(len(heights)), 0.0)
    least_free, half = 0.0, CLOSEST**0.6
    for n in sorted(places, key=lambda n: heights[n]):
        places[n] = max(heights[n], least_free)
        if taken / half < places[n] < taken * half:
            places[n] = taken * half
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
def installed(plan: Plan) -> Iterator[None]:
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
    runs = [ready(x)]
    with installed(own_plan(nest)):
        runs.append(ready(x))
    times = least({str(n): undisturbed(run) for n, run in enumerate(runs)})
    first, own = times.values()
    return cards([
        Card("the plans as they are", time_of(first)),
        Card("with your plan", time_of(own), faster(first / own, 1)),
    ])  # fmt: skip


# ---- what BEAM finds -----------------------------------------------------------------------------


def searched(x: Tensor, width: int = 1) -> SearchResult:
    """What BEAM finds for the kernel of x, now or earlier; x stays lazy. It says beforehand how
    long that may take. ValueError where there is no search."""
    print("Searching. The first time this takes seconds, on some machines a minute.", flush=True)
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
