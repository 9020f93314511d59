"""What a notebook measures: `best_times` of some calls, and a plot of them, `plot_times`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any


def best_times(runs: Sequence[Callable[..., Any]], *inputs: Any, repeats: int = 7) -> list[float]:
    """Seconds that the quickest of some calls of each took, run(*inputs). The calls take turns, so
    that whatever else the machine does slows all of them down alike."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(repeats):
        for run, taken in zip(runs, times, strict=True):
            start = time.perf_counter()
            run(*inputs)
            taken.append(time.perf_counter() - start)
    return [min(taken) for taken in times]


def plot_times(
    runs: dict[str, Callable[..., Any]],
    inputs: Callable[[int], Sequence[Any]],
    sizes: Sequence[int],
) -> None:
    """Plot how long some functions take, a line for each, over the number of elements.

    runs: {a line's label: a function of inputs(size)}. The title says how much faster the last of
    them is than the first, at the smallest size and at the largest.
    """
    import matplotlib.pyplot as plt

    seconds = [best_times(list(runs.values()), *inputs(size)) for size in sizes]
    _, axes = plt.subplots(figsize=(6.5, 3.4))
    for label, marker, line in zip(runs, "os^v", zip(*seconds, strict=True), strict=False):
        axes.loglog(sizes, [taken * 1e3 for taken in line], marker=marker, label=label)
    axes.set(xlabel="elements", ylabel="milliseconds")
    axes.legend()
    small, large = (times[0] / times[-1] for times in (seconds[0], seconds[-1]))
    axes.set_title(
        f"on your machine: {small:.1f}× faster with {sizes[0]:,} elements,\n"
        f"{large:.1f}× faster with {sizes[-1]:,}",
        fontsize=14,
    )
