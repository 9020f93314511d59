"""Project 1: the worked solution gets 100 points, a mistake costs what it should, and nothing else.

The mistakes are those of somebody who is tired. Each is a replacement in the worked solution, and
names the checks that it must fail; a whole set of them, in tasks of their own, is graded at once.
test_project_repeat.py grades the worked solution in the sandbox.
"""

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from classroom.cut import cut_solutions
from classroom.grader.judge import grade, load_project, tasks_of
from classroom.grader.report import table
from classroom.grader.sandbox import ROOT, best_protection
from tests.grader.here import SLOW, rows

NAME = "01_tensor_basics"
WORKED = ROOT / "solutions" / "projects" / f"{NAME}.py"
STARTER = ROOT / "projects" / f"{NAME}.py"

# what is replaced in the solution, by what, and the points that it costs
MISTAKES = [
    {  # bytes as if every number were a float
        "describe": ("tensor.nbytes", "4 * tensor.numel()", 1),
        # 7.0, and the dtype left to it: two of eight, as "like" follows it
        "factories": ("7, dtype=dtypes.int32", "7.0", 2),
        # the board written out in Python
        "checkerboard": (
            "return (down + along) % 2",
            "return Tensor([[(r + c) % 2 for c in range(columns)] for r in range(rows)])",
            10,
        ),
        # what ran before is counted too
        "kernel_count": ("tensor = build()\n    GlobalCounters.reset()", "tensor = build()", 10),
        # computed at once, so that no graph is left
        "chain": ("(x + 1).contiguous()", "(x + 1).realize()", 12),
        # one axis only
        "one_pass": ("(a * b + a - b).sum()", "(a * b + a - b).sum(0)", 6),
        # the op looked at when the schedule has been made
        "before_and_after": (
            "op_before = build().uop.base.op.name\n    kernels_before = len(build().schedule())",
            "t = build()\n    kernels_before = len(t.schedule())\n"
            "    op_before = t.uop.base.op.name",
            6,
        ),
        # said, not compared
        "compare": ('{"equal": difference <= 1e-5}', '{"equal": True}', 5),
        # integers count as values
        "find_op": ('(r"(float )?(val', '(r"(float |int )?(val', 4),
        # the smallest gain first
        "report": ("sorted(lines, reverse=True)", "sorted(lines)", 4),
    },
    {  # the upper bound is left out
        "factories": ("high=rows + 1", "high=rows", 1),
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
            5,
        ),
        # lines from 0
        "find_op": ("found.append(number)", "found.append(number - 1)", 8),
        # the first line is taken apart where there may be none
        "report": ("lines = []\n    for row", "lines = []\n    rows[0]\n    for row", 4),
    },
]


PROJECT = load_project(tasks_of(NAME))
POINTS = {"describe": 6, "factories": 10, "checkerboard": 10, "kernel_count": 10, "chain": 12,
          "one_pass": 12, "before_and_after": 10, "compare": 14, "find_op": 8,
          "report": 8}  # fmt: skip


def graded(path):
    return grade(path, tasks_of(NAME), best_protection(), SLOW)


def lost_in(judged):
    """What these rows lose, task by task."""
    found = {}
    for row in judged:
        found[row.task] = found.get(row.task, 0) + row.of - row.points
    return {task: points for task, points in found.items() if points}


def rows_lost(text, seed="0"):
    """What a submission loses, task by task; graded in this process."""
    return lost_in(rows(PROJECT, text, seed))


def changed(*pairs):
    """The worked solution with other text in places."""
    text = WORKED.read_text()
    for right, other in pairs:
        assert text.count(right) == 1, f"{right} is not there once"
        text = text.replace(right, other)
    return text


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_each_mistake_costs_its_points_and_no_others(number):
    mistakes = MISTAKES[number]
    judged = rows(PROJECT, changed(*(pair[:2] for pair in mistakes.values())))
    assert lost_in(judged) == {task: points for task, (_, _, points) in mistakes.items()}
    assert all(row.found and row.hint for row in judged if not row.passed)


def test_what_is_handed_out_is_the_worked_solution_cut():
    assert STARTER.read_text() == cut_solutions(WORKED.read_text())


