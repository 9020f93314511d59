"""Times for plots: what is timed is computing, anew each time."""

from __future__ import annotations

from classroom.measure import nanoseconds_each
from tinyframe import GlobalCounters, Tensor


def test_each_run_computes_what_is_timed():
    x = Tensor.ones(41, 43).contiguous().realize()
    made = []

    def doubled(x):
        made.append(x * 2 + len(made))
        return made[-1]

    GlobalCounters.reset()
    assert nanoseconds_each(doubled, x, runs=3) > 0
    assert len(made) == 3 and GlobalCounters.kernel_count == 3
    assert made[2][0, 0].item() == 4.0


def test_the_time_is_that_of_one_element(monkeypatch):
    clock = iter((0, 8000, 10_000, 14_000))
    monkeypatch.setattr("classroom.measure.time.perf_counter_ns", lambda: next(clock))
    x = Tensor.ones(4, 5).contiguous().realize()
    assert nanoseconds_each(lambda x: x.T, x, runs=2) == 200.0  # the better: 4000 ns for 20
