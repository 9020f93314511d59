"""Every exercise: untouched it is open, typical wrong answers are wrong for the reason they are."""

from __future__ import annotations

import pytest

from classroom.exercise import judge
from classroom.exercises import exercises, find, parts
from tinyframe import Tensor
from tinyframe.uop import Ops, UOp

ALL = [exercise for part in parts() for exercise in exercises(part)]
PREDICTIONS = [exercise for exercise in ALL if exercise.shown_by]
# answers that are objects, and not functions
OBJECTS = {"1.4", "2.1"}
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
def test_another_type_is_wrong_and_said_so(exercise, result):
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
def test_a_guess_of_another_type_counts_for_nothing(exercise):
    for guess in ("one", 1.5, [1], Tensor([1.0])):
        outcome = judge(exercise, guess)
        assert outcome.state == "open" and "A prediction is" in outcome.text


@every_prediction
def test_a_wrong_guess_is_told_nothing_but_that(exercise):
    right = next(g for g in GUESSES[exercise.number] if judge(exercise, g).state == "right")
    for guess in GUESSES[exercise.number]:
        outcome = judge(exercise, guess)
        assert (outcome.state == "right") is (guess == right)
        if guess != right:
            assert outcome.text == "" and outcome.rows == ()


# for each prediction what is right, and what somebody might think
GUESSES = {
    "1.1": (1, 2, 3),
    "1.2": ((24, 8), (20, 8), (12, 4), (8, 24), (24,)),
    "1.3": ((1, 2), (1, 1), (3, 2)),
    "2.2": (("int", "float", "half"), ("bool", "int", "half"), ("int", "float", "float")),
    "2.3": ((0, 1, 0, 1), (2, 0, 0, 2), (0, 2, 0, 2), (0, 1, 1, 1)),
    "4.1": (0, 1, 2),
    "4.3": (60, 61, 2**60, 1),
    "4.8": (0, 1, 5, 6),
    "4.10": ((1, 1, 2, 1, 2), (1, 2, 2, 1, 2), (3, 2, 2, 2, 2), (1, 1, 1, 1, 1)),
    "4.11": ((2, 1), (1, 1), (2, 2), (1, 2)),
    "4.13": ((10, 20, 4), (30, 30, 4), (10, 20, 3), (10, 20, 2), (10, 10, 4), (30, 30)),
}


def test_every_prediction_has_guesses():
    assert set(GUESSES) == {e.number for e in PREDICTIONS}


def as_tree(tensor, op):
    """What somebody writes who thinks of a tree."""

    def walk(u):
        return (u.op is op) + sum(map(walk, u.src))

    return walk(tensor.uop)


def multiply(a, b):
    return UOp(Ops.MUL, a.dtype, (a, b))


def total(a, b, axes=(0,)):
    return UOp(Ops.REDUCE_AXIS, a.dtype, (multiply(a, b),), (Ops.ADD, axes))


def chain(a, length):
    for _ in range(length):
        a = a + 1
    return a


# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("1.4", 0.75, "Another number"),
    ("1.4", "-3/4", "a number"),
    ("1.5", lambda v: (v + v + v, lambda v: v * 3), "something else"),
    ("1.5", lambda v: (v * 2 + v, lambda v: v * 4), "something else"),
    ("1.5", lambda v: v * 2 + v, "a tuple of two"),
    ("2.1", Tensor.arange(4) % 2, "shape"),
    ("2.1", Tensor.arange(4).reshape(4, 1).expand(4, 4) % 2, "chessboard"),
    ("2.1", Tensor([[0, 1, 0, 1], [1, 0, 1, 0]] * 2), "list"),
    ("2.4", lambda x: x[:, 1], "values"),
    ("2.4", lambda x: x[:, -1].flip(0), "values"),
    ("2.4", lambda x: x[:, 1].flip(0) + 0, "kernel"),
    ("4.2", lambda t, op: t.uop.op is op, "a whole number"),
    ("4.2", as_tree, "Another number"),
    ("4.2", lambda t, op: len(t.uop.toposort()), "Another number"),
    ("4.2", lambda t, op: 1, "Another number"),
    ("4.4", lambda a: a + a, "Not yet"),
    ("4.4", lambda a: chain(a, 100), "too large"),
    ("4.5", lambda a, b: multiply(a, b), "not the one that was asked for"),
    ("4.5", lambda a, b: UOp(Ops.ADD, a.dtype, (a, multiply(a, b))), "another order"),
    ("4.5", lambda a, b: Tensor(a) * Tensor(b) + Tensor(a), "a UOp"),
    ("4.5", lambda a, b: UOp(Ops.MUL, a.dtype, a), "do not fit"),
    ("4.6", lambda a, b: total(a, b), "not the one that was asked for"),
    ("4.6", lambda a, b: UOp(Ops.REDUCE_AXIS, a.dtype, (multiply(a, b),), (0,)), "do not fit"),
    ("4.6", lambda a, b: UOp(Ops.REDUCE_AXIS, a.dtype, (multiply(a, b),)), "do not fit"),
    ("4.6", lambda a, b: UOp(Ops.RESHAPE, a.dtype, (total(a, b),), (1,)), "another arg"),
    ("4.7", lambda items: len(items), "Another number"),
    ("4.7", lambda items: sum(b.size for i in items for b in i.bufs), "Another number"),
    ("4.7", lambda items: sum({b: b.nbytes for i in items for b in i.bufs}.values()), "Another"),
    ("4.9", lambda a: a.T, "values"),
    ("4.9", lambda a: a.flip((0, 1)), "shape"),
    ("4.9", lambda a: a.flip((0, 1)).T.contiguous(), "kernel"),
    ("4.12", lambda a: a * 2 + 1, "1 kernel"),
    ("4.12", lambda a: ((a * 2).contiguous() + 1).contiguous() + 0.5, "3 kernels"),
    ("4.12", lambda a: (a * 2).contiguous() + 2, "values"),
    ("4.12", lambda a: (a * 2).realize() + 1, "ran already"),
    ("4.14", lambda a: a.sum(axis=0) / a.sum(axis=0).sum(), "3 kernels"),
    ("4.14", lambda a: a.sum(axis=0), "1 kernel"),
    ("4.14", lambda a: a.sum(axis=1) / a.sum(), "shape"),
    ("4.14", lambda a: (a.sum(axis=0) / a.sum()).contiguous(), "by hand"),
    ("4.15", lambda a: a / a.sum(), "2 kernels"),
    ("4.15", lambda a: ((a + 1).contiguous() + 1).contiguous() + 1, "CONTIGUOUS"),
    ("4.15", lambda a: a @ Tensor.rand(*a.shape), "Random"),
    ("4.16", lambda a, n: a @ a, "2 kernels"),
    ("4.16", lambda a, n: chain(a, n), "kernel"),
]


@pytest.mark.parametrize("number, answer, said", WRONG, ids=[f"{n}-{s}" for n, _, s in WRONG])
def test_typical_wrong_answers_are_wrong_for_their_reason(number, answer, said):
    outcome = judge(find(number), answer)
    words = " ".join([outcome.text, *[f"{label} {value}" for label, value in outcome.rows]])
    assert outcome.state == "wrong" and said in words, words


def test_every_function_has_typical_wrong_answers():
    asked = {e.number for e in ALL if not e.shown_by}
    assert {number for number, _, _ in WRONG} == asked


def test_the_same_wrong_answer_is_told_the_same_each_time():
    for number, answer, _ in WRONG:
        one, other = (judge(find(number), answer) for _ in range(2))
        assert (one.text, one.rows) == (other.text, other.rows), number
