"""A change of a worked solution costs what it should, and is named; what is as good costs nothing;
and who solves tasks in an unusual way gets all their points.

A file of `unusual/` has other solutions of some tasks, and is graded after the worked ones, so that
its definitions count.
"""

from pathlib import Path

import pytest

from tests.grader.submissions import FOLDER, expect_its_points, together
from tests.grader.worked import PROJECTS, lost, worked

CHANGES = {
    f"{name} {number}": (name, changes)
    for name in PROJECTS
    for number, changes in enumerate(together(FOLDER / f"{name}.txt"))
}
UNUSUAL = sorted((Path(__file__).parent / "unusual").glob("*.py"))
pytestmark = pytest.mark.usefixtures("somewhere_else")


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_change_costs_its_points_and_no_others_and_is_named(name):
    project, changes = CHANGES[name]
    expect_its_points(worked(project), changes)


@pytest.mark.parametrize("name", PROJECTS)
def test_every_task_can_be_done_wrong(name):
    changes = [change for project, changes in CHANGES.values() if project == name
               for change in changes]  # fmt: skip
    costly = {task for each in changes for task, points in each.points.items() if points[-1]}
    assert costly == worked(name).points.keys()


@pytest.mark.parametrize("path", UNUSUAL, ids=lambda path: path.stem)
def test_an_unusual_submission_gets_all_points(path):
    (of,) = (worked(name) for name in PROJECTS if name[:2] == path.name[:2])
    text = path.read_text()
    rows = of.rows(f"{of.text}\n{text}", seed=path.stem, tasks=of.about(text))
    assert rows and lost(rows) == {}, [row.found for row in rows if row.found]
