"""Each element minus the one before it: one element fewer.
Hint: Put `a` without its first element above `a` without its last one.
Hint: `a[1:]` and `a[:-1]` have the same shape.
Because: Two slices of one vector, each a view, and one subtraction: no element looks at its
neighbour, but the two meet.
"""

import numpy as np

from classroom.puzzlebook.games.one_liners import OneLiner, a_vector, ints

puzzle = OneLiner("diff(a)", (ints(1, 4, 9, 16),), lambda a: np.diff(a), a_vector, par=4, best=4)

# %% wrong, each line
lambda a: a[:-1] - a[1:]  # says sign

# %% right, each line
lambda a: -(a[:-1] - a[1:])  # turned round twice
