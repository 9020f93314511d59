"""A loop of one turn is no loop. Which rule takes its RANGE away?
Hint: What does a RANGE of one turn become? Which kind of table could have a row for that?
Hint: Look for RANGE in the tables of `algebra/symbolic.py`.
Because: A RANGE whose smallest and largest value are the same is a constant. That's a fact of
algebra, so the row is among the index rules.
"""

from classroom.puzzlebook.games.hunt import Names, Question, hunted

puzzle = Question(
    Names(hunted.rule_for_one_turn, "I simplified a kernel with such a loop, and this row fired.")
)

# %% wrong, each line
"algebra/symbolic.py"  # says Hot: that's the right file
"sums.simplify_division"  # says Warm
"???"  # says There's no name in that.
"schedule/kernels.py"  # says Cold: what you're looking for isn't in schedule/kernels.py
"tinyframe/codegen/program.py"  # says Cold: what you're looking for isn't in codegen/program.py
"`algebra/sums.py`"  # says Warm: the folder of algebra/sums.py is right
"schedule/recipes.py"  # says There's no file schedule/recipes.py
"codegen/"  # says Cold: what you're looking for is in a different folder.
"uop/node.py: UOp"  # says Cold: `uop` is in uop/node.py
"sums.one_value"  # a different file
"fold"  # says Hot: `fold` is in the right file
"linearize"  # says Cold: `linearize` is in codegen/linearize.py
"unloop"  # says Nothing in tinyframe is called `unloop`
"one_value, or else fold"  # says Burning hot

# %% right, each line
"tinyframe.algebra.symbolic.one_value"  # as Python imports it
"algebra/symbolic.py: `one_value()`"  # with its file
"(UPat({Ops.RANGE, Ops.DEFINE_VAR, Ops.SPECIAL}, name='u'), one_value),"  # the row

# %% right: the function itself
from tinyframe.algebra.symbolic import one_value
one_value
