"""FAR: a device at the other end of a cable, which computes on the CPU and keeps a clock of what
it would have taken.

    Device._devices["FAR"] = Far
    with watching() as bill: (a.to("FAR") + b.to("FAR")).numpy()
    bill.seconds               # {"copies in": …, "launches": …, "work": …, "copies out": …}

The clock is made up, so it shows the same on every machine: a launch costs LAUNCH seconds, the
cable carries CABLE bytes a second, and the inside of a kernel's loops takes 1 / FAR_SPEED seconds.
Its kernels are those of a plain processor, however many lanes this one has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from tinyframe import Tensor
from tinyframe.device import Compiled, Device, Runner
from tinyframe.renderer.cstyle import CStyleLanguage
from tinyframe.runtime.host import HostAllocator, HostMemory
from tinyframe.viz.drawing import MUTED

LAUNCH, CABLE = 10e-6, 10e9  # seconds; bytes a second
FAR_SPEED, HERE_SPEED = 1e12, 1e9  # times that the inside of a loop runs in a second
KINDS = {"copies in": "#ffdf9e", "launches": "#e4d8f5", "work": "#8cbeeb", "copies out": "#ffb27a"}


class Bill:
    """The seconds of the made-up clock, by what they were for."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(KINDS, 0.0)

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


_watched: list[Bill] = []


@contextmanager
def watching() -> Iterator[Bill]:
    """A Bill for what FAR does meanwhile."""
    _watched.append(Bill())
    try:
        yield _watched[-1]
    finally:
        _watched.pop()


def _takes(kind: str, seconds: float) -> None:
    for bill in _watched:
        bill.seconds[kind] += seconds


class FarAllocator(HostAllocator):
    """The CPU's memory, at the other end of a cable."""

    def copyin(self, dst: HostMemory, src: memoryview) -> None:
        _takes("copies in", len(src) / CABLE)
        super().copyin(dst, src)

    def copyout(self, dst: memoryview, src: HostMemory) -> None:
        _takes("copies out", len(dst) / CABLE)
        super().copyout(dst, src)

    def as_array(self, opaque: HostMemory) -> Any:
        """None: Python can't reach what is at the other end, so it has to be copied."""
        return None


def _launched(run: Runner, steps: int, *bufs: Any, **how: Any) -> float | None:
    _takes("launches", LAUNCH)
    _takes("work", steps / FAR_SPEED)
    return run(*bufs, **how)


def _runner(name: str, lib: bytes) -> Callable[..., float | None]:
    """What launches a kernel. Its name has the sizes of its loops in it."""
    steps = math.prod(int(part) for part in name.split("_")[1:] if part.isdecimal())
    return partial(_launched, Device["CPU"].runner(name, lib), steps)


class Far(Compiled):
    """The CPU at the other end of a cable."""

    def __init__(self, device: str) -> None:
        compiler = Device["CPU"].compiler
        super().__init__(device, FarAllocator(), CStyleLanguage(), compiler, _runner)


# ---- there and back ------------------------------------------------------------------------------

Run = Callable[[Tensor, Tensor], Tensor]


def there_and_back(run: Run, *shape: int) -> Bill:
    """FAR's Bill for two arrays of a shape that are sent there, computed with, and the result."""
    Device._devices["FAR"] = Far
    arrays = [np.ones(shape, np.float32) for _ in range(2)]
    with watching() as bill:
        run(*[Tensor(array, device="CPU").to("FAR") for array in arrays]).numpy()
    return bill


def here(run: Run, *shape: int) -> float:
    """The seconds of the same on this side of the cable, by the same clock."""
    Device._devices["FAR"] = Far
    inputs = [Tensor(np.ones(shape, np.float32), device="FAR").realize() for _ in range(2)]
    with watching() as bill:
        run(*inputs).realize()
    return bill.seconds["work"] * FAR_SPEED / HERE_SPEED


def bills(titles: Sequence[str], runs: Sequence[tuple[Run, Sequence[tuple[int, ...]]]]) -> None:
    """Plot, for each of some runs and the shapes of their inputs, what FAR takes in percent of what
    is taken here; and print the times."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, len(runs), figsize=(8.5, 3.3), squeeze=False)
    for axis, title, (run, shapes) in zip(axes[0], titles, runs, strict=True):
        print(title)
        labels = [" × ".join(f"{size:,}" for size in shape) for shape in shapes]
        rows = [(there_and_back(run, *shape), here(run, *shape)) for shape in shapes]
        for label, (bill, near) in zip(labels, rows, strict=True):
            there = f"FAR {_time(bill.total)}"
            print(f"  {label:>13}   here {_time(near)}   {there}   {_winner(bill.total, near)}")
        _bars(axis, labels, [_shares(bill.seconds, near) for bill, near in rows])
        axis.set_title(title, fontsize=11)
    axes[0][0].set_ylabel("time on FAR, here = 100 %")
    axes[0][-1].legend(fontsize=8)


def _shares(seconds: Mapping[str, float], near: float) -> dict[str, float]:
    return {kind: 100 * took / near for kind, took in seconds.items()}


def _bars(axis: Any, labels: Sequence[str], rows: Sequence[Mapping[str, float]]) -> None:
    bottom = np.zeros(len(rows))
    for kind, colour in KINDS.items():
        heights = np.array([row[kind] for row in rows])
        axis.bar(labels, heights, bottom=bottom, color=colour, edgecolor="#7d7d7d", label=kind)
        bottom += heights
    axis.axhline(100, color=MUTED, linewidth=1, linestyle="--")
    axis.set_ylim(0, 250)
    for place, height in enumerate(bottom):
        if height > 250:
            axis.text(place, 235, f"{height:,.0f} %", ha="center", fontsize=9)
    axis.tick_params(axis="x", labelsize=8)


def _time(seconds: float) -> str:
    """Not "12.3 us", which tests of notebooks don't compare: these times are the same anywhere."""
    return f"{seconds * 1e6:12,.1f} µs"


def _winner(far: float, near: float) -> str:
    return "FAR wins" if far < near else ""


def add(a: Tensor, b: Tensor) -> Tensor:
    return a + b


def addition_pays_from() -> str:
    """From how many elements on it pays to add two vectors on FAR, in a word."""
    for words, size in (("always", 1), ("thousands", 10_000), ("millions", 4_000_000)):
        if there_and_back(add, size).total < here(add, size):
            return words
    return "never"
