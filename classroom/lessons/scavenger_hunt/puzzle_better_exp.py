"""You've found a better polynomial for the exponential. Which file do you change?
Hint: Does any device need it? Only one without an EXP2 of its own. So what's the pass called?
Hint: `codegen/decompose/` has a file for each kind of op.
Because: The C of a plain processor has no EXP2, so decomposing makes one of products and shifts.
The elementary functions have a file to themselves.
"""

from classroom.puzzlebook import hunted
from classroom.puzzlebook.games.hunt import Question
from classroom.puzzlebook.hunted import Names

puzzle = Question(
    Names(hunted.where_exponentials_are_made, "Its functions ran when I compiled an EXP2.")
)

# %% right, each line
"tinyframe.codegen.decompose.elementary"  # as a module
