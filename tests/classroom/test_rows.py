"""Rows of the gradient table: whatever a learner's row does, there is a sentence for it, and the
table is as it was."""

from __future__ import annotations

import re

import numpy as np
import pytest

from classroom import curves, rows
from classroom.rows import Training, replaced, train, trained
from tinyframe import Tensor
from tinyframe.tensor import gradient
from tinyframe.uop import Ops


@pytest.fixture(autouse=True)
def the_table_is_as_it_was():
    before = gradient.gradient_rules
    yield
    assert gradient.gradient_rules is before and not Tensor.training
    x = Tensor([2.0, 3.0]).realize()
    assert (x * x + x).sum().gradient(x)[0].tolist() == [5, 7]


def endless(grad):
    while True:
        grad = -grad


def leaves(grad):
    raise SystemExit


def opposite(grad):
    """What ADD sends back."""
    # the second one is told the opposite
    turned = -grad
    return grad, turned


def slowly(grad):
    for _ in range(2000):
        grad = grad * 1.01 + grad.sin()
    return grad, grad


@pytest.fixture(scope="module")
def right() -> Training:
    return trained()


@pytest.fixture(scope="module")
def broken() -> Training:
    return trained(rows={"ADD": opposite})


@pytest.fixture(scope="module")
def mended() -> Training:
    return trained(rows={"MUL": lambda grad, x, y: (grad * y, grad * x)})


def test_the_same_network_is_trained_each_time_and_it_learns(right, mended):
    assert right.learned and right.losses[-1] < right.losses[0] / 2
    assert np.allclose(right.losses, mended.losses, rtol=1e-3)
    assert len(right.read) == len(rows.data().labels)


@pytest.mark.parametrize(
    "row, said",
    [
        (lambda grad: None, "the row returns nothing"),
        (lambda grad: ..., "returns nothing"),
        (lambda grad: grad, "has to be two gradients"),
        (lambda grad: (grad,), "1 of them"),
        (lambda grad: "two", "has to be two gradients"),
        (lambda grad: (grad, 3.0), "second gradient has to be made of `grad`"),
        (lambda grad: (grad.reshape((-1,)), grad), "first gradient has the wrong shape"),
        (lambda grad: (None, None), "tinyframe noticed"),
        (lambda grad: 1 / 0, "raised ZeroDivisionError"),
        (lambda: 1, "raised TypeError"),
        (lambda grad: (grad, grad @ grad), "raised "),
        (leaves, "raised SystemExit"),
        (3, "asks for a function"),
    ],
)  # fmt: skip
def test_a_row_that_is_no_good_gets_a_sentence(row, said, capsys):
    found = train(ADD=row)
    assert said in found.trouble and not found.losses and found.accuracy == 0
    assert capsys.readouterr().out == found.trouble + "\n" == repr(found) + "\n"


def test_a_row_that_never_ends_is_stopped(monkeypatch):
    monkeypatch.setattr(rows, "SECONDS_OF_A_ROW", 0.2)
    assert "loop that never ends" in train(ADD=endless).trouble


def test_training_that_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr(rows, "SECONDS", 0.5)
    assert "Training was stopped after 0.5 seconds" in train(ADD=slowly).trouble


def test_the_line_that_raised_is_named():
    def broken(grad):
        return grad, grad.upside_down()

    assert "in your line `return grad, grad.upside_down()`" in train(ADD=broken).trouble


def test_stopping_by_hand_is_no_answer_and_puts_the_table_back():
    def stopped(grad):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(ADD=stopped)


def test_a_row_that_leaves_it_to_chance_is_asked_at_every_step():
    asked = []

    def chance(grad):
        asked.append(grad)
        return (grad, grad * (1 + 1e-6 * len(asked)))

    trained(steps=2, rows={"ADD": chance})
    often = len(asked)
    trained(steps=4, rows={"ADD": chance})
    assert len(asked) - often == 2 * often > 0


def test_an_op_without_a_row_is_an_error_in_the_learners_terms():
    for name in ("CMPLT", "add", "NOTHING"):
        with pytest.raises(ValueError, match=f"no row for {name}"):
            train(**{name: opposite})


