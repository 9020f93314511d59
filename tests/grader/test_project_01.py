"""Project 1: the worked solution gets 100 points, a mistake costs what it should, and nothing else.

The mistakes are those of somebody who is tired. Each is a replacement in the worked solution, and
names the checks that it must fail; a whole set of them, in tasks of their own, is graded at once.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from classroom.cut import cut_solutions
from classroom.grader.judge import grade, load_project, tasks_of
from classroom.grader.sandbox import ROOT, Limits, best_protection

NAME = "01_tensor_basics"
WORKED = ROOT / "solutions" / "projects" / f"{NAME}.py"
STARTER = ROOT / "projects" / f"{NAME}.py"
SLOW = Limits(load_seconds=60, answer_seconds=60, total_seconds=240)  # of a busy machine

# what is replaced in the solution, by what, and the points that it costs
MISTAKES = [
    {  # bytes as if every number were a float
        "describe": ("tensor.nbytes", "4 * tensor.numel()", 3),
        # 7.0, and the dtype left to it
        "factories": ("7, dtype=dtypes.int32", "7.0", 6),
        # the board written out in Python
        "checkerboard": (
            "return (down + along) % 2",
            "return Tensor([[(r + c) % 2 for c in range(columns)] for r in range(rows)])",
            10,
        ),
        # what ran before is counted too
        "kernel_count": ("tensor = build()\n    GlobalCounters.reset()", "tensor = build()", 8),
        # computed at once, so that no graph is left
        "chain": ("(x + 1).contiguous()", "(x + 1).realize()", 12),
        # one axis only
        "one_pass": ("(a * b + a - b).sum()", "(a * b + a - b).sum(0)", 6),
        # the op looked at when the schedule has been made
        "before_and_after": (
            "op_before = build().uop.base.op.name\n    kernels_before = len(build().schedule())",
            "t = build()\n    kernels_before = len(t.schedule())\n"
            "    op_before = t.uop.base.op.name",
            8,
        ),
        # said, not compared
        "compare": ('{"equal": difference <= 1e-5}', '{"equal": True}', 6),
        # integers count as values
        "find_op": ('(r"(float )?(val', '(r"(float |int )?(val', 12),
        # the smallest gain first
        "report": ("sorted(lines, reverse=True)", "sorted(lines)", 8),
    },
    {  # the upper bound is left out
        "factories": ("high=rows + 1", "high=rows", 4),
        # a 1 in the corner
        "checkerboard": ("(down + along) % 2", "(down + along + 1) % 2", 10),
        # always one kernel
        "chain": (
            "    for _ in range(kernels):\n        x = (x + 1).contiguous()\n    return x",
            "    return (x + kernels).contiguous()",
            12,
        ),
        # the formula as it is written
        "one_pass": ("(a * b + a - b).sum()", "(a * b).sum() + a.sum() - b.sum()", 12),
        # the counters run on
        "compare": (
            "run()\n        GlobalCounters.reset()\n        begin",
            "run()\n        begin",
            14,
        ),
        # lines from 0
        "find_op": ("found.append(number)", "found.append(number - 1)", 12),
        # the first line is taken apart where there may be none
        "report": ("lines = []\n    for row", "lines = []\n    rows[0]\n    for row", 4),
    },
]


def graded(path):
    return grade(path, tasks_of(NAME), best_protection(), SLOW)


def mistaken(number):
    """The report on the solution with one set of mistakes."""
    text = WORKED.read_text()
    for task, (right, wrong, _) in MISTAKES[number].items():
        assert text.count(right) == 1, f"{task}: {right} is not there once"
        text = text.replace(right, wrong)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{NAME}.py"
        path.write_text(text)
        return graded(path)


def lost(report):
    tasks = {
        task: sum(row.of - row.points for row in rows) for task, rows in report.tasks().items()
    }
    return {task: points for task, points in tasks.items() if points}


def test_the_worked_solution_gets_all_points():
    report = graded(WORKED)
    assert lost(report) == {}, report.rows
    assert (report.score, report.of, report.total, report.is_full) == (100, 100, 100, True)


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_each_mistake_costs_its_points_and_no_others(number):
    report = mistaken(number)
    assert lost(report) == {task: points for task, (_, _, points) in MISTAKES[number].items()}
    assert all(row.found and row.hint for row in report.rows if not row.passed)
    assert not report.is_full


def test_what_is_handed_out_is_the_worked_solution_cut():
    assert STARTER.read_text() == cut_solutions(WORKED.read_text())


def test_the_starter_runs_says_what_is_open_and_gets_nothing():
    done = subprocess.run([sys.executable, STARTER], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("open") >= 12
    report = graded(STARTER)
    assert report.score == 0
    assert "as it was handed out" in report.notes[0]
    assert {row.found for row in report.rows} == {"open: no answer yet"}


def test_the_worked_solution_prints_what_it_finds():
    done = subprocess.run([sys.executable, WORKED], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert "open" not in done.stdout
    assert "(a + b).relu().sum(): 1\n" in done.stdout
    assert "'kernels apart': 3" in done.stdout


def test_hints_and_points_are_whole():
    project = load_project(tasks_of(NAME))
    assert sum(check.points for check in project.checks) == project.points == 100
    assert all(check.hint.endswith((".", ")")) for check in project.checks)
