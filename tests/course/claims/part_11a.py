"""Part 11a: what its last page claims."""

from __future__ import annotations

import numpy as np

from classroom.contributing import planted
from classroom.contributing.clocks import MACHINES, Machine, in_turn
from classroom.contributing.drive_by import HUNKS, applied
from classroom.contributing.recorded import compared, kernels
from tests.course.claims import claim
from tinyframe import Tensor

PLACES = np.linspace(-3, 3, 25).astype(np.float32)


def formula(x: Tensor) -> Tensor:
    return (x == 0).where(1, (x * np.pi).sin() / (x * np.pi))


def slopes(x: Tensor) -> np.ndarray:
    return formula(x).sum().gradient(x)[0].numpy()


@claim("A test that has never failed says nothing.")
def one_that_cannot_fail_passes_on_whatever_is_wrong() -> None:
    for row in planted.VALUES:
        found = planted.tensor(row)(Tensor(PLACES)).numpy()
        for test, notices in ((np.sinc(PLACES), False), (found, True)):
            assert notices != np.allclose(test, np.sinc(PLACES), atol=1e-3), row.said


@claim(
    "A method that's made of other methods gets its gradient for nothing, and it may be worth just "
    "that."
)
def a_formula_has_a_gradient_that_is_lost_near_zero() -> None:
    x = Tensor(np.array([0.3, 1e-4, 0], np.float32)).realize()
    far, near, at_zero = slopes(x)
    expected = planted.slope(x.numpy())
    assert abs(far / expected[0] - 1) < 1e-5
    assert abs(near / expected[1] - 1) > 0.2 and np.isnan(at_zero)


@claim("Process replay shows which kernels a change altered, also where every test passes.")
def kernels_that_compute_the_same_are_told_apart() -> None:
    x = Tensor(PLACES).realize()
    values, before = x.tanh().tolist(), kernels(["x.tanh()", "x.sqrt()"])
    with applied(HUNKS["E"]):
        assert x.tanh().tolist() == values
        assert compared(before, kernels([*before])) == {"x.tanh()": "changed", "x.sqrt()": "same"}
    assert kernels([*before]) == before


@claim(
    "A fair comparison warms up, takes turns, takes many calls in a turn, and reports the middle."
)
def nothing_else_is_right_on_all_machines() -> None:
    def lasting(run, calls, clock):
        since = clock()
        for _ in range(calls):
            run()
        return clock() - since

    def cold(old, new, clock):
        return lasting(old, 50, clock) / lasting(new, 50, clock)

    def no_turns(old, new, clock):
        in_turn(old, new, clock)
        return lasting(old, 1000, clock) / lasting(new, 1000, clock)

    def single_calls(old, new, clock):
        return lasting(old, 1, clock) / (lasting(new, 1, clock) or 1)

    for compare, fair in ((in_turn, True), (cold, False), (no_turns, False), (single_calls, False)):
        machines = [Machine(name) for name in MACHINES]
        off = [abs(compare(m.old, m.new, m.clock) / m.truth - 1) for m in machines]
        assert (max(off) < 0.1) == fair, compare.__name__


@claim("It's only a cosmetic change.")
def a_division_makes_a_different_softmax() -> None:
    names = ["x.softmax()"]
    before = kernels(names)
    with applied(HUNKS["B"]):
        after = kernels(names)
    counts = [sum(source.count(" / 0.69314") for source in s[names[0]]) for s in (before, after)]
    assert counts[0] == 0 < counts[1]


@claim("The tests are green, so it works.")
def right_values_and_a_first_step_to_nan() -> None:
    x = Tensor(PLACES).realize()
    np.testing.assert_allclose(formula(x).numpy(), np.sinc(PLACES), atol=1e-6)
    assert np.isnan(slopes(x)[PLACES == 0]).all()


@claim("The shorter of two times belongs to the faster program.")
def the_slower_one_wins_on_a_fresh_start() -> None:
    machine = Machine("a fresh start")
    times = []
    for run in (machine.old, machine.new):
        since = machine.clock()
        run()
        times.append(machine.clock() - since)
    assert machine.truth > 1 and times[0] < times[1]
