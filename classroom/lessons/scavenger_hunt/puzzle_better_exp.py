"""You've found a better polynomial for the exponential. Which file do you change?
Hint: Does any device need it? Only one without an EXP2 of its own. So what's the pass called?
Hint: `codegen/decompose/` has a file for each kind of op.
Because: The C of a plain processor has no EXP2, so decomposing makes one of products and shifts.
The elementary functions have a file to themselves.
"""

from classroom.puzzlebook.games.hunt import Names, Question, hunted

puzzle = Question(
    Names(hunted.where_exponentials_are_made, "Its functions ran when I compiled an EXP2.")
)

# %% wrong, each line
"tensor/elementwise.py"  # says Cold

# %% right, each line
"elementary"  # the name of the file
"elementary.exp2"  # one that is in it
"tinyframe.codegen.decompose.elementary"  # as a module

# %% right: a path
from pathlib import Path
Path("tinyframe/codegen/decompose/elementary.py")
