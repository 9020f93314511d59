"""`log(exp(x))` is `x`, on paper. Which settings have tinyframe believe it? A dict, from names to
values.
Hint: On paper isn't in floats. Which setting allows what isn't exact?
Hint: Read `simplify` in `codegen/__init__.py`, and remember what the first cell of this notebook
has set.
Because: The inexact rules are only used if RELAXED is 1. With NOOPT=1, which all our notebooks
begin with, `simplify` takes the index rules alone.
"""

from classroom.puzzlebook.games.hunt import Question, changes

puzzle = Question(changes.no_operation_left)

# %% wrong, each line
{"RELAXED": 1}  # says still nobody does it
{"NOOPT": 0}  # says operations are left
{"FAST": 1}  # says unknown setting
{"RELAXED": 7}  # says must be 0 or 1
"RELAXED"  # says has to be a dict
{"relaxed": 1, "noopt": 0}  # settings are in capitals

# %% right, each line
{"NOOPT": "0", "RELAXED": True, "DEBUG": 0}  # text for a number, and one more
Context(RELAXED=1, NOOPT=0)  # ready to be entered
{"RELAXED": 1, "NOOPT": False}  # False for 0
