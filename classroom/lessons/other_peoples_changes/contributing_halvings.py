"""How many trials

Hint: After one trial in the middle, how many of the 30 can still be the one?
Hint: 30, 15, 8, 4, 2, 1: count the commas. And 1,000 is nearly 2 to the power of 10.
Because: Each trial halves what's left, so it takes as many as you can halve: 30 is below 2**5,
1,000 below 2**10, and a million below 2**20.
"""

from classroom.ask import predicts
from classroom.lessons.other_peoples_changes.shared import worst_case


def halvings() -> tuple[int, ...]:
    """How many trials it takes at most to find the first bad one of 30, 1,000 and a million."""
    return tuple(map(worst_case, (30, 1_000, 1_000_000)))


check = predicts(halvings)

# %% guesses
((5, 10, 20), (15, 500, 500_000), (29, 999, 999_999), (6, 11, 21), (4, 9, 19))

# %% asked again, each line
5  # one number for three

# %% right, each line
[int(np.ceil(np.log2(n))) for n in (30, 1e3, 1e6)]  # logarithms, rounded up
