"""Somebody's pass makes an ADD with one source. Which setting has every graph inspected after every
stage?
Hint: All settings stand in one table, with a sentence each.
Hint: `tinyframe/settings.py`, in the part on how to compile.
Because: What's legal at which level is a table, too: `rewrite/spec.py`. The tests run with it.
"""

from classroom.puzzlebook.games.hunt import Question, Words, hunted

puzzle = Question(
    Words(
        hunted.watchmen,
        "I tried them all on an ADD with one source.",
        "With that one, nobody minds an ADD with one source.",
    )
)

# %% wrong, each line
"DEBUG"  # says nobody minds

# %% right, each line
{"SPEC": 1}  # as a dict
"SPEC=1 python train.py"  # how one would use it
