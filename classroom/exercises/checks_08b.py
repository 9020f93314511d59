"""Part 8b, a device of one's own: the exercises, and what an answer has to do."""

from __future__ import annotations

from classroom.exercise import Exercise

EXERCISES: tuple[Exercise, ...] = ()
