"""The submissions that part 9 shows and judges by."""

from __future__ import annotations

# Three that cheat, each for one of the gullible graders.
HARD_CODED = """\
def larger(a, b):
    return Tensor([4, 5, 2.5])


from tinyframe import Tensor
"""
UNDER_ANOTHER_NAME = """\
def larger(a, b):
    method = "mumixam"[::-1]
    return getattr(a, method)(b)
"""
FORGED = """\
import os

with open("points.txt", "w") as file:
    file.write("100")
os._exit(0)
"""
CHEATS = {
    "hard-coded": ("first", HARD_CODED),
    "under another name": ("second", UNDER_ANOTHER_NAME),
    "forged": ("third", FORGED),
}

# A file for readings.py by somebody who ran out of time.
HALF_DONE = """\
def fahrenheit(x):
    return x * 1.8 + 32


def from_mean(x):
    return x - x.mean(1)


def changes(x):
    before, after = x[:, :-1], x[:, 1:]
    return before - after


def warm_days(x):
    ...
"""

# What a check of larger() has to let through, and what it has to catch.
HONEST = {
    "by choosing": """\
def larger(a, b):
    return (b > a).where(b, a)
""",
    "by arithmetic": """\
def larger(a, b):
    return ((a - b).abs() + a + b) * 0.5
""",
    "by a step": """\
def larger(a, b):
    step = (a > b).cast(a.dtype)
    return a * step + b * (step * -1 + 1)
""",
}
SQUARES = """\
def larger(a, b):
    return (a * a > b * b).where(a, b)
"""
COUSINS = {
    "compares squares": SQUARES,
    "only knows three numbers": """\
def larger(a, b):
    return (a > b).where(a, b) if a.shape == (3,) else a
""",
    "has never seen a matrix": """\
def larger(a, b):
    return (a > b).where(a, b) if len(a.shape) == 1 else b
""",
    "repeats its first answer": """\
seen = {}


def larger(a, b):
    if a.shape not in seen:
        seen[a.shape] = (a > b).where(a, b).tolist()
    return Tensor(seen[a.shape])


from tinyframe import Tensor
""",
    "does it all in NumPy": """\
import numpy as np

from tinyframe import Tensor


def larger(a, b):
    return Tensor(np.maximum(a.numpy(), b.numpy()))
""",
}


def numbered(text: str) -> None:
    """Print a file with the numbers of its lines."""
    for number, line in enumerate(text.splitlines(), 1):
        print(f"{number:3}  {line}".rstrip())
