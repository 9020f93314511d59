"""`x.pad(…)` must not read what isn't there, so there's a `? :` in the C. Which method writes it?
Hint: Which folder turns nodes into text?
Hint: `Writer` in `renderer/program_text.py` has a method for what reads memory.
Because: Validity belongs to the INDEX, and a load of an INDEX with a condition is written with `?
:`, so nothing is read where it's false. The words are the language's: `guarded`.
"""

from classroom.puzzlebook.games.hunt import Names, Question, hunted

puzzle = Question(
    Names(
        hunted.who_asks_before_reading,
        "It asked the language for the words, and had a question mark in its text.",
    )
)

# %% wrong, each line
"store"  # says Hot

# %% right: the method itself
from tinyframe.renderer.program_text import Writer
Writer.load
