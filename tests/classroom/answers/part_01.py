"""Part 1: what somebody might answer, and what they are told."""

from __future__ import annotations

# exercises that ask for an object, and not for a function
OBJECTS = {"1.4"}

# for each prediction what is right, and what somebody might think
GUESSES = {
    "1.1": (1, 2, 3),
    "1.2": ((24, 8), (20, 8), (12, 4), (8, 24), (24,)),
    "1.3": ((1, 2), (1, 1), (3, 2)),
}

# number of an exercise, a wrong answer, what is said about it
WRONG = [
    ("1.4", 0.75, "Another number"),
    ("1.4", "-3/4", "a number"),
    ("1.5", lambda v: (v + v + v, lambda v: v * 3), "something else"),
    ("1.5", lambda v: (v * 2 + v, lambda v: v * 4), "something else"),
    ("1.5", lambda v: v * 2 + v, "a tuple of two"),
]
