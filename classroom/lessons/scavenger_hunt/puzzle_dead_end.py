"""Name an op through which no gradient flows.
Hint: Is there an op whose result jumps, or stays, whatever you do to its input?
Hint: `gradient_rules` in `tensor/gradient.py` has a row for each op that lets one through.
Because: Comparisons and whole-number tricks have no slope, so there's no row for them. And DETACH
is there to stop a gradient.
"""

from classroom.puzzlebook.games.hunt import Question, Words, hunted

puzzle = Question(
    Words(
        hunted.dead_ends,
        "Nothing is sent back through it.",
        "There's a row for that one in the table of gradients, or it's no op that computes.",
    )
)

# %% wrong, each line
"MUL"  # says There's a row for that one
"RESHAPE"  # says it's no op that computes
"WHERE"  # both branches get some

# %% right, each line
Ops.CMPNE  # the op itself
"Ops.DETACH"  # its row sends nothing to what it shows
"Ops.BITCAST"  # bits have no slope
