"""A part has two versions, worked and learner's: the second is the first with its answers cut out.

A release for students has no solutions/, and not this file.
"""

from __future__ import annotations

import ast
import json

from classroom import build
from classroom.exercises import exercises, parts, puzzles
from classroom.exercises.answers import stored
from tests.course.test_notebooks import (
    ASKED,
    LEARNERS,
    WORKED,
    code_cells,
    every_notebook,
    part_of,
    read,
    source,
    texts,
)

SAID = {"right": "✓", "open": "○"}


def test_each_part_is_there_in_both_versions():
    assert {1, 2, 4} <= {part_of(path) for path in WORKED}
    assert [path.name for path in WORKED] == [path.name for path in LEARNERS]


def test_the_worked_ones_are_what_their_texts_say():
    order = build.lesson_text.order(build.ROOT / build.LESSONS)
    assert not build.texts_drift(order, build.changed_texts(order))


def test_learners_versions_are_the_worked_ones_with_solutions_cut():
    drifted = [text for pair in build.pairs() if (text := build.drift(*pair))]
    assert not drifted, "run make course"


def test_the_stored_worked_answers_are_those_of_the_worked_notebooks():
    assert build.answers_drift() == ""
    assert list(stored()) == list(build.worked_answers())


def test_each_exercise_that_is_no_prediction_has_a_worked_answer():
    asked = [e.name for part in parts() for e in exercises(part) if not e.shown_by]
    asked += [puzzle.name for puzzle in puzzles()]
    assert sorted(stored()) == sorted(asked)
    for name, code in stored().items():
        ast.parse(code)
        assert code.strip() and "SOLUTION" not in code and "check(" not in code, name


def test_drift_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "ROOT", tmp_path)
    worked, learners = tmp_path / "worked.ipynb", tmp_path / "learners.ipynb"
    part = {path.name: path for path in LEARNERS}["04a_lazy_evaluation.ipynb"]
    worked.write_text((WORKED[0].parent / part.name).read_text())
    assert "missing" in build.drift(worked, learners)
    learners.write_text(part.read_text())
    assert build.drift(worked, learners) == ""
    tagged = '"metadata": {"tags": ["skip"]}'
    for old, new in (("Exercise", "Task"), ("realize()", "run()"), ('"metadata": {}', tagged)):
        learners.write_text(part.read_text().replace(old, new))
        assert "is not that of" in build.drift(worked, learners), old
    shorter = read(part)
    del shorter["cells"][-1]
    learners.write_text(json.dumps(shorter))
    assert "cells" in build.drift(worked, learners)


@every_notebook
def test_worked_answers_are_right_and_untouched_ones_open(path):
    state = "right" if path in WORKED else "open"
    for cell in code_cells(path):
        for number in ASKED.findall(source(cell)):
            shown = [texts(o).get("text/plain", "") for o in cell["outputs"]]
            assert [f"{SAID[state]} {number} {state}." in text for text in shown] == [True], shown
