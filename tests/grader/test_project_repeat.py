"""Full marks for the worked solution, on a busy machine too."""

from tests.grader.repeat import graded_side_by_side


def test_the_worked_solution_gets_full_marks_beside_others():
    """A longer form, by hand: python -m tests.grader.repeat --runs 30 --beside 4"""
    assert graded_side_by_side(4) == [(100, [])] * 4
