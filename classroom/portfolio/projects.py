"""The projects, as their own files describe themselves."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from classroom.mini.stages import ROOT

ROOM = ROOT / "projects"
HOURS = ("one", "two", "three", "four", "five", "six", "seven", "eight")  # as they say them


@dataclass(frozen=True)
class Described:
    """A project. name: of its file or folder. after: the last part that it needs. about: what it is
    about, in a sentence or two."""

    name: str
    number: int
    title: str
    about: str
    hours: int
    after: int


@cache
def described() -> tuple[Described, ...]:
    """All of them, in order."""
    paths = sorted([*ROOM.glob("[0-9][0-9]_*.py"), *ROOM.glob("[0-9][0-9]_*/*.py")])
    return tuple(found for path in paths if (found := _described(path)) is not None)


def _described(path: Path) -> Described | None:
    said = ast.get_docstring(ast.parse(path.read_text())) or ""
    head = re.match(r"Project (\d+): ([^.]+)\.\s+(.+?)(?:\n\n|$)", said, re.DOTALL)
    if head is None:  # a file beside the one to write in
        return None
    hours = re.search(rf"\b({'|'.join(HOURS)})\s+hours?\b", said)
    needs = re.search(r"parts\s+1\s+to\s+(\d+)", said)
    name = path.stem if path.parent == ROOM else path.parent.name
    return Described(
        name,
        int(head[1]),
        head[2],
        " ".join(head[3].split()),
        HOURS.index(hours[1]) + 1 if hours else 0,
        int(needs[1]) if needs else 0,
    )
