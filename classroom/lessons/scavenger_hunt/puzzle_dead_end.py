"""Name an op through which no gradient flows.
Hint: Is there an op whose result jumps, or stays, whatever you do to its input?
Hint: `gradient_rules` in `tensor/gradient.py` has a row for each op that lets one through.
Because: Comparisons and whole-number tricks have no slope, so there's no row for them. And DETACH
is there to stop a gradient.
"""

from classroom.puzzlebook import hunted
from classroom.puzzlebook.games.hunt import Question
from classroom.puzzlebook.hunted import Words

puzzle = Question(
    Words(
        hunted.dead_ends,
        "Nothing is sent back through it.",
        "There's a row for that one in the table of gradients, or it's no op that computes.",
    )
)

# %% wrong, each line
"WHERE"  # both branches get some

# %% right, each line
"Ops.BITCAST"  # bits have no slope
