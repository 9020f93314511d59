"""`x / x.sum()` takes two kernels. Write a function that does it in one.
Hint: Who decides that the sum is stored? Can you overrule them?
Hint: The README of tinyframe names one method that overrules the cost rule.
Because: FUSE tells the cost rule to store nothing below it, so the sum is computed for each element
anew. It's legal, and on a large x it's terrible.
"""

from classroom.puzzlebook import changes
from classroom.puzzlebook.games.hunt import Question

puzzle = Question(changes.in_one_kernel)

# %% wrong: FUSE is for what's below it: nothing there was stored before, and the sum itself is still needed by each element (I had said right)
lambda x: x / x.sum().fuse()
