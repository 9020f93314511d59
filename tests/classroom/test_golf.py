"""Matmul golf: what counts is Opts. Being too slow costs nothing, and no test needs a clock.

What can't be applied is planted beside the first hole (test_answers.py)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from classroom.exercise import Outcome, judge
from classroom.learner import record
from classroom.puzzlebook import play
from classroom.puzzlebook.game import exercise_of
from classroom.puzzlebook.games import golf
from classroom.puzzlebook.games.golf import GAME, GOAL, ROUNDS, Stroke, matrices
from classroom.race import ready
from classroom.tiles import LANES, planned
from tinyframe.codegen.optimize.loops import Opt, OptOps

NOTEBOOK = Path(__file__).parents[2] / "solutions" / "course" / "07c_fast.ipynb"
VECTOR = Opt(OptOps.VECTOR, 1, LANES)
TILE = [Opt(OptOps.UPCAST, 1, 2), Opt(OptOps.UPCAST, 0, 6)]
TIDY = [Opt(OptOps.REORDER, (1, 0, 2)), Opt(OptOps.STAGE, 0, 2)]
ALL_FIRST = Opt(OptOps.STAGE, -1, 2)
BEST = {
    64: [VECTOR, Opt(OptOps.UPCAST, 0, 8)],
    192: [VECTOR, *TILE],
    512: [VECTOR, *TILE, ALL_FIRST],
}

HOLES = GAME.puzzles

every_hole = pytest.mark.parametrize("hole", HOLES, ids=lambda hole: hole.name)


class Fake:
    """A kernel that really runs once, for its values, and takes the seconds it is told to take."""

    def __init__(self, real, seconds):
        self.real, self.seconds, self.runs = real, iter(seconds), 0
        real()

    def __call__(self):
        self.runs += 1
        self.last = next(self.seconds, getattr(self, "last", None))
        return self.last

    def values(self):
        return self.real.values()


@pytest.fixture
def clock(monkeypatch):
    """clock(yours, plans): sets what one run takes of each, in turns. Gives the kernels made."""
    made: dict[str, Fake] = {}

    def setting(yours, plans=(1.0,)):
        def fake(x, opts=None):
            label, seconds = ("the plan's", plans) if opts is None else ("yours", yours)
            made[label] = Fake(ready(x, opts), seconds)
            return made[label]

        monkeypatch.setattr(golf, "ready", fake)
        monkeypatch.setattr(golf, "undisturbed", lambda run: run)
        return made

    return setting


def tried(hole, answer) -> tuple[Outcome, Stroke]:
    stroke = hole.trial()
    return judge(exercise_of(hole, stroke.check), answer), stroke


def test_the_worked_answers_take_no_more_than_a_plan():
    cells = ["".join(c["source"]) for c in json.loads(NOTEBOOK.read_text())["cells"]]
    scope = {"Opt": Opt, "OptOps": OptOps, "vector": VECTOR, "six_by_two": TILE}
    scope |= dict(zip(("columns_first", "tidy"), TIDY, strict=True))
    for hole in HOLES:
        (cell,) = [text for text in cells if f'puzzle("{hole.name}"' in text]
        exec(re.sub(r"puzzle\(.*", "", cell), scope)
        assert hole.best < len(scope[hole.name]) <= 5


@every_hole
def test_par_is_what_the_plan_takes_here(hole):
    a, b = matrices(hole.size)
    assert hole.par_here == len(ready(a @ b).kernel.spec.opts) >= hole.best


@every_hole
def test_the_fewest_that_are_known_are_possible_and_right(hole, clock):
    clock(yours=(1.0,))
    outcome, stroke = tried(hole, BEST[hole.size])
    assert outcome.state == "right" and stroke.score == hole.best
    assert outcome.text.endswith("and we know no better way.")


def test_the_goal_is_what_the_plan_reaches_and_a_bit_less(clock):
    clock(yours=(1.0,))
    a, b = matrices(512)
    outcome, stroke = tried(HOLES[2], planned(a @ b).opts)
    assert GOAL < 1 and outcome.state == "right"
    assert stroke.score == 5
    assert outcome.text.startswith("5 Opts for 100% of the plan's speed.")
    assert outcome.text.endswith("It can be done in 4. Can you?")


def test_too_slow_is_told_by_how_much_and_is_no_wrong_answer(clock):
    clock(yours=(1.25,))
    outcome, stroke = tried(HOLES[0], [VECTOR])
    assert outcome.state == "open" and stroke.score is None
    assert "The numbers are right" in outcome.text
    assert "80% of what the plan's loops reach. The goal is 90%." in outcome.text


def test_the_best_of_several_runs_counts(clock):
    made = clock(yours=[1.0, *[5.0] * 9, 1.0], plans=[3.0] * 11 + [1.0])
    outcome, stroke = tried(HOLES[0], BEST[64])
    assert outcome.state == "right" and stroke.seconds["yours"] == 1.0
    assert made["yours"].runs > made["the plan's"].runs  # one run was for its values


def test_a_kernel_that_was_disturbed_gets_another_round(clock):
    made = clock(yours=[1.3] * 9 + [1.0])
    outcome, _ = tried(HOLES[0], BEST[64])
    assert outcome.state == "right" and made["yours"].runs > 9


def test_what_is_hopeless_is_told_after_one_round(clock):
    made = clock(yours=(20.0,))
    outcome, _ = tried(HOLES[0], [])
    assert outcome.state == "open" and "5% of" in outcome.text
    few = made["yours"].runs
    made = clock(yours=(1.3,))
    tried(HOLES[0], [])
    assert made["yours"].runs > 2 * few and ROUNDS > 2


def test_different_numbers_are_wrong(clock, monkeypatch):
    clock(yours=(1.0,))
    monkeypatch.setattr(Fake, "values", lambda self: self.real.values() + np.float32(0.5))
    outcome, stroke = tried(HOLES[0], [VECTOR])
    assert outcome.state == "wrong" and "different numbers" in outcome.text
    assert stroke.score is None


@pytest.mark.parametrize("form", [tuple, iter, list])
def test_a_list_counts_in_whatever_form_it_comes(form, clock):
    clock(yours=(1.0,))
    outcome, stroke = tried(HOLES[0], form(BEST[64]))
    assert outcome.state == "right" and stroke.score == 2


def test_the_real_kernels_run_and_are_timed():
    """Whatever comes out: on a machine with other vectors it may be slow."""
    outcome, stroke = tried(HOLES[0], BEST[64])
    assert outcome.state in ("right", "open") and stroke.reached > 0
    assert "GFLOP/s" in stroke.picture().text


def test_the_best_is_kept_and_being_slow_leaves_no_trace(clock, tmp_path, monkeypatch, capsys):
    (tmp_path / record.COPY).mkdir()
    monkeypatch.chdir(tmp_path / record.COPY)
    clock(yours=(9.0,))
    play.puzzle("golf_64", [VECTOR])
    assert capsys.readouterr().out.startswith("○ golf_64 open. The numbers are right")
    assert not (tmp_path / record.COPY / record.FILE).exists()
    clock(yours=(1.0,))
    for opts in (BEST[64], [VECTOR, *TILE]):
        play.puzzle("golf_64", opts)
    play.puzzles(GAME.name)
    rows = capsys.readouterr().out.splitlines()
    par = HOLES[0].par_here
    said = f"{par - 2} under par" if par > 2 else "par"
    assert f"golf_64 ✓ 2 {par} 2 {said}".split() in [row.split() for row in rows]
    assert rows[-1] == "1 of 3 done."
