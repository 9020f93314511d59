"""A change of a worked solution costs what it should, and is named; what is as good costs nothing,
nor does it to solve tasks in an unusual way.
"""

import pytest

from tests.grader.submissions import FOLDER, expect_its_points, together
from tests.grader.worked import PROJECTS, worked
from tinyframe import Context

CHANGES = {
    f"{name}-{number}": (name, changes)
    for name in PROJECTS
    for number, changes in enumerate(together(FOLDER / f"{name}.txt"))
}
pytestmark = pytest.mark.usefixtures("somewhere_else")


@pytest.fixture(autouse=True)
def without_spec():
    """As where submissions are graded; what the worked solutions build is checked with them."""
    with Context(SPEC=0):
        yield


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
