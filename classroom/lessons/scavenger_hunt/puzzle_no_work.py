"""`log(exp(x))` is `x`, on paper. Which settings have tinyframe believe it? A dict, from names to
values.
Hint: On paper isn't in floats. Which setting allows what isn't exact?
Hint: Read `simplify` in `codegen/__init__.py`, and remember what the first cell of this notebook
has set.
Because: The inexact rules are only used if RELAXED is 1. With NOOPT=1, which all our notebooks
begin with, `simplify` takes the index rules alone.
"""

from classroom.puzzlebook import changes
from classroom.puzzlebook.games.hunt import Question

puzzle = Question(changes.no_operation_left)

# %% wrong, each line
{"relaxed": 1, "noopt": 0}  # settings are in capitals

# %% right, each line
{"RELAXED": 1, "NOOPT": False}  # False for 0
