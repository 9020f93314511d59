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
