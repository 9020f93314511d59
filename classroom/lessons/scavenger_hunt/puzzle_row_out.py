"""Write a function that gives the table `value_rules` without the row that makes `x * 1` an `x`.
The other rows stay.
Hint: A table is a PatternMatcher, and it has a list of its rules. Which of them fires?
Hint: Record `graph_rewrite(x * 1.0, value_rules)` to find the row; then `without`.
Because: Rules are data, so taking one out needs no change to tinyframe.
"""

from classroom.puzzlebook.games.hunt import Question, changes

puzzle = Question(changes.row_taken_out)

# %% wrong, each line
lambda: value_rules  # says still makes `x * 1`
lambda: PatternMatcher([r for r in value_rules.rules if "one" not in repr(r)])  # says rows are missing
lambda: [1]  # says has to be a PatternMatcher
lambda: PatternMatcher(value_rules.rules[1:])  # a row is gone, and it's the wrong one

# %% right, each line
lambda: PatternMatcher([r for r in value_rules.rules if "Ops.MUL, src=[x, one]" not in repr(r)])  # all others
PatternMatcher([r for r in value_rules.rules if "Ops.MUL, src=[x, one]" not in repr(r)])  # the table for a function that gives it

# %% asked again, each line
lambda: None  # nothing yet

# %% wrong: one row of its own
from tinyframe.rewrite import UPat
lambda: PatternMatcher([(UPat.var("x") * 2, lambda x: x)])

# %% right: takes them out one by one, and looks; of a number, not of an array
def without_times_one():
    from tinyframe import Variable, dtypes
    from tinyframe.rewrite import graph_rewrite
    x = Variable("x", 0, 9).cast(dtypes.float)
    for row in value_rules.rules:
        rest = value_rules.without(row)
        if graph_rewrite(x * 1.0, rest) is not x:
            return rest
