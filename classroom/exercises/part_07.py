"""Part 7, the compiler: the exercises of its three notebooks, each with its checks in a file of
its own."""

from __future__ import annotations

from classroom.exercises import checks_07a, checks_07b, checks_07c

TITLE = "The compiler"
EXERCISES = (
    *checks_07a.EXERCISES,
    *checks_07b.EXERCISES,
    *checks_07c.EXERCISES,
)
