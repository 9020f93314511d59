"""Times for plots: the calls take turns, and the quickest of each counts."""

from __future__ import annotations

import pytest

from classroom import measure


def test_the_quickest_of_each_counts_and_the_calls_take_turns(monkeypatch):
    takes = iter((5.0, 7.0, 3.0, 9.0))  # first, second, first, second
    now = [0.0]
    called = []
    monkeypatch.setattr("classroom.measure.time.perf_counter", lambda: now[0])

    def call(name):
        def run(x):
            called.append((name, x))
            now[0] += next(takes)

        return run

    best = measure.best_times([call("first"), call("second")], "x", repeats=2)
    assert best == pytest.approx([3.0, 7.0])
    assert called == [("first", "x"), ("second", "x")] * 2
