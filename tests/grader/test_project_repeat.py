"""Full marks for the worked solutions, in the sandbox and on a busy machine too."""

import pytest

from tests.grader.repeat import graded_side_by_side


# Those that measure seconds; the others' points do not depend on what else the machine does.
@pytest.mark.parametrize("project", ["01_tensor_basics", "04_mnist"])
def test_the_worked_solution_gets_full_marks_beside_others(project):
    """A longer form, by hand: python -m tests.grader.repeat NAME --runs 30 --beside 4"""
    assert graded_side_by_side(project, 2) == [(100, [])] * 2