def test_a_row_gets_what_the_tables_own_gets():
    given = []

    def noting(*nodes):
        given.append(nodes)
        grad, z, y = nodes
        return grad / y, -grad * (z / y)

    x, y = Tensor([1.0, 4.0]).realize(), Tensor([2.0, 8.0]).realize()
    expected = [slope.tolist() for slope in (x / y).sum().gradient(x, y)]
    with replaced({"FDIV": noting}):
        assert [slope.tolist() for slope in (x / y).sum().gradient(x, y)] == expected
    (_, z, divisor), again = given  # asked twice, in case that it leaves its answer to chance
    assert again == given[0] and z.op is Ops.FDIV and divisor is y.uop


# ---- pictures -----------------------------------------------------------------------------------


def test_curves_have_a_line_and_a_name_for_each_training(right, broken):
    picture = curves.curves(right=right, broken=broken)
    svg = picture.svg()
    assert "right" in svg and "broken" in svg and "up and away" in svg
    assert f"{right.accuracy:.0%} of test digits right" in svg
    assert "broken: 84 steps; fewer than half" in str(picture)


def test_a_loss_that_is_no_number_is_said_to_be_none(right):
    odd = Training(right.network, [2.3, float("nan"), float("nan")], right.read)
    assert "not a number from here on" in curves.curves(odd=odd).svg()


def test_what_was_not_trained_is_not_drawn(right, capsys):
    nothing = Training(right.network, trouble="no row")
    assert "nothing" not in str(curves.curves(right=right, nothing=nothing))
    assert curves.curves(nothing=nothing) is None and curves.reads(nothing) is None
    assert curves.card(nothing, right) is None and curves.card(right, right) is None
    assert "Your card is still empty" in capsys.readouterr().out


def test_a_card_has_both_rows_and_what_became_of_them(broken, mended, tmp_path):
    card = curves.card(broken, mended)
    svg = card.save(tmp_path / "card.svg").read_text()
    assert "I broke a neural network with a few lines" in svg
    assert "turned = -grad" in svg and "grad, turned" in svg and "the opposite" not in svg
    assert "grad * y, grad * x" in svg
    assert "broken" in svg and f"{broken.accuracy:.0%}" in svg and f"{mended.accuracy:.0%}" in svg


def test_a_card_does_not_claim_what_did_not_happen(right, mended):
    harmless = Training(right.network, right.losses, right.read, {"ADD": opposite})
    assert "I broke" not in curves.card(harmless, mended).svg()


def test_a_row_whose_source_is_not_known_gets_a_card_too(broken, mended):
    made = eval("lambda grad: (grad, -grad)")
    nameless = Training(broken.network, broken.losses, broken.read, {"ADD": made})
    svg = curves.card(nameless, mended).svg()
    assert "a row of my own" in svg and "I broke a neural network with one line" in svg


def test_a_long_row_is_cut_on_a_card(broken, mended):
    def long(grad):
        first = grad * 2
        second = first + 1
        third = second - 4
        fourth = third * third
        return first, fourth

    chatty = Training(broken.network, broken.losses, broken.read, {"ADD": long})
    svg = curves.card(chatty, mended).svg().split("</desc>")[1]
    assert "first = grad * 2" in svg and "…" in svg and "fourth = third" not in svg


def test_the_card_of_the_readme_moves_each_part_that_has_to_wait(broken, mended):
    svg = curves.moving(broken, mended)
    moved = set(re.findall(r"animation(?:-name)?:([\w-]+)", svg)) - {"none"}
    assert moved == set(re.findall(r"@keyframes ([\w-]+)", svg)), "each has its frames"
    for name in ("broken", "mended"):
        assert svg.count(f'class="{name}"') == 1, "its curve"
        assert svg.count(f'class="{name} known"') == 2, "how many it reads, and what"
    assert "prefers-reduced-motion:reduce" in svg and "<image" not in svg


@pytest.mark.parametrize(("losses", "said"), [
    ((), "Nothing to compare"), ((2.0, 38.6, 3.0), "Your worst loss: 39. Mine: 504."),
    ((2.0, float("nan")), "You win"),
])  # fmt: skip
def test_a_worst_loss_is_told_beside_ours(losses, said, broken, capsys):
    curves.worst(Training(broken.network, losses))
    assert said in capsys.readouterr().out
