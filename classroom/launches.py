"""What a launch costs on this machine: a kernel's time over its size, and the line through that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from classroom.speed import seconds_of
from tinyframe import Tensor
from tinyframe.run.realize import get_kernel
from tinyframe.uop.node import Ops

TURNS = 15
Fit = Callable[[list[int], list[float]], Any]


def seconds_of_additions(device: str, sizes: Sequence[int]) -> list[float]:
    """The least that the kernel of x + y took, without the Python that plans it, for some sizes."""
    return [_least(device, size) for size in sizes]


def _least(device: str, size: int) -> float:
    x, y = (Tensor(np.ones(size, np.float32), device=device).realize() for _ in range(2))
    total = x + y
    (item,) = [item for item in total.schedule() if item.ast.op is Ops.SINK]
    kernel, bufs = get_kernel(item.ast, device), item.bufs
    return min(seconds_of(lambda: kernel(bufs, {})) for _ in range(TURNS))


def line_of(sizes: Sequence[int], seconds: Sequence[float]) -> tuple[float, float]:
    """(seconds of a launch, seconds of each element): the line that misses no point by many
    percent."""
    weights = 1 / np.asarray(seconds, float)
    each, launch = np.polyfit(np.asarray(sizes, float), np.asarray(seconds, float), 1, w=weights)
    return max(float(launch), 0.0), float(each)


def plot_launches(fit: Fit, devices: Mapping[str, Sequence[int]]) -> None:
    """Plot the times of x + y on some devices, and the line that `fit` makes of each; ours, where
    it makes none yet."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogFormatter

    _, axes = plt.subplots(1, len(devices), figsize=(8.5, 3.6), squeeze=False)
    for axis, (device, sizes) in zip(axes[0], devices.items(), strict=True):
        seconds = seconds_of_additions(device, sizes)
        launch, each = _fitted(fit, list(sizes), seconds)
        axis.loglog(sizes, np.multiply(seconds, 1e6), "o", label="measured")
        axis.loglog(sizes, [1e6 * (launch + each * n) for n in sizes], "-", label="your line")
        axis.yaxis.set_major_formatter(LogFormatter())  # 30, and not 3 × 10¹
        axis.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1, 0.4)))
        axis.set(xlabel="elements", ylabel="microseconds" if axis is axes[0][0] else "")
        axis.set_title(
            f"{device}: a launch {launch * 1e6:,.1f} µs,\nan addition {_short(each * 1e9)} ns\n"
            f"a launch = {launch / each:,.0f} additions",
            fontsize=11,
        )
        axis.legend(fontsize=8)


def _short(value: float) -> str:
    """A number with two digits, or with all that stand before the point."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _fitted(fit: Fit, sizes: list[int], seconds: list[float]) -> tuple[float, float]:
    try:
        launch, each = map(float, fit(sizes, seconds))
    except Exception:  # not written yet, or wrong: the check says how
        return line_of(sizes, seconds)
    return (launch, each) if launch >= 0 and each > 0 else line_of(sizes, seconds)
