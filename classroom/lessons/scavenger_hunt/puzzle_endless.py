"""A rule makes a graph larger and larger, until somebody loses patience. Which class counts the
steps?
Hint: What you get is a RewriteLoopError. Where is it made?
Hint: `rewrite/matcher.py` has a class with `count` and `limit`.
Because: Every rewrite is a step, and somebody adds them up. The same class records them for
DEBUG=4.
"""

from classroom.puzzlebook.games.hunt import Names, Question, hunted

puzzle = Question(
    Names(hunted.who_counts_steps, "I let such a rule run. That's where the error was raised.")
)

# %% wrong, each line
"PatternMatcher"  # says Hot: `patternmatcher` is in the right file
"RewriteLoopError"  # that's what is raised, and it counts nothing

# %% right, each line
"RewriteLog.add"  # the method of it
