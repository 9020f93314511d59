"""Timing in notebooks: what is called how often, and what the plot shows. No time is compared."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

from classroom.measure import best_times, plot_times


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
