"""`why` says "needed 4 times". Which function decided that this value is stored?
Hint: The cost rule of 4b decides. In which folder would you expect it?
Hint: Search `schedule/fuse.py` for the words `needed {`.
Because: The cost rule is one method, and its answer is the reason, as a string, or None. What `why`
prints is simply that.
"""

from classroom.puzzlebook.games.hunt import Names, Question, hunted

puzzle = Question(Names(hunted.who_stores, "It returned that very string."))

# %% wrong, each line
"schedule/fuse.py"  # says Hot: that's the right file
"schedule"  # says Warm: that's the right folder

# %% right, each line
"_CostModel.reason_to_store"  # as it was called once
"CostModel.reason_to_store in schedule/fuse.py"  # in a sentence
