"""Part 7a: what somebody might answer, and what they are told."""

from __future__ import annotations

from typing import Any

# exercises that ask for an object, and not for a function
OBJECTS: set[str] = set()

# for each prediction what is right, and what somebody might think
GUESSES: dict[str, tuple[Any, ...]] = {}

WRONG: list[Any] = []

RIGHT: list[Any] = []
