"""A mistake that is put into the compiler is there for its block, and no longer."""

from __future__ import annotations

import numpy as np
import pytest

from classroom.exercise import judge
from classroom.exercises import find
from classroom.lessons.where_the_time_goes.shared import Times
from classroom.sabotage import PLANTED, break_in, healthy, install, sabotage
from tinyframe import Context, Tensor
from tinyframe.codegen import passes
from tinyframe.observe import observing
from tinyframe.rewrite.spec import SpecError


def bills() -> list[float]:
    prices = Tensor([0.5, 2.25]).realize()
    return (Tensor([[2.0, 4.0], [1.0, 1.0]]).realize() * prices).sum(axis=1).tolist()


def test_results_are_wrong_inside_and_right_before_and_after():
    stages = list(passes)
    assert bills() == [10.0, 2.75]
    with sabotage(), Context(SPEC=0):
        assert bills() == [8.0, 2.0]  # 2 * 0 + 4 * 2 and 1 * 0 + 1 * 2
    assert bills() == [10.0, 2.75]
    assert passes == stages


def test_spec_names_the_stage_and_an_error_leaves_the_compiler_as_it_was():
    stages = list(passes)
    refused = pytest.raises(SpecError, match="after the stage 'tidy numbers': Ops.MUL")
    with refused, sabotage(), Context(SPEC=1):
        bills()
    assert passes == stages


def test_spec_refuses_a_kernel_that_was_compiled_before_it_was_on():
    prices = Tensor([0.5, 2.25]).realize()
    with sabotage():
        (prices * prices).sum().realize()
        with Context(SPEC=1), pytest.raises(SpecError, match="after the stage 'tidy numbers'"):
            (prices * prices).sum().realize()


@pytest.fixture
def broken_in(monkeypatch):
    """A compiler that somebody broke into, and that is put right in the end."""
    monkeypatch.setenv("SPEC", "1")  # puts back afterwards what it was
    stages = list(passes)
    break_in()
    yield stages
    passes[:] = stages


def test_whoever_breaks_in_stays_until_the_compiler_is_mended(broken_in, capsys):
    assert bills() == [8.0, 2.0]
    break_in()  # as a cell that is run again does
    assert passes == [PLANTED, *broken_in]
    install(stage for stage in passes if stage is not PLANTED)
    assert bills() == [10.0, 2.75] and passes == broken_in
    assert capsys.readouterr().out == f"Installed: a compiler of {len(broken_in)} stages.\n"


def test_a_healthy_compiler_is_lent_for_its_block(broken_in):
    with pytest.raises(ValueError, match="inside"), healthy():
        assert bills() == [10.0, 2.75] and passes == broken_in
        raise ValueError("inside")
    assert passes == [PLANTED, *broken_in]


@pytest.mark.parametrize(
    "spoiled",
    [
        lambda stages: None,
        lambda stages: [],
        lambda stages: stages[1:],
        lambda stages: [PLANTED, *stages],
        lambda stages: stages[::-1],
        lambda stages: [name for name, _ in stages],
        lambda stages: dict(stages),
    ],
)
def test_what_is_no_whole_compiler_is_not_installed(broken_in, capsys, spoiled):
    install(spoiled(broken_in))
    assert passes == [PLANTED, *broken_in]
    assert capsys.readouterr().out.startswith("Nothing was installed.")


# ---- chance --------------------------------------------------------------------------------------


def either(dice):
    return lambda *asked: bool(dice.random() < 0.5)


def any_kernel(dice):
    def slowest(run):
        times = Times()
        with observing(times):
            run()
        return times.kernels[dice.integers(len(times.kernels))][0]

    return slowest


BY_CHANCE = {"safe to replay": ("2.13", either, 20), "the slowest kernel": ("2.11", any_kernel, 5),
             "the rule": ("2.7", either, 5)}  # fmt: skip


@pytest.mark.parametrize("number, answer, tries", BY_CHANCE.values(), ids=BY_CHANCE)
def test_nobody_is_right_by_chance(number, answer, tries):
    for seed in range(tries):
        assert judge(find(number), answer(np.random.default_rng(seed))).state == "wrong", seed
