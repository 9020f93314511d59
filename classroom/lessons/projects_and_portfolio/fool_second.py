"""A file that fools the second grader

Hint: The word may not be in the file. How else can you get hold of a method of `a`?
Hint: `getattr(a, "…")` takes the name as text, and a text can be put together out of two.
Because: A rule about the text of a program is a rule about spelling. There's always another way
to spell it.
"""

from classroom.lessons.projects_and_portfolio.shared import fools

SECONDS = 300.0


check = fools(
    "second",
    "100 of 100 points. It read your file and didn't find the word. It didn't "
    "look at what your file does.",
)

# %% shared
from classroom.toys.files import FORGED, HARD_CODED, UNDER_ANOTHER_NAME

# %% wrong, each line
HARD_CODED  # says shapes (3,) (6,)
'def larger(a, b):\n    return a + (b - a).relu()'  # a relu is a WHERE here, so this is honest work

# %% wrong: says 0 of 100 points
BY_MAXIMUM = "def larger(a, b):\n    return a.maximum(b)\n"
BY_MAXIMUM

# %% wrong: the word max is in fmax
"""
import numpy as np
from tinyframe import Tensor

def larger(a, b):
    return Tensor(np.fmax(a.numpy(), b.numpy()))
"""

# %% right, each line
UNDER_ANOTHER_NAME.replace("\n", "\n        ")

# %% right: draws the fresh numbers itself: they are all 0
"""
import numpy as np

np.random.rand = lambda *shape: np.zeros(shape)
larger = lambda a, b: b
"""
