"""Part 8c, a GPU without a GPU: the exercises, and what an answer has to do."""

from __future__ import annotations

from classroom.exercise import Exercise

EXERCISES: tuple[Exercise, ...] = ()
