"""Kernels with Opts of one's own, run and drawn. Nothing here depends on how fast they are."""

from __future__ import annotations

import functools
import sys
from itertools import count

import matplotlib.pyplot as plt
import numpy as np
import pytest
import threadpoolctl

from classroom import race
from classroom.race import climb, installed, least, own_plan, ready, searched, work_of
from classroom.tiles import planned
from tinyframe import Context, Tensor
from tinyframe.codegen.optimize.loops import KernelOptError, Opt, OptOps
from tinyframe.codegen.optimize.plans import CPU, Nest
from tinyframe.viz.roof import COPIED, SIZE

VECTOR = Opt(OptOps.VECTOR, 1, 8)


@pytest.fixture
def operands():
    rng = np.random.default_rng(3)
    return tuple(Tensor(rng.random((24, 24), np.float32)).realize() for _ in range(2))


@pytest.fixture
def roof(monkeypatch):
    """100 GFLOP/s and 20 GB/s."""
    seconds = {"NumPy": 2 * SIZE**3 / 100e9, "copy": 2 * COPIED / 20e9, "dot": 1.0}
    runs = {label: functools.partial(float, took) for label, took in seconds.items()}
    monkeypatch.setattr(race, "roof_runs", lambda: runs)
    monkeypatch.setattr(race, "FINE_CLOCK", False)


@pytest.mark.parametrize("opts", [None, [], [VECTOR], [VECTOR, Opt(OptOps.UPCAST, 0, 6)]])
def test_a_kernel_computes_the_same_with_any_opts(operands, opts):
    a, b = operands
    x = a @ b
    kernel = ready(x, opts)
    assert kernel() > 0
    np.testing.assert_allclose(kernel.values().reshape(24, 24), a.numpy() @ b.numpy(), rtol=1e-5)
    assert x.uop.op.name != "BUFFER"  # it is as lazy as it was


def test_without_opts_given_a_plan_decides_whatever_is_set(operands):
    a, b = operands
    with Context(NOOPT=1):
        assert ready(a @ b).kernel.spec.plan is not None
        assert ready(a @ b, []).kernel.spec.opts == []
    with pytest.raises(KernelOptError):
        ready(a @ b, [Opt(OptOps.VECTOR, 9, 8)])


def test_the_least_of_several_turns_counts():
    turns = {"one": count(5, -1), "other": count(1)}
    found = least({label: numbers.__next__ for label, numbers in turns.items()})
    assert found["one"] < 5 and found["other"] == 1


@pytest.mark.parametrize(
    "seconds, own, fine, counted",
    [
        (3.0, 1.0, True, 1.0),
        (1.0, 3.0, True, 1.0),
        (1e-4, 1e-5, True, 1e-4),
        (3.0, 1.0, False, 3.0),
    ],
    ids=["others had the core", "two clocks", "too short", "a coarse clock"],
)
def test_the_time_of_other_programs_does_not_count(monkeypatch, seconds, own, fine, counted):
    clock = iter([5.0, 5.0 + own])
    monkeypatch.setattr(race, "thread_time", lambda: next(clock))
    monkeypatch.setattr(race, "FINE_CLOCK", fine)
    assert race.undisturbed(lambda: seconds)() == pytest.approx(counted)


def test_what_is_slow_runs_a_few_times_only():
    runs = []
    least({"slow": lambda: runs.append(1) or 100.0})
    assert len(runs) == race.FEWEST


def test_the_roof_is_measured_on_one_core():
    a = Tensor.zeros(4).contiguous().realize()
    times, found = race.timed(a + 1, {"sum": []})
    assert found.flops > 0 and found.bandwidth > 0 and times.keys() == {"sum"}
    threads = [library["num_threads"] for library in threadpoolctl.threadpool_info()]
    with race.one_blas_thread():
        assert {lib["num_threads"] for lib in threadpoolctl.threadpool_info()} <= {1}
    assert [library["num_threads"] for library in threadpoolctl.threadpool_info()] == threads


def test_the_roof_is_measured_without_the_package_that_limits_threads(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    with race.one_blas_thread():
        assert min(run() for run in race.roof_runs().values()) > 0


def test_the_work_of_a_kernel_is_the_same_however_it_is_done(operands):
    a, b = operands
    assert work_of(a @ b) == (2 * 24**3, 3 * 4 * 24**2)


def test_a_race_has_a_card_for_each_and_numpy_last(operands, roof):
    a, b = operands
    lines = race.race(a @ b, {"loops": [], "vectors": [VECTOR]}).text.splitlines()
    assert [line.split()[0] for line in lines] == ["loops", "vectors", "NumPy"]
    assert lines[-1].split()[1] == "100.0"
    alone = race.race(a @ b, {"loops": [], "plan": None}, numpy=False, cores=2)
    assert len(alone.text.splitlines()) == 2


def test_a_climb_has_a_point_for_each_under_the_roof(operands, roof, capsys):
    a, b = operands
    climb((a @ b, {"loops": [], "vectors": [VECTOR]}), (a + b, {"sum": []}))
    axes = plt.gca()
    assert [len(line.get_xdata()) for line in axes.lines] == [2, 1, 3]
    said = [text.get_text().partition(":")[0] for text in axes.texts]
    assert said == ["loops", "vectors", "sum", "NumPy"]
    assert axes.get_title() == "one core: 100 GFLOP/s, memory 20 GB/s"
    assert capsys.readouterr().out.splitlines() == [
        "4 operations for each byte: loops, vectors",
        "0.0833 operations for each byte: sum",
    ]
    plt.close("all")


def test_labels_are_kept_apart():
    places = race._apart([50.0, 51.0, 1.0])
    assert places[2] == 1.0 and places[0] == 50.0 and places[1] >= 50.0 * race.CLOSEST


def test_no_label_is_on_the_roof():
    low, high = race._apart([30.0, 59.0], 60.0)
    assert low == 30.0 and high > 65.0


def test_an_own_plan_is_first_as_long_as_it_is_installed(operands):
    a, b = operands
    before = list(CPU)
    with installed(own_plan(lambda k: Nest(((OptOps.VECTOR, k.around[1], 4),)))):
        assert planned(a @ b).opts == [Opt(OptOps.VECTOR, 1, 4)]
    with installed(own_plan(lambda k: None)):
        assert planned(a @ b).name == "short sum"
    assert before == CPU


def test_a_search_finds_something_and_runs_nothing_of_the_tensor(operands):
    x = operands[0][:4] * 3
    found = searched(x)
    assert found.tried > 0 and found.seconds <= found.planned
    assert x.uop.op.name != "BUFFER"
