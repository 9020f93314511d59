"""The projects, as their own files describe themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from classroom.mini.stages import ROOT

ROOM = ROOT / "projects"
HOURS = ("one", "two", "three", "four", "five", "six", "seven", "eight")  # as they say them


@dataclass(frozen=True)
class Described:
    """A project. name: of its file or folder. file: the one that says all this. after: the last
    part that it needs; needs: the same in its words. about: what it is about, in a sentence or two.
    """

    file: Path
    name: str
    number: int
    title: str
    about: str
    hours: int
    after: int
    needs: str

    @property
    def place(self) -> Path:
        """What is run and graded: the file, or the folder that it is in."""
        return self.file if self.file.stem == self.name else self.file.parent


@cache
def described() -> tuple[Described, ...]:
    """All of them, in order."""
    return tuple(described_in(ROOM))


def described_in(room: Path) -> Iterator[Described]:
    """Those in a folder of projects, each a file or a folder of its own, in order."""
    for path in sorted([*room.glob("[0-9][0-9]_*.py"), *room.glob("[0-9][0-9]_*/*.py")]):
        said = docstring(path)
        head = re.match(r"Project (\d+): ([^.]+)\.\s+(.+?)(?:\n\n|$)", said, re.DOTALL)
        if head is None:  # a file beside the one to write in
            continue
        hours = re.search(rf"\b({'|'.join(HOURS)})\s+hours?\b", said)
        after = re.search(r"parts\s+1\s+to\s+(\d+)", said)
        needs = re.search(r"You need\s+(.+?)\.(?:\s|$)", said, re.DOTALL)
        yield Described(
            path, path.stem if path.parent == room else path.parent.name, int(head[1]), head[2],
            " ".join(head[3].split()), HOURS.index(hours[1]) + 1 if hours else 0,
            int(after[1]) if after else 0, " ".join(needs[1].split()) if needs else "",
        )  # fmt: skip


def docstring(path: Path) -> str:
    """A file's; "" where it has none, or can't be read."""
    with suppress(OSError, ValueError, SyntaxError):
        return ast.get_docstring(ast.parse(path.read_text())) or ""
    return ""
