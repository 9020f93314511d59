"""Every project: the worked solution gets 100 points whatever is drawn, the starter is cut from it
and gets none, and points, numbers and hints are whole.

What is drawn here is different after each change of a project. Whoever changes one draws 300 times:
python -m tests.grader.repeat 06_custom_ops --seeds 300
"""

import re

import pytest

from classroom.cut import cut_solutions
from classroom.grader.judge import grade
from classroom.grader.report import table
from classroom.grader.sandbox import best_protection
from tests.grader.here import SLOW
from tests.grader.worked import PROJECTS, TASK, handed_in, lost, printed, worked

# How often is drawn, by how long it takes; all other tests draw "0". In the sandbox, what is drawn
# changes as well: there, test_project_repeat.py grades 01 and 04, and test_release.py the others.
DRAWN = {"01": 1, "02": 3, "03": 3, "04": 0, "05": 1, "06": 2, "07": 0}  # a new one: 2
SEEDS = [
    (name, f"{worked(name).digest} {seed}")
    for name in PROJECTS
    for seed in range(DRAWN.get(name[:2], 2))
]
every_project = pytest.mark.parametrize(
    "project", [worked(name) for name in PROJECTS], ids=PROJECTS
)


pytestmark = pytest.mark.usefixtures("somewhere_else")


@pytest.mark.parametrize("name, seed", SEEDS)
def test_the_worked_solution_gets_all_points_whatever_is_drawn(name, seed):
    judged = worked(name).rows(worked(name).text, seed)
    assert lost(judged) == {}, [row.found for row in judged if row.found]


@every_project
def test_what_is_handed_out_is_the_worked_solution_cut(project):
    assert project.starter.read_text() == cut_solutions(project.text)


@every_project
def test_the_starter_runs_says_what_is_open_and_leaves_nothing(project, tmp_path):
    said = printed(project.starter.read_text(), tmp_path, project.name)
    assert all("open" in section for section in re.split(r"(?m)^\d+\. ", said)[1:])
    assert len(re.findall(r"\bopen\b", said)) >= len(project.points)
    (left,) = tmp_path.iterdir()
    assert left.stem == project.name
    if project.project.main:
        given = {path.name for path in project.starter.parent.glob("*.*")}
        assert {path.name for path in left.iterdir()} - {"__pycache__"} == given  # Python's own


@every_project
def test_the_starter_gets_nothing_and_each_task_is_called_open(project):
    judged = project.rows(project.starter.read_text())
    assert lost(judged) == project.points
    assert {row.found for row in judged} == {"not written yet"}


@every_project
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_an_untouched_file_is_told_so_in_two_lines(project, end, tmp_path):
    path = handed_in(project, "", tmp_path)
    text = path / project.project.main if project.project.main else path
    text.write_bytes(project.starter.read_bytes().replace(b"\n", end))
    assert table(grade(path, project.tasks, best_protection(), SLOW)).splitlines() == [
        "Nothing in this file has changed yet. Did you save it?",
        "0 of 100 points",
    ]


@every_project
def test_points_are_whole_half_of_them_visible_and_tasks_in_the_order_of_their_numbers(project):
    checks = project.project.checks
    assert [(check.task, check.hidden) for check in checks] == [
        (task, hidden) for task in project.points for hidden in (False, True)
    ]
    by_task = {task: sum(c.points for c in checks if c.task == task) for task in project.points}
    assert by_task == project.points
    assert sum(by_task.values()) == project.project.points == 100
    assert 48 <= sum(check.points for check in checks if not check.hidden) <= 52
    numbers = [int(number) for _, number, _ in TASK.findall(project.text)]
    assert numbers == list(range(1, len(project.points) + 1))
    assert all(check.hint.endswith((".", "?", ")")) for check in checks)


# Short ones; lines of forty characters and more are test_release.py's.
ANSWERS = {
    "01_tensor_basics": ["a * b + a - b"],
    "03_autograd": ["s * (1 - s)", "gradient(rate)[0]", "speeds[u]", "w.grad = None"],
    "04_mnist": ["numpy_scores", "zero_grad()\n"],
    "05_compiler_pipeline": ["frexp(number)", "smallest, 3 * smallest"],
    "06_custom_ops": ["erff("],
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_checks_that_students_get_do_not_hold_an_answer(name):
    visible, _, hidden = worked(name).tasks.read_text().partition("### BEGIN HIDDEN")
    assert [answer for answer in ANSWERS[name] if answer in visible] == []
    assert all(answer in hidden + worked(name).text for answer in ANSWERS[name])


# ---- what the programs print ---------------------------------------------------------------------

FAST = [
    ("8: ((16, 32), 10, 32", "8: ((4, 8), 1, 32"),
    ("    with Context(BEAM=2, CACHE=0):", "    with Context(BEAM=0):"),
]  # one epoch instead of ten, and nothing searched for
NO_TORCH = [("        import torch\n", "        import torch_that_is_not_there\n")]
WAITING = [*FAST, ("    return step\n    ### END", "    ### END")]
# of a worked solution with such changes: how often it prints what, and the files that it writes
PRINTED = [
    ("01_tensor_basics", [], {r"\(a \+ b\)\.relu\(\)\.sum\(\): 1\n": 1, "'kernels apart': 3": 1,
                              "open": 0}),
    ("02_op_types", [], {r"predicted (\d+) +counted \1\b": 6,
                         r"predicted (\d+) +counted(?! +\1\b)": 0, "yes, of shape": 5,
                         "no, of shape": 0, "E is 60 steps from S": 1, "open": 0}),
    ("03_autograd", [], {r"   of the table that you know        \[\]\n": 1,
                         r"   with MUL and PERMUTE changed      \['MUL', 'PERMUTE'\]\n": 1,
                         r"loss \d\S+": 10, "(?:@[^@]*){400}": 1, "open": 0}),
    ("04_mnist", FAST, {"46 batches; the last has 2 images": 1, "scores differ by 0 at most": 1,
                        "open|waits": 0}, "loss.png", "mistakes.png", "model.safetensors"),
    ("04_mnist", WAITING, {"waits for task 4": 2}, "mistakes.png", "model.safetensors"),
    ("05_compiler_pipeline",
     [("def report_on_search(n=1024, width=4):", "def report_on_search(n=16, width=1):")],
     {"REDUCE_AXIS   █ █ ·": 1, r"-\(-\(x \* 1\)\) +6 nodes -> 1": 1, "open": 0}),
    ("06_custom_ops", [], {"o is gelu from -4 to 4": 1, "together  1 kernel    8 MB": 1,
                           "apart     5 kernels  44 MB": 1,
                           r"in your C     \[-0\.9953 -0\.8427  0\.      0\.8427  0\.9953\]": 1,
                           "(your erf|somebody careful) +no complaint": 2,
                           "somebody thrifty               input": 1, "open": 0}),
    ("06_custom_ops", NO_TORCH, {"PyTorch isn't installed here, so nothing is compared.": 3}),
    ("07_custom_backend", [], {r"\[5, 7, 9\]": 1, "GFLOP/s": 2, "open| NO": 0}),
]  # fmt: skip


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: row[0])
def test_what_a_worked_solution_prints_and_leaves(row, tmp_path):
    name, changes, times, *saved = row
    of = worked(name)
    said = printed(of.changed(*changes), tmp_path, name)
    assert {text: len(re.findall(text, said)) for text in times} == times, said
    left = {path.name for path in tmp_path.rglob("*.*") if path.suffix != ".pyc"}
    given = of.starter.parent.glob("*.py") if of.project.main else [of.path]
    assert left - {path.name for path in given} == set(saved)
