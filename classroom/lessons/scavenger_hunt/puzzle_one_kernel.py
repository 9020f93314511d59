"""`x / x.sum()` takes two kernels. Write a function that does it in one.
Hint: Who decides that the sum is stored? Can you overrule them?
Hint: The README of tinyframe names one method that overrules the cost rule.
Because: FUSE tells the cost rule to store nothing below it, so the sum is computed for each element
anew. It's legal, and on a large x it's terrible.
"""

from classroom.puzzlebook.games.hunt import Question, changes

puzzle = Question(changes.in_one_kernel)

# %% wrong, each line
lambda x: x / x.sum()  # says It takes 2 kernels; it should take 1
lambda x: (x / x.sum(axis=1, keepdim=True)).fuse()  # shares of rows
lambda x: 1  # says has to be a Tensor

# %% right, each line
lambda x: (x.reshape(1, *x.shape) / x.sum()).reshape(*x.shape).fuse()  # one more axis

# %% asked again, each line
lambda x: None  # nothing yet

# %% wrong: FUSE is for what's below it: nothing there was stored before, and the sum itself is still needed by each element (I had said right)
lambda x: x / x.sum().fuse()
