"""Part 8, devices: the exercises of its three notebooks, each with its checks in a file of
its own."""

from __future__ import annotations

from classroom.exercises import checks_08a, checks_08b, checks_08c

TITLE = "Devices"
EXERCISES = (
    *checks_08a.EXERCISES,
    *checks_08b.EXERCISES,
    *checks_08c.EXERCISES,
)
