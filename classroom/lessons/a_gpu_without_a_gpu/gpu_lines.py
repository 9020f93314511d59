"""How many lines three reads of a warp take

Hint: A line holds 32 floats, so elements 0 to 31 are the first one. Which is the last element
that each of the three reads?
Hint: They end at elements 32, 124 and 31. And does it matter to a line who reads what in it?
Because: `a[t + 1]` ends at element 32, the first one of the next line. `a[4 * t]` ends at element
124, in the fourth line, and three quarters of what moves is thrown away. `a[31 - t]` is a full
line, read from the other end, and memory doesn't mind.
"""

import numpy as np

from classroom.ask import predicts
from classroom.cuda.drawn import WARP, groups, lines_of
from classroom.cuda.lesson import launch


def lines_that_move() -> tuple[int, ...]:
    """For a[t + 1], a[4 * t] and a[31 - t]: the lines of memory that a warp gets."""
    found = []
    for index in ("t + 1", "4 * t", "31 - t"):
        text = f"int t = threadIdx.x;\nout[t] = a[{index}];"
        run = launch(text, threads=WARP, out=np.zeros(WARP), a=np.zeros(4 * WARP))
        assert run is not None
        (group,) = groups(run, "a", is_write=False)
        found.append(len(lines_of(group)))
    return tuple(found)


check = predicts(lines_that_move)

# %% guesses
((2, 4, 1), (1, 4, 1), (2, 1, 1), (2, 4, 32), (1, 1, 1), (2, 3, 1))

# %% right, each line
np.array([2, 4, 1])  # an array
