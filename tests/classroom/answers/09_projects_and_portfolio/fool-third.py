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
