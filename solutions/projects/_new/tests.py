"""Project NUMBER: the worked solution gets 100 points, a mistake costs what it should, and nothing
else. test_projects.py makes sure of what holds for every project."""

import pytest

from tests.grader.worked import Worked, lost, printed

WORKED = Worked("NAME")

# Mistakes that a tired student would make: what is replaced in the solution, by what, and the
# points that it costs. Those of one set are in tasks of their own, and graded at once.
MISTAKES = [
    {
        # the other axis
        "weighted": ("sum(axis=1)", "sum(axis=0)", 48),
        # one too many
        "kernels_of": ("len(build().schedule())", "len(build().schedule()) + 1", 52),
    },
    {
        # right, in two kernels: half of it
        "weighted": ("(x * weights).sum", "(x * weights).contiguous().sum", 24),
    },
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_each_mistake_costs_its_points_and_no_others(number):
    mistakes = MISTAKES[number]
    judged = WORKED.rows(WORKED.changed(*(pair[:2] for pair in mistakes.values())))
    assert lost(judged) == {task: points for task, (_, _, points) in mistakes.items()}
    assert all(row.found and row.hint for row in judged if not row.passed)


# Other answers that fit the wording, and get all points: what is replaced, and by what. Whole
# solutions of another kind are files in unusual/.
AS_GOOD = {
    "a product of matrices": ("(x * weights).sum(axis=1)", "x @ weights"),
    "counted one by one": ("len(build().schedule())", "sum(1 for _ in build().schedule())"),
}


@pytest.mark.parametrize("name", AS_GOOD)
def test_what_the_words_allow_gets_all_points(name):
    judged = WORKED.rows(WORKED.changed(AS_GOOD[name]))
    assert lost(judged) == {}, [row.found for row in judged if row.found]


def test_the_worked_solution_prints_what_it_finds(tmp_path):
    said = printed(WORKED.text, tmp_path, WORKED.name)
    assert "of two rows: [321.0, 654.0]\n" in said
    assert "open" not in said
