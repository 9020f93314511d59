"""Feedback names the difference: what each kind of mistake is told, and that nothing else is."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from classroom import ask, differences
from classroom.exercise import Exercise, Open, Wrong, judge
from classroom.guesses import Prediction, Shape, understood
from tinyframe import Tensor, dtypes

ROOT = Path(__file__).resolve().parents[2]

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3) ** 2
SQUARE = np.arange(9, dtype=np.float32).reshape(3, 3) ** 2


def told(check, *arguments, **named) -> str:
    with pytest.raises(Wrong) as wrong:
        check(*arguments, **named)
    return str(wrong.value)


# ---- shapes and values ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "got, said",
    [
        (VALUES.T, "Rows and columns are swapped."),
        (VALUES[None], "an extra axis of size 1"),
        (VALUES.reshape(6), "The number of elements is right, but the shape is wrong."),
        (VALUES[:, :2], "The shape is wrong: axis 1 has a different size."),
        (VALUES[0], "The result has 1 axis; it should have 2 axes."),
        (-VALUES, "The sign is wrong."),
        (4 * VALUES, "Every value is too large by a factor of 4."),
        (VALUES / 4, "Every value is too small by a factor of 4."),
        (-2 * VALUES, "Every value is too large by a factor of 2, and the sign is wrong."),
        (VALUES + 1, "Every value is 1 too large."),
        (VALUES - 0.5, "Every value is 0.5 too small."),
        (VALUES[::-1], "The right values, but reversed along axis 0."),
        (VALUES[::-1, ::-1], "The right values, but reversed along every axis."),
        (np.roll(VALUES, 1, axis=1), "The right values, but shifted by one along axis 1."),
        (VALUES.T.reshape(2, 3), "The right values are there, but not in the right places."),
        (np.where(VALUES == 9, 8, VALUES), "Element [1, 0] is 8 and should be 9; 1 of the 6"),
        (np.minimum(VALUES, 5), "Element [1, 0] is 5 and should be 9; 3 of the 6 elements are"),
        (VALUES * np.nan, "Element [0, 0] is nan."),
        (0 * VALUES, "Element [0, 1] is 0 and should be 1; 5 of the 6 elements are wrong."),
    ],
)  # fmt: skip
def test_wrong_values_are_told_what_is_wrong_with_them(got, said):
    tensor = Tensor(np.ascontiguousarray(got, dtype=np.float32))
    assert said in told(ask.same_values, tensor, VALUES, "a case")


def test_more_kinds_of_mistake():
    assert "but transposed" in told(ask.same_values, Tensor(SQUARE.T.copy()), SQUARE, "a case")
    bits = np.array([True, False, True])
    assert "True and False are swapped" in told(ask.same_values, Tensor(~bits), bits, "a case")
    kept = SQUARE.sum(1, keepdims=True)
    assert "size 1 is missing" in told(ask.same_values, Tensor(kept[:, 0].copy()), kept, "a case")
    cube = np.zeros((2, 3, 4), dtype=np.float32)
    moved = Tensor(cube.transpose(1, 2, 0).copy())
    assert "axes are in the wrong order" in told(ask.same_values, moved, cube, "a case")
    one = told(ask.same_values, Tensor(3.0), np.float32(2.0), "")
    assert one == "The value is 3 and should be 2."
    twice = told(ask.same_values, Tensor(4.0), np.float32(2.0), "")
    assert twice == "The value is too large by a factor of 2."
    lonely = [
        (22.0, 2.0, "The value is 22 and should be 2."),
        (2.0, 22.0, "The value is 2 and should be 22."),
        (32.0, 2.0, "The value is too large by a factor of 16."),
        (np.float32([33, 33]), np.float32([3, 3]), "Every value is 30 too large."),
        (np.float32([33, 44]), np.float32([3, 4]), "Every value is too large by a factor of 11."),
    ]
    for got, expected, said in lonely:
        assert said in told(ask.same_values, Tensor(got), np.float32(expected), "")
    large = np.array([10_000_000, 20_000_000, 3])
    assert "is 10000001 and should be 10000000" in told(
        ask.same_values, Tensor(large + [1, 0, 1]), large, "a case"
    )
    least = np.array([-np.inf, 1.0], dtype=np.float32)
    assert "Element [0] is 0 and should be -inf" in told(
        ask.same_values, Tensor([0.0, 1.0]), least, "a case"
    )


def test_right_values_are_right():
    for right in (VALUES, VALUES * (1 + 1e-6)):
        ask.same_values(Tensor(right), VALUES, "a case")  # it raises where they are not
        assert not differences.of_values(right, VALUES, named=True)


MISTAKES = (
    lambda v: -v, lambda v: 4 * v, lambda v: v + 1, lambda v: v[:1], lambda v: v * 0, lambda v: v.T,
    lambda v: v[:, ::-1],
)  # fmt: skip


@pytest.mark.parametrize("wrong", MISTAKES)
def test_nothing_about_fresh_inputs_is_named(wrong):
    """The same mistake on different inputs is told the same."""
    said = set()
    for rows, columns in ((3, 5), (4, 7), (6, 9)):
        values = np.random.default_rng(rows).random((rows, columns), dtype=np.float32)
        tensor = Tensor(np.ascontiguousarray(wrong(values), dtype=np.float32))
        with pytest.raises(Wrong) as found:
            ask.same_values(tensor, values, "a different shape", shown=False)
        said.add((str(found.value), found.value.rows))
    assert len(said) == 1, said


# ---- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "got, expected, unit, said",
    [
        (-3, 3, "", "The sign is wrong."),
        (-1.5, 1.5, "", "The sign is wrong."),
        (64, 16, "elements", "Too many by a factor of 4: did you count bytes instead of elements?"),
        (16, 64, "bytes", "Too few by a factor of 4: did you count elements instead of bytes?"),
        (64, 16, "bytes", "Too many by a factor of 4."),
        (3, 2, "kernels", "One too many."),
        (1, 2, "kernels", "One too few."),
        (7, 5, "kernels", "2 too many."),
        (3, 2, "", "It is 1 too large."),
        (3.0, 1.5, "", "Too large by a factor of 2."),
        (-3.0, -1.5, "", "Too large by a factor of 2."),
        (-0.75, -1.5, "", "Too small by a factor of 2."),
        (-1.6, -1.5, "", "It is too far from 0."),
        (-1.4, -1.5, "", "It is too close to 0."),
        (0.5, -0.75, "", "It is too large."),
        (1.6, 1.5, "", "It is too large."),
        (0, 5, "", "It is too small."),
    ],
)
def test_a_wrong_number_is_told_what_is_wrong_with_it(got, expected, unit, said):
    assert told(ask.same_number, got, expected, "a case", unit) == said


@pytest.mark.parametrize(
    "got, expected, said",
    [("3", 3, "a whole number of kernels"), (True, 1, "a whole number"), (None, 1.5, "a number")],
)
def test_what_is_no_number_is_asked_for_as_one(got, expected, said):
    assert f"has to be {said}" in told(ask.same_number, got, expected, unit="kernels")


def test_a_right_number_is_right():
    for right, expected in ((3, 3), (np.int64(3), 3), (1.5000001, 1.5), (2, 2.0)):
        ask.same_number(right, expected)  # it raises where it is not
        assert not differences.of_numbers(right, expected, "")


# ---- kernels -------------------------------------------------------------------------------------


def test_a_wrong_number_of_kernels_is_told_what_each_does_and_why():
    a = ask.small_tensor(4, 4)
    with pytest.raises(Wrong, match="It takes 2 kernels; it should take 1.") as wrong:
        ask.runs_as(a / a.sum(), 1, "a case", shown=True)
    rows = wrong.value.rows
    assert rows[0] == ("case", "a case")
    assert ("kernel 1", "sums all 16 numbers") in rows
    assert ("kernel 2", "divides, for each of 16 elements") in rows
    assert rows[-1][0] == "stored" and "too little parallel work" in rows[-1][1]


def test_kernels_of_fresh_inputs_are_told_without_sizes():
    a = ask.fresh_tensor(*ask.fresh_sizes(2))
    with pytest.raises(Wrong) as wrong:
        ask.runs_as(a.sum(axis=0) / a.sum(), 1)
    assert ("kernel 1", "sums all N numbers") in wrong.value.rows
    assert not re.search(r"\d{2}", str(wrong.value.rows))


# ---- predictions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "guess, value",
    [
        (2.0, 2), (np.int64(2), 2), (np.float32(2), 2), ("2", 2), (" 2 ", 2), ([2], 2), ((2,), 2),
        ("1_000", 1000), (np.array(2), 2), (np.array([2]), 2),
        (Fraction(4, 2), 2), (Fraction(3, 2), 1.5),
        ("true", True), ("False", False), (np.True_, True), ("yes", True), ([True], True),
        (1, True), (0, False), ("0", False), (np.int64(1), True),
        ("int32", "int"), ("Int", "int"), (dtypes.int, "int"), ("dtypes.int32", "int"),
        (int, "int"),
        ("float16", "half"), (dtypes.float16, "half"), (float, "float"), (" half ", "half"),
        ("'int'", "int"), ("SINK", "Sink"), (["bool"], "bool"),
        (1.50001, 1.5), ("1.5", 1.5), (np.float64(1.5), 1.5),
        ([1, 2], (1, 2)), ((1.0, 2), (1, 2)), (np.array([1, 2]), (1, 2)), ("1, 2", (1, 2)),
        ("(1, 2)", (1, 2)), ([(1, 2)], (1, 2)), ([[1], [2]], (1, 2)), (3, (3,)),
        (["int32", float], ("int", "float")), ("int, float", ("int", "float")),
    ],
)  # fmt: skip
def test_a_guess_is_understood_in_whatever_form_it_is_typed(guess, value):
    read = understood(guess, value)
    assert read == value and type(read) is type(value)


@pytest.mark.parametrize(
    "guess, read",
    [
        ((2, 4), (2, 4)), ([2, 4], (2, 4)), ("(2, 4)", (2, 4)), ("2 × 4", (2, 4)), (4, (4,)),
        ("2x4", (2, 4)), ((), ()), ("()", ()), ((2, 3, 4, 5), (2, 3, 4, 5)),
        (np.array([2, 4]), (2, 4)), ((2.0, np.int64(4)), (2, 4)),
    ],
)  # fmt: skip
def test_a_guessed_shape_may_have_any_number_of_axes(guess, read):
    assert understood(guess, Shape((2, 4))) == read
    assert understood([guess, guess], (Shape((2, 4)), Shape((1,)))) == (read, read)


def test_a_guess_that_is_no_shape_is_asked_for_again():
    for guess in ("a row", 1.5, (2, "y"), None):
        with pytest.raises(Open, match="A shape is a tuple of whole numbers"):
            understood(guess, Shape((2, 4)))
    three = (Shape((2, 4)), Shape((1,)), Shape(()))
    with pytest.raises(Open, match="This needs three shapes; you gave two."):
        understood(((2, 4), (1,)), three)


@pytest.mark.parametrize(
    "guess, value, asked",
    [
        ((1, 2), (1, 2, 3), "This needs three numbers; you gave two."),
        ((1, 2, 3, 4), (1, 2, 3), "This needs three numbers; you gave four."),
        (5, (1, 2), "This needs two numbers; you gave one."),
        ([], ("int", "half"), "This needs two words; you gave none."),
        ([1, 2], 3, "The answer has to be a whole number. You gave `[1, 2]`."),
        (1.5, 2, "The answer has to be a whole number. You gave `1.5`."),
        (True, 1, "The answer has to be a whole number. You gave `True`."),
        ("three", 3, "The answer has to be a whole number."),
        (2, True, "The answer has to be True or False."),
        (1, "int", "The answer has to be a word in quotes."),
        ((1, "x"), (1, 2), "The answer has to be a whole number. You gave `'x'`."),
        (float("nan"), 2, "a whole number"),
        (float("inf"), 2, "a whole number"),
        ({1, 2}, (1, 2), "This needs two numbers; you gave a set, which says nothing about their"),
    ],
)
def test_a_guess_of_no_use_is_asked_for_again(guess, value, asked):
    with pytest.raises(Open, match=re.escape(asked)):
        understood(guess, value)


def test_a_guess_that_is_well_formed_and_wrong_is_wrong():
    exercise = Exercise("9.1", "a-name", "A title", Prediction(lambda: (1, "int")), (), "next")
    outcome = judge(exercise, [2.0, "INT64"])
    assert (outcome.state, outcome.text) == ("wrong", "you guessed (2, 'long')")
    assert judge(exercise, [1, dtypes.int32]).state == "right"
    exercise = Exercise("9.1", "a-name", "A title", Prediction(lambda: (0.0, 0.5)), (), "next")
    assert judge(exercise, (0, 1)).text == "you guessed (0, 1)"


def test_a_guess_that_is_none_of_the_words_on_offer_is_asked_for_again():
    check = ask.predicts(lambda: "grow", "fall", "stay", "grow")
    exercise = Exercise("9.1", "a-name", "A title", check, (), "next")
    outcome = judge(exercise, "rise")
    assert outcome.state == "open" and '`"fall"`, `"stay"`, `"grow"`' in outcome.text
    assert judge(exercise, ["Grow"]).state == "right"
    assert judge(exercise, "stay").state == "wrong"


def test_zeros_and_ones_in_the_right_number_are_not_right_values():
    assert "right values" not in told(ask.same_values, Tensor([1, 0, 0, 1]), [0, 1, 0, 1], "")


def test_an_expression_without_return_is_not_taken_for_an_empty_body():
    def forgotten(a):
        """Twice a."""
        a[:, None] * 2

    def empty(a):
        """Twice a."""
        ...

    for function, said in ((forgotten, "Did you forget `return`?"), (empty, "")):
        with pytest.raises(Open) as nothing:
            ask.call(function, Tensor([1, 2]))
        assert said in str(nothing.value) and bool(said) == bool(str(nothing.value))


# ---- words ---------------------------------------------------------------------------------------

# Sentences that only say that there is a difference.
BANNED = re.compile(
    r"[Aa]nother (number|graph|shape|value|order|dtype|arg|\{)|is another( one)?[.\"]"
    r"|^Wrong\.?$|[Tt]ry again|[Tt]he values differ"
)


SPEAKING = [*(ROOT / "classroom").rglob("*.py"), *(ROOT / "solutions/projects").rglob("*.py")]


@pytest.mark.parametrize("path", sorted(SPEAKING), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_sentence_says_only_that_there_is_a_difference(path):
    found = BANNED.search(path.read_text())
    assert not found, f"{found[0]!r}: say what is different, and how"


def test_two_values_that_look_the_same_are_not_put_side_by_side():
    """Long lists are cut, be it before they differ."""
    assert Wrong("no", "a case", "[0, 0, …", "[0, 0, …").rows == (("case", "a case"),)
    assert Wrong("no", "a case", 1, 2).rows == (("case", "a case"), ("expected", "1"), ("got", "2"))
