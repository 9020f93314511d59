"""A sum of 1000 floats gets a second accumulator in C. Which number of `thresholds.py` decides
that?
Hint: How many additions does one accumulator have to bear?
Hint: The last section of `thresholds.py` is about code.
Because: A running sum loses digits as it grows, so it's taken in blocks. The number is how many
additions a block may have.
"""

from classroom.puzzlebook.games.hunt import Question, Words, hunted

puzzle = Question(
    Words(
        hunted.numbers_of_long_sums,
        "I made each of the numbers four times as large, and looked which changed the C.",
        "If that number is four times as large, the C stays the same.",
    )
)

# %% wrong, each line
"LONG_SUM"  # says the C stays the same

# %% right, each line
"thresholds.MOST_ADDITIONS"  # with its module
"MOST_ADDITIONS = 512"  # the name and what it is
