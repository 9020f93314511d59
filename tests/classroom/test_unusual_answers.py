"""Answers that nobody expected, and that are right: each is accepted."""

from __future__ import annotations

from importlib import import_module

import pytest

from classroom.exercise import judge
from classroom.exercises import find, parts

ANSWERS = [import_module(f"tests.classroom.answers.part_{part:02}") for part in parts()]
RIGHT = [row for part in ANSWERS for row in getattr(part, "RIGHT", [])]


@pytest.mark.parametrize(
    "number, answer", RIGHT, ids=[f"{number}-{i}" for i, (number, _) in enumerate(RIGHT)]
)
def test_an_unusual_answer_that_is_right_is_accepted(number, answer):
    outcome = judge(find(number), answer)
    assert outcome.state == "right", (outcome.text, outcome.rows)
