"""An int32 plus a float16 is a float16. Which function says so?
Hint: Is that a question about Tensors, or about dtypes?
Hint: `dtype.py`: which function is given some dtypes, and returns one?
Because: Promotion is a small lattice, and the answer is the least dtype above both.
"""

from classroom.puzzlebook.games.hunt import Names, Question, hunted

puzzle = Question(Names(hunted.who_promotes, "It was given both dtypes, and returned the float16."))

# %% wrong, each line
"to_dtype"  # says Hot

# %% right, each line
"tinyframe.dtype.least_upper_dtype"  # as Python imports it
