"""Graphs of mini that a submission sends: what is read, what is refused, and what is computed."""

import numpy as np
import pytest

from classroom.grader.judge import grade
from classroom.grader.sandbox import best_protection
from classroom.grader.tasks import Ask, NumpyArray, Wrong
from classroom.mini.graphs import MOST_ELEMENTS, MOST_NODES, Graph, graph_of, plain, sent
from tests.grader.here import SLOW, TOY, Here

X = ["BUFFER", [], 0]
EVERY = """
from mini.part5 import Tensor as Mini
def every(x, y):
    z = (x * 2 + y).maximum(y.exp()).sqrt() / (x + 3).log()
    z = (x < y).where(z, -z).permute(1, 0).flip(0).pad((1, 2), (0, 1)).shrink((1, 4), (0, 3))
    return z.reshape(9).reshape(3, 1, 3).expand(3, 2, 3).max(1) + z.sum(0).detach() + Mini([0.5])
def numbers(x, y): return {"a": [x, (y, 3)], "b": "text"}
def elsewhere(x, y): return x + 1
def no_tensor(x, y): return 7
"""


def asked(text=EVERY):
    ask = Ask(Here(text), 0)
    x = ask.floats(2, 3, low=0.5)
    return ask, [sent(ask, x), sent(ask, x * 0.5 + 1)]


def test_a_graph_runs_on_other_numbers_as_it_does_in_mini():
    ask, given = asked()
    graph = graph_of(ask, given, "every", *given)
    assert graph.ops["BUFFER"] == 3 and graph.inputs == {0, 1}
    x, y = (np.random.default_rng(n).uniform(0.5, 1, (2, 3)).astype(np.float32) for n in (1, 2))
    right = plain(ask, ask.keep("every", sent(ask, x), sent(ask, y)))
    np.testing.assert_allclose(graph.run(x, y), right.values, rtol=1e-5)


def test_tensors_in_containers_become_arrays():
    ask, given = asked()
    found = plain(ask, ask.keep("numbers", *given))
    assert found["b"] == "text" and found["a"][1][1] == 3
    assert found["a"][0].shape == (2, 3)


def test_what_does_not_read_its_inputs_or_is_no_tensor_is_told_so():
    ask, given = asked()
    with pytest.raises(Wrong, match="its graph reads 1 of the 2 Tensors given"):
        graph_of(ask, given, "elsewhere", *given)
    with pytest.raises(Wrong, match="the result of no_tensor.. is 7, but should be a Tensor"):
        graph_of(ask, given, "no_tensor", *given)


# What a submission may claim instead of a graph.
REFUSED = {
    "no table": 7,
    "nothing": [],
    "a row that is none": [[1]],
    "a row of numbers": [[1, 2, 3]],
    "an op that is not there": [X, ["EVAL", [0], "x"]],
    "an op that is a list": [X, [[], [0], "x"]],
    "a source that comes later": [X, ["ADD", [1, 0], None]],
    "a source before the first": [X, ["ADD", [-1, 0], None]],
    "a source that is True": [X, X, ["ADD", [True, 0], None]],
    "too few sources": [X, ["ADD", [0], None]],
    "too many nodes": [X] * (MOST_NODES + 1),
}  # fmt: skip
# And what is found when it is run.
DOES_NOT_RUN = {
    "an input that was not given": [["BUFFER", [], 5]],
    "memory that is a text": [["BUFFER", [], "x"]],
    "memory that is too large": [["BUFFER", [], NumpyArray(np.zeros(MOST_ELEMENTS + 1))]],
    "a constant that is none": [["CONST", [], "x"]],
    "shapes that do not agree": [X, ["RESHAPE", [0], (3, 2)], ["ADD", [0, 1], None]],
    "a shape that is enormous": [X, ["RESHAPE", [0], (2, 3, 1)], ["EXPAND", [1], (2, 3, 10**9)]],
    "a shape that is negative": [X, ["RESHAPE", [0], (-1, 3)]],
    "a shape that is a number": [X, ["RESHAPE", [0], 6]],
    "a shape of numbers that are none": [X, ["EXPAND", [0], ("2", 3)]],
    "zeros around that are enormous": [X, ["PAD", [0], ((0, 10**9), (0, 0))]],
    "zeros around that are negative": [X, ["PAD", [0], ((0, -1), (0, 0))]],
    "an axis that is not there": [X, ["REDUCE_AXIS", [0], ("ADD", (7,))]],
    "a reduction by something else": [X, ["REDUCE_AXIS", [0], ("EVAL", (0,))]],
    "an order that is none": [X, ["PERMUTE", [0], (0, 0)]],
    "bounds of another rank": [X, ["SHRINK", [0], ((0, 1),)]],
    "more than it may compute": [X, ["PAD", [0], ((0, 60), (0, 997))]]
    + [["ADD", [1, 1], None]] * 200,
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_table_that_is_no_graph_is_wrong(name):
    with pytest.raises(Wrong, match="cannot be judged"):
        Graph(REFUSED[name])


@pytest.mark.parametrize("name", DOES_NOT_RUN)
def test_a_graph_that_does_not_run_is_wrong(name):
    with pytest.raises(Wrong, match="cannot be judged|does not run"):
        Graph(DOES_NOT_RUN[name]).run(np.ones((2, 3), np.float32))


def test_a_submission_in_the_sandbox_has_the_reference_and_cannot_change_it(tmp_path):
    path = tmp_path / "submission.py"
    path.write_text(
        "from classroom import use_mini\nuse_mini(6)\n"
        "import mini.part6\nfrom mini.part6 import Adam, Tensor as Mini\n"
        "try: open(mini.part6.__file__, 'a')\n"
        "except OSError: assert Mini([[1.0, 2.0]]).sum(1).numpy() == 3\n"
        "def double(x): return x + x\ndef lazily(x): return x * 2\n"
    )
    report = grade(path, TOY, best_protection(), SLOW)
    assert (report.status, report.score) == ("graded", 100), report.notes
