"""The graph of `i - j` has no SUB in it, only `i + j * -1`. For whole numbers, which rule puts the
minus into the C?
Hint: It's not an op that C lacks. It's one that C has, and that reads better. What are such things
called here?
Hint: `codegen/decompose/idioms.py`: which function has an example with a minus in it?
Because: Algebra wants one form for every sum, and a sum of products is that form. So SUB comes back
at the very end, as an idiom.
"""

from classroom.puzzlebook.games.hunt import Names, Question, hunted

puzzle = Question(
    Names(hunted.who_subtracts, "It's the row that made a SUB when I compiled `i - j`.")
)

# %% wrong, each line
"floor_divide"  # says Warm: `floor_divide` is in codegen/decompose/integers.py
Tensor([1.0])  # says has to be a name

# %% right, each line
"idioms.difference"  # with its module
