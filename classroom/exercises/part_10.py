"""Part 10, the source: the exercises of its notebooks, each with its checks in a file of its own.
(10c is a game: `classroom/puzzlebook/games/hunt.py`.)"""

from __future__ import annotations

from classroom.exercises import checks_10a, checks_10b

TITLE = "Reading the source"
EXERCISES = (
    *checks_10a.EXERCISES,
    *checks_10b.EXERCISES,
)
