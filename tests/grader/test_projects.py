"""Every project: the worked solution gets 100 points whatever is drawn, the starter is cut from it
and gets none, and points, numbers and hints are whole. test_project_repeat.py uses the sandbox.

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

# How often is drawn, by how long it takes; all other tests draw "0".
DRAWN = {"02": 6, "03": 5, "06": 6, "04": 1, "07": 1}  # the others: 2
SEEDS = [
    (name, f"{worked(name).digest} {seed}")
    for name in PROJECTS
    for seed in range(DRAWN.get(name[:2], 2))
]
every_project = pytest.mark.parametrize(
    "project", [worked(name) for name in PROJECTS], ids=PROJECTS
)


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """Projects 4 and 5 write files where they are told to, which is here."""
    monkeypatch.chdir(tmp_path)


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
