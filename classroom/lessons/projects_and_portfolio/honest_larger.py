"""A file that deserves its points

Hint: In 7.3 you met the larger of two numbers without MAX. What did it look like?
Hint: `condition.where(a, b)` takes from `a` where the condition holds, and else from `b`.
Because: A comparison gives a Tensor of True and False, and `where` picks by it.
Right: 100 of 100 points, from a grader that trusts nobody. Count your lines, and theirs.
"""

from classroom.exercise import Wrong
from classroom.lessons.projects_and_portfolio.shared import program
from classroom.toys.grading import really

SECONDS = 300.0


def check(answer) -> None:
    report = really(program(answer))
    if report.notes and report.score < 100:
        raise Wrong(report.notes[0])
    for row in report.rows:
        if not row.passed:
            more = (("your line", f"{row.line}: `{row.text}`"),) if row.line else ()
            raise Wrong(f"{report.score} of 100 points. {row.shows}: {row.found}.", more=more)

# %% shared
from classroom.toys.files import FORGED, HARD_CODED, UNDER_ANOTHER_NAME

# %% wrong, each line
HARD_CODED  # says has shape (3,), not (5,)
FORGED  # says could not be loaded
'def larger(a, b):\n    return Tensor.where(a > b, a, b)'  # as in PyTorch, but nobody has imported Tensor

# %% right, each line
'def larger(a, b):\n    return a + (b - a).relu()'  # relu, which is no MAX here

# %% right
ONE_LINE = "larger = lambda a, b: (a < b).where(b, a)"
ONE_LINE
