"""A loop of one turn is no loop. Which rule takes its RANGE away?
Hint: What does a RANGE of one turn become? Which kind of table could have a row for that?
Hint: Look for RANGE in the tables of `algebra/symbolic.py`.
Because: A RANGE whose smallest and largest value are the same is a constant. That's a fact of
algebra, so the row is among the index rules.
"""

from classroom.puzzlebook import hunted
from classroom.puzzlebook.games.hunt import Question
from classroom.puzzlebook.hunted import Names

puzzle = Question(
    Names(hunted.rule_for_one_turn, "I simplified a kernel with such a loop, and this row fired.")
)

# %% wrong, each line
"fold"  # says Hot: `fold` is in the right file
"linearize"  # says Cold: `linearize` is in codegen/linearize.py
"unloop"  # says Nothing in tinyframe is called `unloop`
"one_value, or else fold"  # says Burning hot

# %% right, each line
"algebra/symbolic.py: `one_value()`"  # with its file
"(UPat({Ops.RANGE, Ops.DEFINE_VAR, Ops.SPECIAL}, name='u'), one_value),"  # the row

# %% right: the function itself
from tinyframe.algebra.symbolic import one_value
one_value
