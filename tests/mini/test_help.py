"""hint("flat") and answer("flat"): two hints for whatever a learner writes, and then an answer."""

from __future__ import annotations

import json

import pytest

from classroom import answer, hint, reset
from classroom.exercises import find
from classroom.learner import record
from classroom.learner.start_page import recorded
from classroom.mini import helping, stages
from classroom.mini.stages import STAGES

ALL = [(stage, exercise) for stage in STAGES for exercise in helping.exercises(stage)]
everything = pytest.mark.parametrize("stage, exercise", ALL, ids=[e.name for _, e in ALL])


@everything
def test_there_are_two_hints_and_a_reason(stage, exercise):
    assert exercise.number in stages.asked(stage)
    assert len(set(exercise.hints)) == 2 and exercise.because
    for said in (*exercise.hints, exercise.because):
        assert said.endswith((".", "?")) and len(said) > 15
    assert exercise.hints[0].count("?") >= 1, "the first hint asks"


@everything
def test_no_hint_has_a_line_of_the_answer_in_it(stage, exercise):
    lines = helping.worked_answer(exercise).splitlines()
    for line in lines:
        code = "".join(line.removeprefix("return ").split("#")[0].split())
        if len(code) > 8 and not code.startswith(("def", "class", "@", "for", "if")):
            assert all(code not in "".join(said.split()) for said in exercise.hints), line


@everything
def test_the_worked_answer_is_the_references(stage, exercise):
    code = helping.worked_answer(exercise)
    assert code.splitlines()[0].startswith(("def ", "class ", "@"))
    assert "SOLUTION" not in code and "Examples" not in code
    compile(code, "the answer", "exec")


def test_every_stage_has_hints_for_what_it_asks_and_for_nothing_else():
    for stage in STAGES:
        told = {e.number for e in helping.exercises(stage) if len(e.hints) == 2 and e.because}
        assert told == set(stages.asked(stage))
        there = {path.stem for path in helping.place_of(stage, "").parent.glob("*.py")} - {"shared"}
        assert told <= there
        assert all(name in told or name.rpartition(".")[0] in told for name in there)


@pytest.mark.parametrize(
    "name, number",
    [("flat", "flat"), ("Array.sum", "Array.sum"), ("sum", "Array.sum"), ("matmul", "__matmul__"),
     ("toposort", "UOp.toposort"), ("new", "UOp.__new__"), ("Adam", "Adam")],
)  # fmt: skip
def test_a_function_is_found_by_its_name(name, number):
    assert find(name).number == number


def test_exercises_and_puzzles_are_found_as_before():
    assert find("4.3").number == "4.3" and find("outer").number == "outer"
    with pytest.raises(LookupError, match="no exercise 'flatt'"):
        find("flatt")


@pytest.fixture
def copy(tmp_path, monkeypatch):
    folder = tmp_path / "my_course"
    (folder / "course").mkdir(parents=True)
    monkeypatch.chdir(folder / "course")
    return folder


def test_the_answer_comes_after_the_hints_and_is_marked(copy, capsys):
    answer("flat")
    assert "The hints come first." in capsys.readouterr().out
    hint("flat")
    answer("flat")
    said = capsys.readouterr().out
    assert "flat, hint 1 of 2." in said and "There is one more hint first." in said
    hint("flat")
    answer("flat")
    said = capsys.readouterr().out
    assert "flat, hint 2 of 2." in said and '`answer("flat")` shows a worked answer' in said
    assert "def flat(index, shape):" in said and find("flat").because in said
    assert record.read(copy / ".progress.json")[0]["mini-3-flat"] == {"hints": 2, "helped": True}


def test_who_has_written_it_may_compare_at_once_and_that_is_no_help(copy, capsys):
    record.note_done([find("flat")])
    answer("flat")
    assert "def flat(index, shape):" in capsys.readouterr().out
    assert not record.read(copy / ".progress.json")[0]["mini-3-flat"]["helped"]


def test_reset_forgets_one_and_starting_a_file_over_forgets_all_of_its_stage(copy, capsys):
    names = ["mini-3", "mini-3-flat", "mini-3-Array.sum", "mini-4", "mini-4-interpret"]
    (copy / ".progress.json").write_text(
        json.dumps({"exercises": {n: {"hints": 1} for n in names}})
    )
    from pathlib import Path

    assert recorded(copy, Path("mini/part3.py"), b"") == names[:3]
    reset("flat")
    assert "Forgotten: flat." in capsys.readouterr().out
    assert "mini-3-flat" not in record.read(copy / ".progress.json")[0]


def test_without_a_copy_nothing_is_kept_and_the_answer_is_there(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    answer("flat")
    assert "def flat(index, shape):" in capsys.readouterr().out
