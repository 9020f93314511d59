"""Every exercise, before anybody answers it, and what no answer to any of them is."""

from __future__ import annotations

import random
from contextlib import suppress
from functools import cache

import numpy as np
import pytest

from classroom.ask import fresh_sizes
from classroom.exercise import Exercise, judge
from classroom.exercises import exercises, find, parts
from classroom.guesses import Prediction
from tinyframe import Tensor

ALL = [exercise for part in parts() for exercise in exercises(part)]
PREDICTIONS = [exercise for exercise in ALL if exercise.shown_by]
# they ask for a function, and don't call it with numbers to see what it gives
OTHERWISE = {
    "rules-largest",
    "rules-cheaper",
    "rules-own",
    "own-check",
    "elsewhere-to-tvm",
    "contributing-test",
}


@cache
def functions():
    asked = (exercise for exercise in ALL if exercise.name not in OTHERWISE)
    found = [e for e in asked if "asks for a function" in judge(e, Tensor([1.0])).text]
    assert len(found) > len(ALL) / 3
    return found


def test_the_table_is_in_order_and_names_are_unique():
    for part in parts():
        numbers = [e.number for e in exercises(part)]
        assert numbers == [f"{part}.{n}" for n in range(1, len(numbers) + 1)]
    assert len({e.name for e in ALL}) == len(ALL)
    assert len(exercises(4)) >= 10


def test_there_are_two_hints_and_a_title():
    for exercise in ALL:
        assert len(exercise.hints) >= 2 and len(set(exercise.hints)) == len(exercise.hints)
        assert all(hint.endswith((".", "?")) for hint in exercise.hints), exercise.name
        assert exercise.title and find(exercise.number) is exercise


# ---- what no function is ------------------------------------------------------------------------


def test_what_is_not_written_yet_is_open():
    def unwritten(*inputs):
        """What it should do."""
        ...

    def forgetful(*inputs):
        result = len(inputs)
        print(end=str(result)[:0])

    for exercise in ALL:
        for answer in (..., None, (..., ...), [1, ...]):
            assert judge(exercise, answer).state == "open", (exercise.name, answer)
    for exercise in functions():
        outcome = judge(exercise, unwritten)
        assert outcome.state == "open" and outcome.text == "", exercise.name
        outcome = judge(exercise, forgetful)
        assert outcome.state == "open" and "return" in outcome.text, exercise.name


def test_what_gives_something_else_or_takes_something_else_is_wrong():
    for exercise in functions():
        for answer in (3, "three"):
            assert "asks for a function" in judge(exercise, answer).text, exercise.name
        outcome = judge(exercise, lambda: 1)
        assert outcome.state == "wrong" and "TypeError" in outcome.text, exercise.name
        for result in ("three", 1.5, True, [1, 2], object):
            outcome = judge(exercise, lambda *inputs, result=result: result)
            assert outcome.state == "wrong", (exercise.name, result)
            assert "has to be" in outcome.text or "is a tuple of two" in outcome.text


def test_a_function_that_raises_is_told_its_line():
    def broken(*inputs):
        return Tensor([1.0, 2.0]) + Tensor([1.0, 2.0, 3.0])

    for exercise in functions():
        outcome = judge(exercise, broken)
        assert outcome.state == "wrong", exercise.name
        assert "raised ShapeError: shapes (2,) and (3,)" in outcome.text
        assert dict(outcome.rows)["your line"].endswith(
            ": `return Tensor([1.0, 2.0]) + Tensor([1.0, 2.0, 3.0])`"
        )


def test_a_check_draws_the_same_each_time_and_nothing_of_the_learners():
    drawn = []

    def check(answer):
        drawn.append(fresh_sizes(5))
        return "Right."

    random.seed(7)
    expected = random.random()
    for name in ("one", "one", "two"):
        random.seed(7)
        judge(Exercise("9.1", name, "Draws", check, ("Draw.", "Draw again.")), 1)
        assert random.random() == expected
    assert drawn[0] == drawn[1] != drawn[2]


# ---- guesses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("exercise", PREDICTIONS, ids=lambda e: e.name)
def test_a_guess_of_no_use_is_asked_for_again(exercise):
    right = right_guess(exercise)
    malformed = [object(), {"a": 1}, Tensor([1.0]), [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]]
    malformed += (
        [(*right, right[0]), right[:-1], []] if isinstance(right, tuple) else [(right,) * 2]
    )
    for guess in malformed:
        outcome = judge(exercise, guess)
        assert outcome.state == "open", guess
        asked = ("This needs", "The answer has to be", "Choose one of")
        assert outcome.text.startswith(asked) and "Nothing was recorded" in outcome.text


@pytest.mark.parametrize("exercise", PREDICTIONS, ids=lambda e: e.name)
def test_a_guess_counts_in_whatever_form_it_is_typed(exercise):
    right = right_guess(exercise)
    forms = [[right]]
    with suppress(ValueError):  # several shapes are no array
        forms.append(np.array(right))
    if isinstance(right, tuple):
        forms += [list(right), str(right), f" {right} "[2:-2]]
    for form in forms:
        assert judge(exercise, form).state == "right", form


def right_guess(exercise):
    assert isinstance(exercise.check, Prediction)
    return exercise.check.value
