"""What the checks of projects 2 and 3 compare with is right."""

import re
import runpy

import numpy as np
import pytest

from classroom.grader.tasks import Ask, Expression
from tests.grader.here import Here
from tests.grader.worked import worked
from tinyframe import Context, Tensor
from tinyframe.run.realize import get_kernel

OP_TYPES, AUTOGRAD = worked("02_op_types"), worked("03_autograd")


@pytest.mark.parametrize("shape, axes", [((5, 7), [0]), ((5, 7), [1]), ((3, 4, 5), [0, 2]),
                                         ((2, 3, 4, 5), [1, 2])])  # fmt: skip
def test_predicted_loops_of_a_sum_are_those_of_its_kernel(shape, axes):
    """Held against the generated C: its loops from the outside in, and by how much the place that
    it reads grows with each of them."""
    predicted = Here(OP_TYPES.text).module.loops_of_sum(list(shape), axes)
    x = Tensor(np.arange(np.prod(shape), dtype=np.float32).reshape(shape)).realize()
    item = x.sum(tuple(axes)).schedule()[-1]
    with Context(NOOPT=1):
        source = get_kernel(item.ast, item.bufs[0].device).spec.src
    sizes = [int(size) for size in re.findall(r"for \(int ridx\d = 0; ridx\d < (\d+)", source)]
    if len(sizes) == len(predicted):  # neighbours that are read in one go are one loop in C
        assert [size for size, _, _ in predicted] == sizes
    places = np.arange(np.prod(shape)).reshape(shape)
    order = [axis for axis in range(len(shape)) if axis not in axes] + axes
    for (size, _, step), axis in zip(predicted, order, strict=True):
        assert size == shape[axis]
        assert set(np.diff(places, axis=axis).flat) == {step}


def test_an_expression_may_arrive_as_what_it_gives():
    text = (
        "def seen(x):\n    return type(x).__name__\n"
        "def total(x):\n    return x.sum()\n"
    )  # fmt: skip
    ask, a = Ask(Here(text), 0), np.arange(6, dtype=np.float32).reshape(2, 3)
    lazy = Expression("a * 2.0", {"a": a}, None)
    assert ask("seen", lazy) == "Tensor"
    assert ask("seen", Expression("a * 2.0", {"a": a})) == "function"
    assert ask("seen", Expression("(a * 2.0).schedule()[-1].ast", {"a": a}, None)) == "UOp"
    assert ask("total", lazy) == 30.0


def test_what_checks_hold_an_answer_against_is_what_the_framework_finds():
    """The reference differentiates forwards, in NumPy; here it is held against the table."""
    tasks = runpy.run_path(str(AUTOGRAD.tasks))
    for seed, text in enumerate(["(t * t * a).sin() * b", "t.sin() * t * a + b", "t * t * t * a"]):
        ask = Ask(None, seed)
        arrays = {name: tasks["signed"](ask, 2, 3) for name in "ab"}
        x = Tensor(tasks["signed"](ask, 2, 3).astype(np.float64))
        names = {name: Tensor(array) for name, array in arrays.items()}
        text = f"({text}).sum()"
        (slopes,) = eval(text, {"t": x, **names}).gradient(x)
        wanted = tasks["slopes_of"](text, arrays, x.numpy())
        np.testing.assert_allclose(slopes.numpy(), wanted, rtol=1e-9)


def test_honest_rows_agree_with_each_other_and_with_those_of_mini_and_lies_do_not():
    from mini.part4 import Ops
    from mini.part6 import GRADIENT

    tasks = runpy.run_path(str(AUTOGRAD.tasks))
    suspects = Here(AUTOGRAD.text).module.suspects
    assert suspects({name: GRADIENT[Ops[name]] for name in tasks["ROWS"]}) == []
    for seed in range(4):
        for lies in (tasks["PLAIN_LIES"], tasks["FINE_LIES"]):
            told = {name: numbers[seed % len(numbers)] for name, numbers in lies.items()}
            for chosen in ({}, told):
                rows = tasks["rows_of"](Ask(None, seed), chosen)
                found = suspects({name: row.function() for name, row in rows.items()})
                assert set(found) == set(chosen)


def test_a_row_that_lies_is_written_as_one_that_does_not():
    """Only its numbers, added up, are others; and hardly any row is written twice."""
    tasks = runpy.run_path(str(AUTOGRAD.tasks))
    spelled = {
        factor: [tasks["spelled"](Ask(None, seed), "x", factor) for seed in range(3000)]
        for factor in (1.0, 0.0, 0.5, -1.0)
    }
    forms = [{re.sub(r"-?[0-9.]+", "#", text) for text in texts} for texts in spelled.values()]
    assert all(each == forms[0] for each in forms)
    for factor, texts in spelled.items():
        assert all(eval(text, {"x": 3.0}) == 3.0 * factor for text in texts)
    tables = [tasks["rows_of"](Ask(None, seed), {}) for seed in range(40)]
    for name in tasks["ROWS"]:
        assert len({table[name].text for table in tables}) > 35
