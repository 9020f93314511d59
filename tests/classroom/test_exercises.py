"""Every exercise: untouched it is open, typical wrong answers are wrong for the reason they are."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from classroom.exercise import judge
from classroom.exercises import exercises, find, parts
from classroom.guesses import Prediction
from tinyframe import Tensor

ALL = [exercise for part in parts() for exercise in exercises(part)]
PREDICTIONS = [exercise for exercise in ALL if exercise.shown_by]
# What learners might answer, part by part: GUESSES of predictions, WRONG answers and what is said
# about them, OBJECTS: exercises that ask for an object, and not for a function.
# A part has one file of them, or one for each notebook: part_07a, part_07b …
FILES = sorted((Path(__file__).parent / "answers").glob("part_*.py"))
ANSWERS = [import_module(f"tests.classroom.answers.{file.stem}") for file in FILES]
GUESSES = {number: guesses for part in ANSWERS for number, guesses in part.GUESSES.items()}
WRONG = [row for part in ANSWERS for row in part.WRONG]
OBJECTS = {number for part in ANSWERS for number in part.OBJECTS}
FUNCTIONS = [e for e in ALL if not e.shown_by and e.number not in OBJECTS]

every_exercise = pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.number)
every_function = pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda e: e.number)
every_prediction = pytest.mark.parametrize("exercise", PREDICTIONS, ids=lambda e: e.number)


def test_the_table_is_in_order_and_names_are_unique():
    for part in parts():
        numbers = [e.number for e in exercises(part)]
        assert numbers == [f"{part}.{n}" for n in range(1, len(numbers) + 1)]
    assert len({e.name for e in ALL}) == len(ALL)
    assert len(exercises(4)) >= 10


@every_exercise
def test_there_are_two_hints_and_a_title(exercise):
    assert len(exercise.hints) >= 2 and len(set(exercise.hints)) == len(exercise.hints)
    assert all(hint.endswith((".", "?")) for hint in exercise.hints)
    assert exercise.title and find(exercise.number) is exercise


@every_exercise
@pytest.mark.parametrize("answer", [..., None, (..., ...), [1, ...]], ids=str)
def test_what_the_learners_version_begins_with_is_open(exercise, answer):
    assert judge(exercise, answer).state == "open"


@every_function
def test_an_unwritten_function_is_open(exercise):
    def unwritten(*inputs):
        """What it should do."""
        ...

    outcome = judge(exercise, unwritten)
    assert outcome.state == "open" and outcome.text == ""


@every_function
def test_a_function_without_return_is_open_and_told_so(exercise):
    def forgetful(*inputs):
        result = len(inputs)
        print(end=str(result)[:0])

    outcome = judge(exercise, forgetful)
    assert outcome.state == "open" and "return" in outcome.text


@every_function
def test_a_function_that_raises_is_told_its_line(exercise):
    def broken(*inputs):
        return Tensor([1.0, 2.0]) + Tensor([1.0, 2.0, 3.0])

    outcome = judge(exercise, broken)
    assert outcome.state == "wrong" and "raised ShapeError: shapes (2,) and (3,)" in outcome.text
    assert dict(outcome.rows)["your line"].endswith(
        ": `return Tensor([1.0, 2.0]) + Tensor([1.0, 2.0, 3.0])`"
    )


@every_function
@pytest.mark.parametrize("result", ["three", 1.5, True, [1, 2], object], ids=repr)
def test_a_different_type_is_wrong_and_the_learner_is_told(exercise, result):
    outcome = judge(exercise, lambda *inputs: result)
    assert outcome.state == "wrong"
    assert "has to be" in outcome.text or "is a tuple of two" in outcome.text


@every_function
def test_no_function_at_all_is_wrong(exercise):
    for answer in (3, "three", Tensor([1.0])):
        assert "asks for a function" in judge(exercise, answer).text


@every_function
def test_a_function_of_other_arguments_is_wrong(exercise):
    outcome = judge(exercise, lambda: 1)
    assert outcome.state == "wrong" and "TypeError" in outcome.text


@every_prediction
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


@every_prediction
def test_a_guess_counts_in_whatever_form_it_is_typed(exercise):
    right = right_guess(exercise)
    forms = [[right]]
    with suppress(ValueError):  # several shapes are no array
        forms.append(np.array(right))
    if isinstance(right, tuple):
        forms += [list(right), str(right), f" {right} "[2:-2]]
    for form in forms:
        assert judge(exercise, form).state == "right", form


@every_prediction
def test_a_wrong_guess_is_told_nothing_but_that(exercise):
    right = right_guess(exercise)
    for guess in GUESSES[exercise.number]:
        outcome = judge(exercise, guess)
        assert (outcome.state == "right") is (guess == right)
        if guess != right and outcome.state == "wrong":
            assert outcome.text == f"you guessed {guess!r}" and outcome.rows == ()


def right_guess(exercise):
    assert isinstance(exercise.check, Prediction)
    return exercise.check.value


def test_every_prediction_has_guesses():
    assert set(GUESSES) == {e.number for e in PREDICTIONS}


@pytest.mark.parametrize("number, answer, said", WRONG, ids=[f"{n}-{s}" for n, _, s in WRONG])
def test_typical_wrong_answers_are_wrong_for_their_reason(number, answer, said):
    outcome, again = (judge(find(number), answer) for _ in range(2))
    words = " ".join([outcome.text, *[f"{label} {value}" for label, value in outcome.rows]])
    assert outcome.state == "wrong" and said in words, words
    assert (outcome.text, outcome.rows) == (again.text, again.rows), "another time, another reason"


def test_every_function_has_typical_wrong_answers():
    asked = {e.number for e in ALL if not e.shown_by}
    assert {number for number, _, _ in WRONG} == asked


RIGHT = [row for part in ANSWERS for row in getattr(part, "RIGHT", [])]


@pytest.mark.parametrize(
    "number, answer", RIGHT, ids=[f"{number}-{n}" for n, (number, _) in enumerate(RIGHT, 1)]
)
def test_an_answer_that_is_right_in_its_own_way_is_right(number, answer):
    outcome = judge(find(number), answer)
    assert outcome.state == "right", (outcome.text, outcome.rows)
