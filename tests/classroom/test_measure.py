"""Timing in notebooks: what is called how often, and what the plot shows. No time is compared."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

from classroom.measure import best_times, plot_each, plot_times, stages_run
from tinyframe import Tensor


def test_calls_take_turns_and_each_gets_a_time():
    calls: list[str] = []

    def run(name):
        return lambda *inputs: calls.append(name + "".join(inputs))

    times = best_times((run("a"), run("b")), "x", "y", repeats=3)
    assert calls == ["axy", "bxy"] * 3
    assert len(times) == 2 and all(seconds >= 0 for seconds in times)


def test_a_line_for_each_function_over_the_sizes():
    plot_times({"slow": sorted, "fast": len}, lambda size: [range(size)], [10, 1000])
    axes = plt.gca()
    assert [line.get_label() for line in axes.lines] == ["slow", "fast"]
    assert [list(line.get_xdata()) for line in axes.lines] == [[10, 1000]] * 2
    assert "with 10 elements" in axes.get_title() and "with 1,000" in axes.get_title()
    plt.close("all")


def test_the_share_of_each_number_over_n(monkeypatch):
    seconds = {10: [1e-6, 3e-6, 5e-6], 100: [2e-4, 5e-4, 3e-4]}
    monkeypatch.setattr("classroom.measure.best_times", lambda runs, n: seconds[n])
    runs = {"plain": abs, "turned": abs, "cut": abs}
    plot_each(runs, lambda n: [n], [10, 100], numbers=lambda n: n * n)
    axes = plt.gca()
    drawn = {line.get_label(): [round(y, 6) for y in line.get_ydata()] for line in axes.lines}
    assert drawn == {"plain": [10, 20], "turned": [30, 50], "cut": [50, 30]}  # nanoseconds
    assert "n = 100" in axes.get_title()
    assert "plain: 1×, turned: 2.5×, cut: 1.5×" in axes.get_title()
    plt.close("all")


def test_stages_are_run_for_a_new_structure_and_not_again():
    def made(size):
        return stages_run(lambda x: (x * 3 + 1).realize(), Tensor.ones(size).contiguous().realize())

    assert made(103) > made(103) == 0 < made(107)
