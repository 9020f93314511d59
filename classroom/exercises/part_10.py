"""Part 10, the source: the exercises of its notebooks, each with its checks in a file of its
own."""

from __future__ import annotations

from classroom.exercises import checks_10b

TITLE = "Reading the source"
EXERCISES = (*checks_10b.EXERCISES,)
