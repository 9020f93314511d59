"""The scavenger hunt: its questions, its scoreboard, and that nothing in tinyframe stays changed.
What answers are told is planted beside each question (test_answers.py)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from classroom.learner import record
from classroom.puzzlebook import play
from classroom.puzzlebook.game import games
from classroom.puzzlebook.games.hunt import GAME
from classroom.puzzlebook.hunted import Names, Words
from tinyframe import thresholds
from tinyframe.algebra.symbolic import value_rules
from tinyframe.viz import why

NOTEBOOK = Path(__file__).parents[2] / "solutions" / "course" / "10c_scavenger_hunt.ipynb"
BY_NAME = {question.name: question for question in GAME.puzzles}


@pytest.fixture(autouse=True, scope="module")
def nothing_stays_changed():
    rules, numbers = [*value_rules.rules], {n: getattr(thresholds, n) for n in thresholds.TABLE}
    yield
    assert [*value_rules.rules] == rules
    assert {n: getattr(thresholds, n) for n in thresholds.TABLE} == numbers


def test_each_question_stands_in_the_notebook():
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    for question in GAME.puzzles:
        (asked,) = [text for text in texts if text.startswith(f"**{question.name}.**")]
        assert " ".join(question.sentence.split())[-40:] in " ".join(asked.split()), question.name
    assert sum(isinstance(question.check, (Names, Words)) for question in GAME.puzzles) == 13


@pytest.mark.parametrize("name", BY_NAME)
def test_there_is_an_answer_and_no_hint_gives_it_away(name):
    check, question = BY_NAME[name].check, BY_NAME[name]
    if isinstance(check, Names):
        assert check.places and not any(p.short in question.sentence for p in check.places)
        assert not any(f"`{place.short}`" in question.hints[0] for place in check.places)
    elif isinstance(check, Words):
        assert check.right and not any(word in question.sentence for word in check.right)


def test_the_scoreboard_has_no_scores_and_counts_what_is_done(tmp_path, monkeypatch, capsys):
    (tmp_path / record.COPY).mkdir()
    monkeypatch.chdir(tmp_path / record.COPY)
    play.puzzle("dead_end", "CMPLT")
    play.puzzle("watchman", "BEAM")
    play.puzzle("one_number", ("CHEAP", 100))  # changes it, and puts it back
    capsys.readouterr()
    play.puzzles("hunt")
    board = capsys.readouterr().out.splitlines()
    assert board[0].split() == ["puzzle", "done"]
    assert board[-1] == "2 of 20 done."
    done = [line.split() for line in board[1:-1] if "✓" in line]
    assert done == [["one_number", "✓"], ["dead_end", "✓"]]


def test_games_are_in_the_order_of_the_course():
    assert [game.part for game in games()] == ["3b", "7a", "7c", "8c", "10c"]


def test_reasons_are_those_that_why_prints():
    from classroom.puzzlebook.hunted import scaled

    assert "needed 4 times" in {stored.reason for stored in why(scaled())}
