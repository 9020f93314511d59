"""Part 11, contributing: the exercises of its two notebooks, each with its checks in a file of its
own."""

from __future__ import annotations

from classroom.exercises import checks_11a, checks_11b

TITLE = "Contributing"
EXERCISES = (
    *checks_11a.EXERCISES,
    *checks_11b.EXERCISES,
)
