"""E_3, r_64_16. Which function makes these names?
Hint: Is the name made before the Opts are known, or after?
Hint: `ProgramSpec` asks for it when somebody first wants to know its name in the C.
Because: The name is E or r, for elementwise or reduce, and the lengths of its loops.
"""

from classroom.puzzlebook import hunted
from classroom.puzzlebook.games.hunt import Question
from classroom.puzzlebook.hunted import Names

puzzle = Question(Names(hunted.who_names_kernels, "It returned the name of `a + b`."))
