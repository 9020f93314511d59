"""A file that fools the third grader

Hint: Your file is imported into the grader's own process. Which of its functions would you like
to be different? Or where do the points go, and who else can write there?
Hint: `np.allclose` decides. In your file, give NumPy one that says True to everything.
Because: The grader and the submission share a process, so its functions, its variables and its
files are the submission's to change.
"""

from classroom.lessons.projects_and_portfolio.shared import fools

SECONDS = 300.0


check = fools(
    "third",
    "100 of 100 points, and nobody was asked to compute anything. Whoever "
    "runs in the same process as the judge can be the judge.",
)

# %% shared
from classroom.toys.files import FORGED, HARD_CODED, UNDER_ANOTHER_NAME

# %% wrong, each line
UNDER_ANOTHER_NAME  # says 0 of 100 points

# %% wrong: says never got as far as any points
SILENT = "import os\n\nos._exit(0)\n"
SILENT

# %% wrong: all() takes one thing, so it raises
"""
import numpy

numpy.allclose = all
larger = lambda a, b: a
"""

# %% right, each line
FORGED

# %% right
WITH_ITS_EXIT = "import atexit\nfrom pathlib import Path\n\natexit.register(\n    lambda: " \
    'Path("points.txt").write_text("100")\n)\n\n\ndef larger(a, b):\n    return a\n'
WITH_ITS_EXIT
