"""Which of the five rooms does the second one enter? Five times True or False

Hint: What of the first time can be kept? What has to be asked before it's used?
Hint: The graph is built anew, its structure is looked up, and the kernel is run.
Because: Building the graph, looking up its schedule, and running the kernel happen every time.
Lowering and rendering happened once, and their results are kept.
"""

from classroom.ask import predicts
from classroom.paths import entered, walks

SECONDS = 90


FIVE = (
    "tensor/elementwise.py",
    "schedule/__init__.py",
    "schedule/ranges.py",
    "renderer/cstyle.py",
    "run/realize.py",
)


def entered_again() -> tuple[bool, ...]:
    """Which of five rooms a second `a + b` enters."""
    _, again = walks("a + b", "a + b", to="numbers")
    return entered(again, FIVE)


check = predicts(entered_again)

# %% guesses
(
    (True, True, False, False, True),
    (True, True, True, True, True),
    (False, False, False, False, True),
    (True, False, False, False, True),
    (True, True, True, False, True),
)

# %% asked again, each line
"TTFFT"  # letters
{1, 2, 5}  # the rooms that are entered, not five values

# %% right, each line
(True, 1, False, 0, True)  # words and numbers mixed
[1, 1, 0, 0, 1]  # a list, of numbers that stand for True and False
