"""What's left of four expressions

Hint: Which of these are the obvious rules that hold, or that tinyframe bends? And what does NOOPT
say that it leaves as written?
Hint: `x * 0` and `x - x` may be NaN, so a compiler that doesn't lie has to compute them.
Because: NOOPT leaves each kernel's *loops* as written. Rules like x * 1 → x have fired long
before anybody does something to loops. x * 0 and x - x could be NaN, so they stay.
"""

from classroom.ask import predicts
from classroom.lessons.rules.shared import work_of_four

check = predicts(work_of_four)

# %% guesses
((0, 0, 2, 1), (2, 0, 0, 0), (2, 0, 2, 1), (0, 0, 1, 0), (2, 2, 2, 1))

# %% asked again, each line
'0 0 2 1'  # a string of four
