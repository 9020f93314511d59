"""Full marks for the worked solutions, in the sandbox and on a busy machine too."""

from tests.grader.repeat import graded_side_by_side


def test_worked_solutions_get_full_marks_beside_each_other():
    """Those that measure seconds; the others' points do not depend on what else the machine does.
    A longer form, by hand: python -m tests.grader.repeat NAME --runs 30 --beside 4
    """
    assert graded_side_by_side("01_tensor_basics", "04_mnist") == [(100, [])] * 2
