"""What the real grader gives three cheats

Hint: Which of the two checks does each of them pass? One is about numbers, one about MAX.
Hint: `getattr` finds the real `maximum`. What comes out, and what is in its graph?
Because: Fresh numbers of a different size expose the first. The second computes the right
numbers, so it gets the points for numbers, but its graph has a MAX in it, whatever it was called.
The third is a process that ended without an answer. Points aren't written there, so there's
nothing to forge.
"""

from classroom.ask import predicts
from classroom.toys.files import CHEATS
from classroom.toys.grading import really

SECONDS = 300.0


def points_of_three() -> tuple[int, ...]:
    return tuple(really(text).score for _, text in CHEATS.values())


check = predicts(points_of_three)

# %% guesses
((0, 30, 0), (0, 0, 0), (0, 100, 0), (30, 30, 0), (0, 30, 100))

# %% asked again, each line
30  # one number for three

# %% right, each line
np.array([0, 30, 0])  # an array for a tuple