def test_the_starter_runs_says_what_is_open_and_gets_nothing():
    done = subprocess.run([sys.executable, STARTER], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("open") >= 12
    judged = rows(PROJECT, STARTER.read_text())
    assert lost_in(judged) == POINTS
    assert {row.found for row in judged} == {"not written yet"}


def test_an_untouched_file_is_told_so_in_two_lines(tmp_path):
    assert table(graded(STARTER)).splitlines() == [
        "Nothing in this file has changed yet. Did you save it?",
        "0 of 100 points",
    ]
    ends = tmp_path / f"{NAME}.py"  # the same with Windows' line ends
    ends.write_bytes(STARTER.read_bytes().replace(b"\n", b"\r\n"))
    assert len(table(graded(ends)).splitlines()) == 2


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


# ---- whatever the seed ---------------------------------------------------------------------------


def test_the_worked_solution_gets_all_points_whatever_is_drawn():
    """All other tests draw "0"."""
    text = WORKED.read_text()
    assert {seed: rows_lost(text, seed) for seed in ("1", "2")} == {"1": {}, "2": {}}


def test_tasks_are_asked_and_handed_out_in_the_order_of_their_numbers():
    assert [(task, row.points) for task, row in points_by_task()] == list(POINTS.items())
    numbered = re.findall(r'^def (\w+)\(.*\):\n    """Task (\d+) \((\d+) points\)',
                          STARTER.read_text(), re.MULTILINE)  # fmt: skip
    assert [(name, int(points)) for name, _, points in numbered] == list(POINTS.items())
    assert [int(number) for _, number, _ in numbered] == list(range(1, 11))


def points_by_task():
    found = {}
    for check in PROJECT.checks:  # in the order that they are asked in
        before = found.pop(check.task, None) if list(found)[-1:] == [check.task] else None
        found[check.task] = replace(check, points=check.points + (before.points if before else 0))
    return found.items()


# ---- what is as good as the worked solution ------------------------------------------------------

# Each in a place of its own, so that all of them are graded at once.
AS_GOOD = {
    "a namedtuple for a tuple": (
        ("return tensor.shape, str(tensor.dtype), tensor.nbytes",
         "import collections\n    kind = collections.namedtuple('Facts', 'shape dtype bytes')\n"
         "    return kind(list(tensor.shape), str(tensor.dtype), tensor.nbytes)"),
    ),
    "an OrderedDict, a ChainMap": (
        ("    return {\n        \"zeros\"",
         "    import collections\n    return collections.OrderedDict({\n        \"zeros\""),
        ("high=rows + 1),\n    }", "high=rows + 1),\n    })"),
        ('return found | {"equal": difference <= 1e-5}',
         'import collections\n'
         '    return collections.ChainMap(found, {"equal": difference <= 1e-5})'),
    ),
    "a list for a tuple, and a tuple for a list": (
        ("return kernels_before, op_before, len(tensor.schedule()), tensor.uop.base.op.name",
         "return [kernels_before, op_before, len(tensor.schedule()), tensor.uop.base.op.name]"),
        ("            found.append(number)\n    return found",
         "            found.append(number)\n    return tuple(found)"),
    ),
    "rounding half up": (
        ("{gain:.1f} times", "{int(gain * 10 + 0.5) / 10} times"),
    ),
    "a board that is a view of a padded constant and needs no kernel": (
        ("    return (down + along) % 2",
         "    odd = columns | 1  # each row of the wider board begins where the last one stopped\n"
         "    turn = Tensor.ones(1, dtype=dtypes.int32).pad(((1, 0),))\n"
         "    turns = turn.reshape(1, 2).expand(rows * odd, 2).reshape(-1)\n"
         "    return turns[: rows * odd].reshape(rows, odd)[:, :columns]"),
    ),
    "a report that ends its last line": (
        ('return "\\n".join(line for _, line in sorted(lines, reverse=True))',
         'return "".join(line + "\\n" for _, line in sorted(lines, reverse=True))'),
    ),
}  # fmt: skip


def test_what_the_words_allow_gets_all_points():
    judged = rows(PROJECT, changed(*(pair for pairs in AS_GOOD.values() for pair in pairs)))
    assert lost_in(judged) == {}, [row.found for row in judged if row.found]


# ---- what was not asked for ----------------------------------------------------------------------


def test_numpy_arrays_get_nothing_where_tensors_are_asked_for_and_are_named():
    text = changed(
        ("    return {\n        \"zeros\"",
         "    return {k: v.numpy() for k, v in {\n        \"zeros\""),
        ("high=rows + 1),\n    }", "high=rows + 1),\n    }.items()}"),
        ("return (down + along) % 2", "return ((down + along) % 2).numpy()"),
    )  # fmt: skip
    judged = rows(PROJECT, text)
    assert lost_in(judged) == {"factories": 10, "checkerboard": 10}
    found = " ".join(row.found for row in judged)
    assert "zeros: it is a NumPy array of shape" in found
    assert "where a Tensor is asked for" in found


def test_floats_get_nothing_where_integers_are_asked_for_and_are_named():
    text = changed(
        ("return (down + along) % 2", "return ((down + along) % 2).float()"),
        ("return GlobalCounters.kernel_count", "return float(GlobalCounters.kernel_count)"),
        ("            found.append(number)", "            found.append(float(number))"),
    )
    judged = rows(PROJECT, text)
    assert lost_in(judged) == {"checkerboard": 10, "kernel_count": 10, "find_op": 8}
    found = " ".join(row.found for row in judged)
    assert "the board has dtype float32, where integers are asked for" in found
    assert "where an integer is asked for" in found


def test_one_wrong_entry_of_eight_costs_one_point_and_is_named():
    text = changed(("Tensor.eye(rows)", "Tensor.ones(rows, rows)"))
    judged = rows(PROJECT, text)
    assert lost_in(judged) == {"factories": 1}
    (found,) = [row.found for row in judged if row.found]
    assert found.splitlines() == ["7 of 8 parts are right", "eye: it[0, 1] is 1, and should be 0"]


def test_constants_collected_from_reports_get_nothing():
    """A submission that answers each question with what a report said was right for the last
    file."""
    answers = {}
    for row, check in zip(rows(PROJECT, WRONG_ANSWERS, "last"), PROJECT.checks, strict=True):
        if not check.hidden:
            answers.setdefault(
                row.task, re.findall(r" is -?\d[^,]*, and should be (\d+)", row.found)
            )
    assert answers["kernel_count"], "the report on visible checks names the number"
    text = (
        f"KNOWN = {answers!r}\n"
        "def known(name):\n"
        "    KNOWN[name] = KNOWN[name][1:] + KNOWN[name][:1]\n"
        "    return int(KNOWN[name][-1])\n"
        "def kernel_count(build): return known('kernel_count')\n"
        "def before_and_after(build): return 1, 'REDUCE_AXIS', 0, 'BUFFER'\n"
        "def compare(start, steps): return {'kernels together': 1, 'kernels apart': 3,\n"
        "    'seconds together': 1.0, 'seconds apart': 2.0 * (len(steps) < 0) + 1.0,\n"
        "    'equal': True}\n"
        "def find_op(source, op): return [7]\n"
        "def report(rows): return ''\n"
        "def describe(x): return (2, 3), 'dtypes.float', 24\n"
    )
    for seed in ("a", "b", "c"):
        got = {row.task: row.points for row in rows(PROJECT, text, seed) if row.points}
        assert got == {}, got


WRONG_ANSWERS = """
def kernel_count(build): return 99
def before_and_after(build): return 99, "x", 99, "x"
def compare(start, steps):
    return {"kernels together": 99, "kernels apart": 99, "seconds together": 1.0,
            "seconds apart": 1.5, "equal": 99}
def find_op(source, op): return [99]
def report(rows): return "99"
def describe(x): return (99,), "99", 99
"""


def test_a_report_names_each_part_that_was_missed():
    text = changed(('{"equal": difference <= 1e-5}', '{"equal": True}'))
    found = [row.found.splitlines() for row in rows(PROJECT, text) if row.found]
    assert [lines[0] for lines in found] == ["2 of 3 parts are right"] * 2
    assert all(lines[1].startswith("equal: 'equal' of ") for lines in found)


def test_the_checks_that_students_get_do_not_hold_an_answer():
    assert [check.hidden for check in PROJECT.checks] == [False, True] * 10
    visible = tasks_of(NAME).read_text().partition("### BEGIN HIDDEN")[0]
    assert "a * b + a - b" not in visible
