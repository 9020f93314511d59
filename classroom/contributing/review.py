"""A review: the change shown with numbered lines, and what marks on it are worth.

change()             the diff, with a number before each line
marks(…)             how the check and the picture read what a learner marked
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from classroom.contributing.reviewed import (
    AFTER,
    AUTHOR_SAYS,
    BEFORE,
    FAULTS,
    INNOCENT,
    TITLE,
    Fault,
)
from classroom.pages import filled


@dataclass(frozen=True)
class Line:
    """One line of the diff. sign: "+", "-" or " " of a file's line, "=" of a line with its name."""

    number: int
    sign: str
    text: str

    def __str__(self) -> str:
        return f"{self.number:3} {self.sign} {self.text}".rstrip()

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults that show in it."""
        if self.sign not in "+-":
            return ()
        text = self.text.strip()
        return tuple(f for f in FAULTS if any(text.startswith(start) for start in f.lines))

    @property
    def why_innocent(self) -> str:
        """Why there's nothing wrong with it."""
        if self.sign == "=":
            return "That's the name of a file."
        if not self.text.strip():
            return "It's empty."
        if self.sign == " ":
            return "It was there before, and isn't part of the change."
        found = [why for start, why in INNOCENT.items() if self.text.strip().startswith(start)]
        if found:
            return found[0]
        if self.sign == "-":
            return "It made room for what's below. If that's wrong, mark what's below."
        return "Nothing is wrong with it, as far as we know."


@cache
def lines() -> tuple[Line, ...]:
    """The diff, numbered from 1."""
    found: list[tuple[str, str]] = []
    for name, after in AFTER.items():
        found.append(("=", name))
        before = BEFORE[name].splitlines()
        diff = list(difflib.unified_diff(before, after.splitlines(), lineterm=""))
        found += [("=", "…") if line[0] == "@" else (line[0], line[1:]) for line in diff[3:]]
    return tuple(Line(number, *row) for number, row in enumerate(found, 1))


class Change:
    """The change as a reviewer sees it. marked: numbers of lines."""

    def __init__(self, marked: Iterable[int] = ()) -> None:
        self.marked = set(marked)

    def __repr__(self) -> str:
        head = [TITLE, f'"{AUTHOR_SAYS}"', ""]
        return "\n".join(
            head + [f"{line}{'   <--' if line.number in self.marked else ''}" for line in lines()]
        )

    def _repr_html_(self) -> str:
        return filled("review.html", title=TITLE, author_says=AUTHOR_SAYS, lines=lines(),
                      marked=self.marked)  # fmt: skip


def change() -> Change:
    """The change that is to be reviewed."""
    return Change()


def show_marks(marks: Any) -> Change:
    """The change with what a learner has marked so far."""
    try:
        return Change(numbers_of([] if marks is ... else marks))
    except ValueError:  # the check says what's odd
        return Change()


def numbers_of(marks: Any) -> list[int]:
    """The line numbers in what a learner marked: a list, a dict from them to comments, a text such
    as "3, 7" … ValueError, with the odd one, where something isn't a whole number."""
    if isinstance(marks, str):
        marks = re.findall(r"-?\d+(?:\.\d+)?", marks)
    if isinstance(marks, Mapping):
        marks = list(marks)
    if not isinstance(marks, Iterable):
        marks = [marks]
    found = []
    for one in marks:
        try:
            number = float(one)
        except (TypeError, ValueError):
            raise ValueError(repr(one)) from None
        if number != int(number) or isinstance(one, bool):
            raise ValueError(repr(one))
        found.append(int(number))
    return sorted(set(found))


@dataclass(frozen=True)
class Review:
    """What some marks are worth. found: each fault with the first line that was marked for it."""

    found: dict[str, int]
    missed: tuple[Fault, ...]
    innocent: tuple[Line, ...]


def reviewed(numbers: Iterable[int]) -> Review:
    """KeyError with the number where there is no such line."""
    by_number = {line.number: line for line in lines()}
    found: dict[str, int] = {}
    innocent = []
    for number in numbers:
        line = by_number[number]
        for fault in line.faults:
            found.setdefault(fault.kind, number)
        if not line.faults:
            innocent.append(line)
    missed = tuple(fault for fault in FAULTS if fault.kind not in found)
    return Review(found, missed, tuple(innocent))


def first_lines() -> dict[str, int]:
    """Of each fault, the first line in which it shows."""
    return {f.kind: min(line.number for line in lines() if f in line.faults) for f in FAULTS}
