"""E_3, r_64_16. Which function makes these names?
Hint: Is the name made before the Opts are known, or after?
Hint: `ProgramSpec` asks for it when somebody first wants to know its name in the C.
Because: The name is E or r, for elementwise or reduce, and the lengths of its loops.
"""

from classroom.puzzlebook.games.hunt import Names, Question, hunted

puzzle = Question(Names(hunted.who_names_kernels, "It returned the name of `a + b`."))

# %% wrong, each line
"render"  # says Cold

# %% right, each line
"program.function_name"  # with its module

# %% right: the function itself
from tinyframe.codegen.program import function_name
function_name
