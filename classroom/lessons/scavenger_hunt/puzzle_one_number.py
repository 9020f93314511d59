"""`(table * w.exp()).sum(axis=1)` stores the exponentials first, as in 7b. Change one number of
`thresholds.py`, and it doesn't. A pair: its name and a new value.
Hint: Each exponential would be computed four times. Who says that this is too often?
Hint: Two numbers of the first section matter here: one says how often is too often, one says what's
cheap.
Because: The cost rule compares the evaluations with a limit, unless the value is cheap. Raise
either, and the exponentials move into the kernel.
"""

from classroom.puzzlebook.games.hunt import Question, changes

puzzle = Question(changes.one_number)

# %% wrong, each line
("PANEL_ROWS", 64)  # says This number is about sums of products
("RECOMPUTE", 64)  # says no number called `RECOMPUTE`
("CHEAP", "a lot")  # says has to be a number
5  # says has to be a pair
("RECOMPUTE_LIMIT", "100")  # text for a number

# %% right, each line
("thresholds.RECOMPUTE_LIMIT", 4.5)  # with its module
{"CHEAP": 100}  # as a dict
[["RECOMPUTE_LIMIT", 1000]]  # as a table of one row
("RECOMPUTE_LIMIT", float("inf"))  # never too often
