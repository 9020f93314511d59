"""What works an answer out stays with the judge: no student and no submission has it."""

import ast
import json
from pathlib import Path

import pytest

from classroom.grader.judge import TASKS, grade, load_project
from classroom.grader.recorded import CASES, answer, has_recorded, known, recorded
from classroom.grader.sandbox import Limits, best_protection
from classroom.grader.tasks import Ask
from classroom.record import answers
from classroom.release import contents, without_worked
from tests.grader.here import recorded as recorded_here

ALL = sorted(path.stem for path in TASKS[0].glob("*.py"))


def test_the_command_records_what_is_found_in_the_sandbox():
    tasks = TASKS[0] / "03_autograd.py"
    assert answers(tasks, [0]) == recorded_here(tasks, [0])


@pytest.mark.parametrize("name", ALL)
def test_a_release_has_no_function_that_works_an_answer_out(name):
    whole = (TASKS[0] / f"{name}.py").read_text()
    marked = {
        node.name
        for node in ast.parse(whole).body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(d, ast.Name) and d.id == "answer" for d in node.decorator_list)
    }
    text = contents()[f"classroom/projects/{name}.py"][1].decode()
    tree = ast.parse(text)
    left = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert marked.isdisjoint(left)
    used = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    used |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    assert used.isdisjoint({"measured", "toposort", "schedule", "get_program", "Ops", "GroupOp"})
    assert "classroom/measured.py" not in contents()


TASKS_OF_RELEASE = """
from classroom.grader.recorded import answer
from classroom import measured
from functools import cache
from classroom.grader.tasks import Expression, Project, expect_equal

project = Project("Recorded")

@answer
def twice(expression, numbers):
    return [2 * _helped(n) for n in numbers]

@cache
def _helped(n):
    return n

kernels = answer(measured.kernels)

@project.check("one", 100, "a number", hint="-")
def _(ask):
    n = ask.integer(1, 1000)
    expression = Expression("a + 1", {"a": ask.floats(3)})
    for name, wanted in (("first", twice(expression, [n])), ("second", kernels(expression))):
        with ask.part(name):
            expect_equal(ask(name, n), wanted, name)
"""


def twice_and_kernels(tasks, case):
    """What the check asks in this case, noted."""

    class Answers:
        def answer(self, who, kind, body, arrays):
            raise ValueError("not asked")

    (check,) = load_project(tasks).checks
    check.judge(Ask(Answers(), case))


def test_a_release_asks_what_was_recorded_and_judges_by_it(tmp_path):
    tasks = tmp_path / "tasks.py"
    tasks.write_text(without_worked(TASKS_OF_RELEASE))
    text = tasks.read_text()
    assert "_helped" not in text and "measured" not in text and "cache" not in text
    assert 'kernels = recorded("kernels")' in text
    whole = tmp_path / "whole.py"
    whole.write_text(TASKS_OF_RELEASE)
    assert load_project(whole).cases is None
    submission = tmp_path / "submission.py"
    submission.write_text("def first(n): return [2 * n]\ndef second(n): return 1\n")
    known.clear()
    for case in range(CASES):
        twice_and_kernels(whole, case)
    tasks.with_suffix(".json").write_text(json.dumps(known))
    assert has_recorded(tasks) and not has_recorded(whole)
    assert grade(submission, tasks, best_protection()).score == 100
    submission.write_text("def first(n): return [3 * n]\ndef second(n): return 1\n")
    report = grade(submission, tasks, best_protection())
    assert report.score == 50
    assert "1 of 2 parts right" in report.rows[0].found


def test_what_was_not_recorded_is_no_answer():
    assert answer(lambda n: n)(3) == 3
    with pytest.raises(KeyError):
        recorded("nothing")(3)


CHEATS = {
    "the grader's own words": "from classroom.grader.expressions import Expression\n"
    "def double(x): return Expression('a', {'a': x}).kernels()\nlazily = double",
    "the judge's functions": "from classroom.measured import kernels\n"
    "def double(x): return kernels(x)\nlazily = double",
    "what was recorded": "from classroom.grader.recorded import known\n"
    "def double(x): return known\nlazily = double",
}


@pytest.mark.parametrize("name", CHEATS)
def test_nothing_that_answers_is_sent_to_where_a_submission_runs(name, tmp_path):
    submission = tmp_path / "submission.py"
    submission.write_text(CHEATS[name])
    toy = Path(__file__).with_name("toy.py")
    report = grade(submission, toy, best_protection(), Limits())
    whole = " ".join([*report.notes, *(row.found for row in report.rows)])
    assert report.score == 0
    assert "ModuleNotFoundError" in whole or "AttributeError" in whole
