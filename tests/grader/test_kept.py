"""What a submission returned may stay in its process, and be asked again: a model, a counter."""

import numpy as np
import pytest

from classroom.grader.judge import grade
from classroom.grader.sandbox import Limits, best_protection
from classroom.grader.tasks import Expression, Project, expect_close, expect_equal
from tests.grader.here import Here, rows

COUNTER = """
def counter(start):
    state = [start]
    def count(by):
        state[0] += by
        return state[0]
    return count

def total(*counters):
    return sum(count(0) for count in counters)
"""

PROJECT = """
from classroom.grader.tasks import Expression, Project, expect, expect_equal
project = Project("Counters", 10, times={times})

@project.check("counter", 10, "two counters", "Remember.")
def _(ask):
    one, other = ask.keep("counter", 3), ask.keep("counter", 40)
    expect_equal([ask(one, 1), ask(one, 1), ask(other, 2)], [4, 5, 42], "counts")
    expect_equal(ask("total", one, other), 47, "the total")
"""


def judged(check, text):
    project = Project("P", 1)
    project.check("it", 1, "it", "Try.")(check)
    return rows(project, text)[0].found


def test_what_is_kept_is_called_and_passed_on_and_remembers():
    def check(ask):
        one, other = ask.keep("counter", 3), ask.keep("counter", 40)
        expect_equal([ask(one, 1), ask(one, 1), ask(other, 2)], [4, 5, 42], "counts")
        expect_equal(ask("total", one, other), 47, "the total")

    assert judged(check, COUNTER) == ""
    assert (
        judged(check, COUNTER.replace("+= by", "+= 1"))
        == "counts is [4, 5, 41], and should be [4, 5, 42]"
    )


def test_an_expression_is_called_on_what_is_kept():
    def check(ask):
        layer = ask.keep(Expression("nn.Linear(2, 3)"))
        weight = ask(Expression("layer.weight", {}, "layer"), layer)
        x = ask.floats(4, 2)
        expect_close(
            ask(Expression("layer(x) - layer.bias", {}, "layer, x"), layer, x), x @ weight.T, "y"
        )

    assert judged(check, "") == ""


def test_the_graph_of_what_is_kept_can_be_asked_for():
    def check(ask):
        double, x = ask.keep("doubler"), ask.floats(5)
        graph = ask.graph(double, x)
        expect_equal(graph.kernels, 1, "kernels")
        expect_close(graph.run(2 * x), 4 * x, "doubled")

    assert judged(check, "def doubler(): return lambda x: x + x") == ""
    found = judged(check, "def doubler(): return lambda x: 3")
    assert found == "the result of the function that you returned is 3, but should be a Tensor"


@pytest.mark.parametrize("body", ["...", "return ...", "return None"])
def test_nothing_to_keep_is_an_open_task(body):
    assert judged(lambda ask: ask.keep("it"), f"def it(): {body}") == "not written yet"


def test_what_is_missing_or_raises_is_told_as_always():
    assert judged(lambda ask: ask.keep("it"), "") == "there is no function it() in the file"
    found = judged(lambda ask: ask(ask.keep("it")), "def it(): return lambda: 1 / 0")
    assert found.startswith("raised ZeroDivisionError")


def test_nothing_of_it_leaves_the_process_but_its_number():
    here = Here("def it(): return [1, 2, 3]")
    body = {"function": "it", "arguments": [], "keep": 7}
    message = here.answer("answerer", "keep", body, [])
    assert (message.kind, message.body, message.arrays) == ("kept", None, [])
    assert here.kept == {7: [1, 2, 3]}


def test_a_submission_that_says_it_kept_what_it_did_not_loses_only_its_own_points(tmp_path):
    """It answers for itself: there is nothing of the grader's to reach with a number."""
    tasks = tmp_path / "tasks.py"
    tasks.write_text(PROJECT.format(times=1.0))
    submission = tmp_path / "device.py"
    submission.write_text(
        "import classroom.grader.answerer as answerer\n"
        "answerer.answer = lambda *told: ('kept', None)\n"
    )
    report = grade(submission, tasks, best_protection(), Limits().longer(4))
    assert report.score == 0
    assert [row.found for row in report.rows] != [""]


# ---- time ----------------------------------------------------------------------------------------


def test_a_project_may_allow_more_time(tmp_path):
    """Half a second of work, for answers that may take 0.2 seconds, or 20 times that."""
    submission = tmp_path / "device.py"
    slow = "    from time import process_time\n    end = process_time() + 0.5\n"
    slow += "    while process_time() < end: pass\n"
    submission.write_text(COUNTER.replace("    state = [start]\n", slow + "    state = [start]\n"))
    limits = Limits(load_seconds=20, answer_seconds=0.2, total_seconds=20)
    scores = []
    for times in (1.0, 20.0):
        tasks = tmp_path / f"tasks{times:.0f}.py"
        tasks.write_text(PROJECT.format(times=times))
        scores.append(grade(submission, tasks, best_protection(), limits).score)
    assert scores == [0, 10]


def test_longer_limits_have_more_time_and_nothing_else():
    usual, longer = Limits(), Limits().longer(3)
    changed = {name for name in vars(usual) if getattr(usual, name) != getattr(longer, name)}
    assert changed == {"load_seconds", "answer_seconds", "total_seconds"}
    assert np.isclose(longer.answer_seconds, 3 * usual.answer_seconds)
