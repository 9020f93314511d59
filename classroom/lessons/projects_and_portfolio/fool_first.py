"""A file that fools the first grader

Hint: The first grader asks one question, ever. What's the cheapest way to know the answer?
Hint: Return a Tensor of the three numbers that it compares with. Don't forget the import.
Because: A question that never changes needs no work, only memory.
"""

from classroom.lessons.projects_and_portfolio.shared import fools

SECONDS = 300.0


check = fools(
    "first",
    "100 of 100 points, for a function that can't do a thing. The next grader "
    "has heard of people like you.",
)

# %% shared
from classroom.toys.files import FORGED, HARD_CODED, UNDER_ANOTHER_NAME

# %% wrong, each line
"def larger(a, b):\n    return a\n"  # says 0 of 100 points
"def larger(a, b)\n    return a\n"  # says Python can't read your file
4  # says has to be a text

# %% wrong: says name 'Tensor' is not defined
NO_IMPORT = "def larger(a, b):\n    return Tensor([4, 5, 2.5])\n"
NO_IMPORT

# %% wrong: says Even a gullible teacher would notice
GREEDY = FORGED.replace('"100"', '"1000"')
GREEDY

# %% wrong: says it's honest work
ONE_LINE = "larger = lambda a, b: (a < b).where(b, a)"
ONE_LINE

# %% wrong: 100 points, and honestly: a, plus what b has more
"""
def larger(a, b):
    return a + (b > a).where(b - a, 0)
"""

# %% right, each line
HARD_CODED

# %% right: a class whose objects say the example; there is no Tensor anywhere
"""
class larger(list):
    def __init__(self, a, b):
        pass
    def tolist(self):
        return [4, 5, 2.5]
"""
