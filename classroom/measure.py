"""What a notebook measures: `best_times` of some calls; `plot_times`, `plot_each` plot them; and
`stages_run`, the work that was not found in a cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from classroom.speed import seconds_of
from tinyframe.observe import Observer, observing


def best_times(runs: Sequence[Callable[..., Any]], *inputs: Any, repeats: int = 7) -> list[float]:
    """Seconds that the quickest of some calls of each took, run(*inputs). The calls take turns, so
    that whatever else the machine does slows all of them down alike."""
    calls = [partial(run, *inputs) for run in runs]
    turns = [[seconds_of(call) for call in calls] for _ in range(repeats)]
    return [min(taken) for taken in zip(*turns, strict=True)]


def stages_run(run: Callable[..., Any], *inputs: Any) -> int:
    """How many stages of scheduling and compiling tinyframe goes through in run(*inputs). What is
    found in a cache takes none."""
    stages = _Stages()
    with observing(stages):
        run(*inputs)
    return stages.count


class _Stages(Observer):
    count = 0

    def stage(self, *told: Any) -> None:
        self.count += 1


def plot_times(
    runs: dict[str, Callable[..., Any]],
    inputs: Callable[[int], Sequence[Any]],
    sizes: Sequence[int],
) -> None:
    """Plot how long some functions take, a line for each, over the number of elements.

    runs: {a line's label: a function of inputs(size)}. The title says how much faster the last of
    them is than the first, at the smallest size and at the largest.
    """
    seconds = [best_times(list(runs.values()), *inputs(size)) for size in sizes]
    milliseconds = [[taken * 1e3 for taken in times] for times in seconds]
    axes = _lines(list(runs), sizes, milliseconds)
    axes.set(xlabel="elements", ylabel="milliseconds", xscale="log", yscale="log")
    small, large = (times[0] / times[-1] for times in (seconds[0], seconds[-1]))
    axes.set_title(
        f"on your machine: {small:.1f}× faster with {sizes[0]:,} elements,\n"
        f"{large:.1f}× faster with {sizes[-1]:,}",
        fontsize=14,
    )


def plot_each(
    runs: dict[str, Callable[..., Any]],
    inputs: Callable[[int], Sequence[Any]],
    sizes: Sequence[int],
    numbers: Callable[[int], int],
) -> None:
    """Plot how long some functions take for one number, over n: as plot_times, but of a run with
    numbers(n) numbers each has its share. The title says how many times as long as the first the
    others take at the largest n.
    """
    seconds = [best_times(list(runs.values()), *inputs(n)) for n in sizes]
    each = [[1e9 * t / numbers(n) for t in times] for n, times in zip(sizes, seconds, strict=True)]
    axes = _lines(list(runs), [str(n) for n in sizes], each)
    axes.set(xlabel="n", ylabel="nanoseconds for each number", ylim=(0, None))
    (first, *others), (least, *more) = runs, each[-1]
    times = [f"{label}: {t / least:.1f}×" for label, t in zip(others, more, strict=True)]
    axes.set_title(f"your machine, n = {sizes[-1]:,}\n{first}: 1×, {', '.join(times)}", fontsize=12)


def _lines(labels: Sequence[str], x: Sequence[Any], rows: Sequence[Sequence[float]]) -> Any:
    """Axes with a line for each label. rows: for each x, a value for each label."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(6.5, 3.4))
    for label, marker, line in zip(labels, "os^v", zip(*rows, strict=True), strict=False):
        axes.plot(x, line, marker=marker, label=label)
    axes.legend()
    return axes
